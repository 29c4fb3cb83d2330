/*
 * A child sees a buffer through a private mapping: what it writes lands in copies of
 * the touched pages, so that "as before" costs nothing when a launch fails, and only
 * those copies have to be carried back when it succeeds.
 *
 * Which pages are copies, the kernel says in /proc/self/pagemap: bit 61 is set for a
 * page of the file (or of shared memory) and clear for a copy, bit 63 says that there
 * is a page and bit 62 that it was swapped out (Linux, Documentation/admin-guide/mm/
 * pagemap.rst). Since Linux 6.7 that file also names the copies in a range by itself, which
 * takes microseconds where few of many pages were touched. A sandbox may have no such file; then
 * the bytes are compared.
 */
#include "kernels/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGEMAP_PRESENT ((uint64_t)1 << 63)
#define PAGEMAP_SWAPPED ((uint64_t)1 << 62)
#define PAGEMAP_OF_FILE ((uint64_t)1 << 61)

enum { ENTRIES = 512 /* pages asked for in one read */, RANGES = 128 /* in one scan */ };

/* struct page_region, struct pm_scan_arg and PAGEMAP_SCAN of linux/fs.h (6.7), which older systems
 * that build this lack. */
#define SCAN_OF_FILE ((uint64_t)1 << 2)
#define SCAN_PRESENT ((uint64_t)1 << 3)
#define SCAN_SWAPPED ((uint64_t)1 << 4)
struct scan_range {
    uint64_t start, end, categories;
};
struct scan {
    uint64_t size, flags, start, end, walk_end, ranges, range_count, max_pages;
    uint64_t inverted, all_of, any_of, returned;
};
#define SCAN _IOWR('f', 16, struct scan)

/* How copies are found. */
struct finder {
    int pagemap;      /* or -1: by comparing */
    bool is_scanning; /* it names ranges */
};

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

int launch_map_reread(int fd, uint64_t offset, uint64_t at, uint64_t size, void *data,
                      const char *name, struct err *err)
{
    ssize_t n = 0;

    for (uint64_t done = 0; done < size; done += (uint64_t)n) {
        n = pread(fd, (char *)data + at + done, size - done, (off_t)(offset + at + done));
        if (n <= 0)
            return err_set(err, ERR_ResourceError, "buffer %s cannot be given back: %s", name,
                           n < 0 ? strerror(errno) : "its file ends");
    }
    return 0;
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

/*
 * The first ranges of copies from *at to `end`; *at gets the place up to which they are all. -1:
 * the system does not say.
 */
static int scan_copies(int pagemap, uint64_t *at, uint64_t end, struct scan_range *ranges)
{
    struct scan scan = { .size = sizeof(scan),
                         .start = *at,
                         .end = end,
                         .ranges = (uintptr_t)ranges,
                         .range_count = RANGES,
                         .inverted = SCAN_OF_FILE,
                         .all_of = SCAN_OF_FILE,
                         .any_of = SCAN_PRESENT | SCAN_SWAPPED,
                         .returned = SCAN_PRESENT };
    int n = ioctl(pagemap, SCAN, &scan);

    if (n < 0 || scan.walk_end <= *at)
        return -1;
    *at = scan.walk_end;
    return n;
}

/* Of two pages of which the second was written. */
static bool is_scan_honest(int pagemap)
{
    uint64_t page = page_size(), at, end;
    struct scan_range ranges[RANGES];
    char *probe = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool is_honest;

    if (probe == MAP_FAILED)
        return false;
    *(volatile char *)(probe + page) = 1;
    at = (uintptr_t)probe;
    end = at + 2 * page;
    is_honest = scan_copies(pagemap, &at, end, ranges) == 1 && at == end &&
                ranges[0].start == end - page && ranges[0].end == end;
    munmap(probe, 2 * page);
    return is_honest;
}

static struct finder open_finder(void)
{
    struct finder f = { open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), false };

    if (f.pagemap >= 0 && !is_pagemap_honest(f.pagemap)) {
        close(f.pagemap);
        f.pagemap = -1;
    }
    f.is_scanning = f.pagemap >= 0 && is_scan_honest(f.pagemap);
    return f;
}

/* Page by page: by what pagemap says of each, or by comparing. */
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

static void copy_back(char *to, const char *from, size_t bytes, const struct finder *f)
{
    struct scan_range ranges[RANGES];
    uint64_t start = (uintptr_t)from, at = start, end = start + bytes;
    uint64_t last = start + (bytes + page_size() - 1) / page_size() * page_size();

    while (f->is_scanning && at < end) {
        int n = scan_copies(f->pagemap, &at, last, ranges);

        if (n < 0)
            break;
        for (int i = 0; i < n; i++) {
            uint64_t stop = ranges[i].end < end ? ranges[i].end : end;

            memcpy(to + (ranges[i].start - start), from + (ranges[i].start - start),
                   stop - ranges[i].start);
        }
    }
    if (at < end)
        copy_pages(to + (at - start), from + (at - start), end - at, f->pagemap);
}

int launch_map_write_back(int fd, uint64_t offset, uint64_t size, const void *data,
                          const char *name, struct err *err)
{
    static struct finder finder;
    static bool is_open;
    uint64_t lead = offset % page_size();
    char *shared =
        mmap(NULL, size + lead, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - lead));

    if (shared == MAP_FAILED)
        return err_set(err, ERR_ResourceError, "buffer %s cannot be written back: %s", name,
                       strerror(errno));
    if (!is_open)
        finder = open_finder();
    is_open = true;
    /* The lead is in the same private page: its bytes are the file's own. */
    copy_back(shared, (const char *)data - lead, size + lead, &finder);
    munmap(shared, size + lead);
    return 0;
}
