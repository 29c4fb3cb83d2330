/*
 * One list of folders in order of preference, and for each the places where a
 * toolkit or a wheel keeps library and headers. Wheels of CUDA 13 share one
 * folder (nvidia/cu13), those of CUDA 12 have one a package.
 */
#include "kernels/toolkit.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const LIBRARIES[] = {
    "lib64/libnvrtc.so.13",
    "lib/libnvrtc.so.13",
    "targets/x86_64-linux/lib/libnvrtc.so.13",
    "targets/sbsa-linux/lib/libnvrtc.so.13",
    "lib64/libnvrtc.so.12",
    "lib/libnvrtc.so.12",
};
static const char *const INCLUDES[] = {
    "include",
    "targets/x86_64-linux/include",
    "targets/sbsa-linux/include",
};

/* Packages of wheels, below site-packages/nvidia. */
static const char *const WHEELS[] = { "cu13", "cuda_nvrtc", "cuda_runtime", "cuda_cccl" };

/* Writes the path into out when it fits and the file is there. */
static bool exists(char *out, const char *folder, const char *name)
{
    char path[TOOLKIT_PATH];
    int n = snprintf(path, sizeof(path), "%s/%s", folder, name);

    if (n < 0 || (size_t)n >= sizeof(path) || access(path, R_OK) != 0)
        return false;
    memcpy(out, path, (size_t)n + 1);
    return true;
}

static void take_headers(struct toolkit *t, const char *folder)
{
    char include[TOOLKIT_PATH], probe[TOOLKIT_PATH];

    for (size_t i = 0; i < COUNT(INCLUDES); i++) {
        if (!exists(include, folder, INCLUDES[i]))
            continue;
        if (!t->include[0] && exists(probe, include, "cuda_fp16.h"))
            memcpy(t->include, include, sizeof(include));
        if (!t->cccl[0] && exists(probe, include, "cccl/cuda/std/type_traits"))
            exists(t->cccl, include, "cccl");
        if (!t->cccl[0] && exists(probe, include, "cuda/std/type_traits"))
            memcpy(t->cccl, include, sizeof(include));
    }
}

static void take_folder(struct toolkit *t, const char *folder, const char *origin)
{
    if (!folder || !folder[0])
        return;
    for (size_t i = 0; i < COUNT(LIBRARIES) && !t->nvrtc[0]; i++)
        if (exists(t->nvrtc, folder, LIBRARIES[i]))
            snprintf(t->origin, sizeof(t->origin), "%s", origin);
    if (t->nvrtc[0])
        take_headers(t, folder);
}

/* nvcc's own folder is TOOLKIT/bin, behind any number of links. */
static void take_nvcc_on_path(struct toolkit *t)
{
    const char *path = getenv("PATH");

    while (path && *path) {
        size_t n = strcspn(path, ":");
        char name[TOOLKIT_PATH], real[PATH_MAX];

        if (n > 0 && n + 6 < sizeof(name)) {
            snprintf(name, sizeof(name), "%.*s/nvcc", (int)n, path);
            if (realpath(name, real)) {
                for (int up = 0; up < 2 && strrchr(real, '/'); up++)
                    *strrchr(real, '/') = '\0';
                take_folder(t, real, "nvcc on PATH");
                return;
            }
        }
        path += n + (path[n] == ':');
    }
}

static void take_environment(struct toolkit *t, const char *root)
{
    char pattern[TOOLKIT_PATH], origin[80];
    int n;

    if (!root || !root[0])
        return;
    snprintf(origin, sizeof(origin), "wheel in %.60s", root);
    for (size_t w = 0; w < COUNT(WHEELS); w++) {
        glob_t found;

        n = snprintf(pattern, sizeof(pattern), "%s/lib/python3*/site-packages/nvidia/%s", root,
                     WHEELS[w]);
        if (n < 0 || (size_t)n >= sizeof(pattern) || glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t i = 0; i < found.gl_pathc; i++)
            take_folder(t, found.gl_pathv[i], origin);
        globfree(&found);
    }
}

/* The checkout's .venv: beside the executable, or up to three folders above it. */
static void take_beside_executable(struct toolkit *t)
{
    char path[PATH_MAX], venv[PATH_MAX + 8];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (n <= 0)
        return;
    path[n] = '\0';
    for (int up = 0; up < 4; up++) {
        char *slash = strrchr(path, '/');

        if (!slash)
            return;
        *slash = '\0';
        snprintf(venv, sizeof(venv), "%s/.venv", path);
        take_environment(t, venv);
        snprintf(venv, sizeof(venv), "%s", path); /* PREFIX/bin/warpbook inside an environment */
        take_environment(t, venv);
    }
}

bool toolkit_find(struct toolkit *out)
{
    *out = (struct toolkit){ .nvrtc = "" };
    take_folder(out, getenv("CUDA_HOME"), "CUDA_HOME");
    take_folder(out, getenv("CUDA_PATH"), "CUDA_PATH");
    take_folder(out, "/usr/local/cuda", "/usr/local/cuda");
    take_nvcc_on_path(out);
    take_environment(out, getenv("VIRTUAL_ENV"));
    take_beside_executable(out);
    take_environment(out, getenv("CONDA_PREFIX"));
    return out->nvrtc[0] != '\0';
}

/*
 * NVRTC opens libnvrtc-builtins by its bare name when it first compiles. In a wheel only its own
 * folder has it, where the linker would not look; once loaded from there, the name is enough.
 */
static void open_builtins(const char *nvrtc)
{
    char pattern[TOOLKIT_PATH + 32];
    const char *slash = strrchr(nvrtc, '/');
    glob_t found;

    if (!slash)
        return;
    snprintf(pattern, sizeof(pattern), "%.*s/libnvrtc-builtins.so.*", (int)(slash - nvrtc), nvrtc);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        (void)dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
}

void *toolkit_open_nvrtc(const struct toolkit *toolkit, char *reason, size_t capacity)
{
    static const char *const names[] = { "libnvrtc.so.13", "libnvrtc.so.12" };
    void *library = NULL;
    const char *text;

    open_builtins(toolkit->nvrtc);
    if (toolkit->nvrtc[0])
        library = dlopen(toolkit->nvrtc, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < COUNT(names) && !toolkit->nvrtc[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    text = library ? NULL : dlerror();
    if (!library && !toolkit->nvrtc[0])
        text = "neither libnvrtc.so.13 nor libnvrtc.so.12 was found";
    snprintf(reason, capacity, "%s", text ? text : "");
    return library;
}
