/*
 * A kernelspec is a folder: kernel.json says how to start us, the logos are
 * what launchers show. They are embedded, so that the binary alone suffices.
 *
 * Source: "Making kernels for Jupyter", "Kernel specs".
 */
#include "jupyter-kernel/install.h"

#include "jupyter-kernel/files.h"
#include "jupyter-kernel/wire.h"
#include "model/base/buf.h"
#include "model/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char INSTALL_HELP[] =
    "usage: warpbook install [--user | --prefix P | --sys-prefix]\n"
    "\n"
    "Writes the kernelspec that lets Jupyter start this program.\n"
    "  --user          for you alone (default)\n"
    "  --prefix P      in P/share/jupyter/kernels\n"
    "  --sys-prefix    in the active environment: $VIRTUAL_ENV, else $CONDA_PREFIX\n";

/* Made by `ld -r -b binary` from the files of jupyter-kernel/logos. */
#define LOGO(symbol)                                                                               \
    extern const char _binary_jupyter_kernel_logos_##symbol##_start[];                             \
    extern const char _binary_jupyter_kernel_logos_##symbol##_end[]
LOGO(logo_32x32_png);
LOGO(logo_64x64_png);
LOGO(logo_svg_svg);

static const struct logo {
    const char *name, *start, *end;
} LOGOS[] = {
#define ROW(name, symbol)                                                                          \
    {                                                                                              \
        name, _binary_jupyter_kernel_logos_##symbol##_start,                                       \
            _binary_jupyter_kernel_logos_##symbol##_end                                            \
    }
    ROW("logo-32x32.png", logo_32x32_png),
    ROW("logo-64x64.png", logo_64x64_png),
    ROW("logo-svg.svg", logo_svg_svg),
};

/* ---- where ---- */

static int user_folder(struct buf *out, struct err *err)
{
    const char *jupyter = getenv("JUPYTER_DATA_DIR");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");

    if (jupyter && jupyter[0])
        buf_printf(out, "%s/kernels", jupyter);
    else if (data && data[0])
        buf_printf(out, "%s/jupyter/kernels", data);
    else if (home && home[0])
        buf_printf(out, "%s/.local/share/jupyter/kernels", home);
    else
        return err_set(err, ERR_UsageError, "--user needs HOME to be set");
    return 0;
}

static int environment_folder(struct buf *out, struct err *err)
{
    const char *prefix = getenv("VIRTUAL_ENV");

    if (!prefix || !prefix[0])
        prefix = getenv("CONDA_PREFIX");
    if (!prefix || !prefix[0])
        return err_set(err, ERR_UsageError,
                       "--sys-prefix: neither VIRTUAL_ENV nor CONDA_PREFIX is set; activate an "
                       "environment, or use --prefix P");
    buf_printf(out, "%s/share/jupyter/kernels", prefix);
    return 0;
}

static int read_options(int argc, char **argv, struct buf *folder, struct err *err)
{
    const char *prefix = NULL;
    bool is_user = false, is_environment = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--user") == 0)
            is_user = true;
        else if (strcmp(argv[i], "--sys-prefix") == 0)
            is_environment = true;
        else if (strcmp(argv[i], "--prefix") == 0 && i + 1 < argc)
            prefix = argv[++i];
        else if (strncmp(argv[i], "--prefix=", 9) == 0)
            prefix = argv[i] + 9;
        else
            return err_set(err, ERR_UsageError, "%.100s: not an option of install", argv[i]);
    }
    if (is_user + is_environment + (prefix != NULL) > 1)
        return err_set(err, ERR_UsageError, "--user, --prefix and --sys-prefix exclude each other");
    if (is_environment)
        return environment_folder(folder, err);
    if (!prefix)
        return user_folder(folder, err);
    if (!prefix[0])
        return err_set(err, ERR_UsageError, "--prefix is empty; the whole machine's is /usr/local");
    buf_printf(folder, "%s/share/jupyter/kernels", prefix);
    return 0;
}

/* ---- what ---- */

static json_t *kernelspec(const char *self)
{
    return json_pack("{s:[s, s, s, s], s:s, s:s, s:s, s:s, s:{s:[s], s:b}}", "argv", self, "kernel",
                     "-f", "{connection_file}", "display_name", "Warpbook (CUDA C)", "language",
                     "cuda-cpp", "interrupt_mode", "message", "kernel_protocol_version",
                     WIRE_VERSION, "metadata", "supported_encryption", "curve", "debugger", 0);
}

/* Renamed into place, so that an interrupted install leaves the old file or the new one. */
static int write_file(const char *folder, const char *name, const char *data, size_t size,
                      struct err *err)
{
    struct buf path = { 0 }, temporary = { 0 };
    int fd = -1, rc = 0;

    buf_printf(&path, "%s%s", folder, name);
    buf_printf(&temporary, "%s.%s.new", folder, name);
    if (!path.is_failed && !temporary.is_failed)
        fd = open(temporary.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        rc = err_set(err, ERR_FileError, "%.400s: %s", buf_text(&temporary), strerror(errno));
    if (fd >= 0 && close(fd) < 0)
        rc = err_set(err, ERR_FileError, "%.400s: %s", buf_text(&temporary), strerror(errno));
    if (rc == 0 && rename(temporary.data, path.data) < 0)
        rc = err_set(err, ERR_FileError, "%.400s: %s", path.data, strerror(errno));
    if (rc < 0 && fd >= 0)
        unlink(temporary.data);
    buf_done(&path);
    buf_done(&temporary);
    return rc;
}

static int write_spec(const char *folder, struct err *err)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    json_t *spec;
    char *text;
    int rc;

    if (n < 0)
        return err_set(err, ERR_FileError, "/proc/self/exe: %s", strerror(errno));
    self[n] = '\0';
    spec = kernelspec(self);
    text = spec ? json_dumps(spec, JSON_INDENT(2)) : NULL;
    json_decref(spec);
    if (!text)
        return err_set(err, ERR_FileError, "%.400s is not a path that JSON can hold", self);
    rc = write_file(folder, "kernel.json", text, strlen(text), err);
    free(text);
    for (size_t i = 0; rc == 0 && i < COUNT(LOGOS); i++)
        rc = write_file(folder, LOGOS[i].name, LOGOS[i].start,
                        (size_t)(LOGOS[i].end - LOGOS[i].start), err);
    return rc;
}

int install_main(int argc, char **argv)
{
    struct buf folder = { 0 };
    struct err err = { 0 };
    int status = 0;

    if (read_options(argc, argv, &folder, &err) < 0) {
        status = 2;
        goto out;
    }
    buf_puts(&folder, "/warpbook/");
    if (folder.is_failed)
        err_set(&err, ERR_ResourceError, "out of memory");
    else if (files_make_parents(folder.data, 0755) < 0)
        err_set(&err, ERR_FileError, "%.400s: %s", folder.data, strerror(errno));
    else if (write_spec(folder.data, &err) == 0)
        printf("installed the kernelspec warpbook in %s\n", folder.data);
    status = err.name ? 1 : 0;
out:
    if (err.name)
        fprintf(stderr, "warpbook install: %s\n", err.text);
    err_done(&err);
    buf_done(&folder);
    return status;
}
