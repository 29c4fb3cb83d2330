/*
 * A child sees a buffer through a private mapping: what it writes lands in copies of
 * the touched pages, so that "as before" costs nothing when a launch fails, and only
 * those copies have to be carried back when it succeeds.
 *
 * Which pages are copies, the kernel says in /proc/self/pagemap: bit 61 is set for a
 * page of the file (or of shared memory) and clear for a copy, bit 63 says that there
 * is a page and bit 62 that it was swapped out (Linux, Documentation/admin-guide/mm/
 * pagemap.rst). A sandbox may have no such file; then the bytes are compared.
 */
#include "kernels/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGEMAP_PRESENT ((uint64_t)1 << 63)
#define PAGEMAP_SWAPPED ((uint64_t)1 << 62)
#define PAGEMAP_OF_FILE ((uint64_t)1 << 61)

enum { ENTRIES = 512 }; /* pages asked for in one read */

static uint64_t page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

void *launch_map(int fd, uint64_t offset, uint64_t size, const char *name, struct err *err)
{
    uint64_t lead = offset % page_size();
    void *at =
        mmap(NULL, size + lead, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, (off_t)(offset - lead));

    if (at == MAP_FAILED) {
        err_set(err, ERR_ResourceError, "buffer %s: %llu bytes cannot be mapped: %s", name,
                (unsigned long long)size, strerror(errno));
        return NULL;
    }
    return (char *)at + lead;
}

void launch_unmap(void *data, uint64_t offset, uint64_t size)
{
    uint64_t lead = offset % page_size();

    if (data)
        munmap((char *)data - lead, size + lead);
}

void launch_map_restore(void *data, uint64_t offset, uint64_t size)
{
    uint64_t lead = offset % page_size();

    if (data)
        madvise((char *)data - lead, size + lead, MADV_DONTNEED);
}

/* A page whose bytes are the file's for sure. */
static bool is_untouched(uint64_t entry)
{
    return (entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) == 0 || (entry & PAGEMAP_OF_FILE);
}

/*
 * What pagemap says of `count` pages from an address; false where it does not say. A system that
 * answers with zeros alone says nothing.
 */
static bool read_pagemap(int pagemap, const char *at, size_t count, uint64_t *entries)
{
    off_t where = (off_t)((uintptr_t)at / page_size() * sizeof(*entries));

    return pagemap >= 0 && pread(pagemap, entries, count * sizeof(*entries), where) ==
                               (ssize_t)(count * sizeof(*entries));
}

/*
 * A page of our own that we just wrote must read as a copy: a pagemap that says otherwise (as some
 * sandboxes' do) is not believed.
 */
static bool is_pagemap_honest(int pagemap)
{
    uint64_t entry = 0;
    char *probe =
        mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool is_honest;

    if (probe == MAP_FAILED)
        return false;
    *(volatile char *)probe = 1;
    is_honest = read_pagemap(pagemap, probe, 1, &entry) && !is_untouched(entry);
    munmap(probe, page_size());
    return is_honest;
}

static int open_pagemap(void)
{
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && !is_pagemap_honest(fd)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void copy_pages(char *to, const char *from, size_t bytes, int pagemap)
{
    uint64_t entries[ENTRIES], page = page_size();

    for (size_t at = 0; at < bytes; at += ENTRIES * page) {
        size_t left = bytes - at, count = (left + page - 1) / page;
        bool is_known;

        if (count > ENTRIES)
            count = ENTRIES;
        is_known = read_pagemap(pagemap, from + at, count, entries);
        for (size_t i = 0; i < count; i++) {
            size_t begin = at + i * page, n = bytes - begin < page ? bytes - begin : page;

            if (is_known ? !is_untouched(entries[i]) : memcmp(to + begin, from + begin, n) != 0)
                memcpy(to + begin, from + begin, n);
        }
    }
}

int launch_map_write_back(int fd, uint64_t offset, uint64_t size, const void *data,
                          const char *name, struct err *err)
{
    static int pagemap = -2;
    uint64_t lead = offset % page_size();
    char *shared =
        mmap(NULL, size + lead, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - lead));

    if (shared == MAP_FAILED)
        return err_set(err, ERR_ResourceError, "buffer %s cannot be written back: %s", name,
                       strerror(errno));
    if (pagemap == -2)
        pagemap = open_pagemap();
    /* The lead is in the same private page: its bytes are the file's own. */
    copy_pages(shared, (const char *)data - lead, size + lead, pagemap);
    munmap(shared, size + lead);
    return 0;
}
