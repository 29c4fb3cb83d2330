/*
 * usage_request: what the kernel and its machine are using, for the side panel
 * of jupyter-resource-usage. The kernel's children count as the kernel, since
 * they do its work.
 *
 * Source: ipykernel's usage_request (an extension of the protocol); proc(5).
 */
#include "jupyter-kernel/handlers/handlers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct usage {
    double cpu_seconds;
    long long memory_bytes;
};

static int parent_of(int pid, double *cpu_seconds)
{
    char path[64], line[1024];
    const char *after;
    unsigned long user, system;
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return -1;
    after = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
    fclose(file);
    if (!after || sscanf(after, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &parent,
                         &user, &system) != 3)
        return -1;
    *cpu_seconds = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return parent;
}

static long long resident_bytes(int pid)
{
    char path[64];
    long long pages = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/statm", pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*s %lld", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* This process and those it started. */
static struct usage own_usage(void)
{
    struct usage sum = { 0 };
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    int self = getpid();

    while (folder && (entry = readdir(folder)) != NULL) {
        int pid = atoi(entry->d_name), parent;
        double seconds = 0;

        if (pid <= 0)
            continue;
        parent = parent_of(pid, &seconds);
        if (pid != self && parent != self)
            continue;
        sum.cpu_seconds += seconds;
        sum.memory_bytes += resident_bytes(pid);
    }
    if (folder)
        closedir(folder);
    return sum;
}

/* Percent of one core since the last request; 0 the first time. I/O thread or executor. */
static double cpu_percent(struct kernel *kernel, double cpu_seconds)
{
    struct timespec now;
    double at, percent = 0;

    clock_gettime(CLOCK_MONOTONIC, &now);
    at = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    pthread_mutex_lock(&kernel->usage_lock);
    if (kernel->usage_at > 0 && at > kernel->usage_at && cpu_seconds > kernel->usage_cpu)
        percent = 100 * (cpu_seconds - kernel->usage_cpu) / (at - kernel->usage_at);
    kernel->usage_at = at;
    kernel->usage_cpu = cpu_seconds;
    pthread_mutex_unlock(&kernel->usage_lock);
    return percent;
}

/* A line of /proc/meminfo in bytes, or 0. */
static long long meminfo(const char *name)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[256];
    size_t n = strlen(name);
    long long kilobytes = 0;

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, n) == 0 && line[n] == ':')
            kilobytes = atoll(line + n + 1);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

int usage_request(struct kernel *kernel, struct request *request, json_t **reply, struct err *err)
{
    struct usage own = own_usage();
    long long total = meminfo("MemTotal"), available = meminfo("MemAvailable");
    double percent = total ? 100.0 * (double)(total - available) / (double)total : 0;
    char host[256] = "";

    (void)request, (void)err;
    gethostname(host, sizeof(host) - 1);
    *reply =
        json_pack("{s:s, s:s, s:i, s:f, s:I, s:i, s:{s:I, s:I, s:I, s:I, s:f}}", "status", "ok",
                  "hostname", host, "pid", (int)getpid(), "kernel_cpu",
                  cpu_percent(kernel, own.cpu_seconds), "kernel_memory",
                  (json_int_t)own.memory_bytes, "cpu_count", (int)sysconf(_SC_NPROCESSORS_ONLN),
                  "host_virtual_memory", "total", (json_int_t)total, "available",
                  (json_int_t)available, "used", (json_int_t)(total - available), "free",
                  (json_int_t)meminfo("MemFree"), "percent", percent);
    return 0;
}
