/*
 * A session keeps what outlives a cell. Everything that a cell computes is
 * copied in here in one visible place, session_set, because the cell's arena
 * ends with the cell.
 */
#include "cells/session.h"

#include "cells/buffer.h"
#include "cells/export.h"
#include "cells/internal.h"
#include "cells/launch_recall.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const char DEFAULT_DEVICE[] = "L40S";

/* ---- variables ---- */

static void variable_clear(struct session *session, struct variable *v)
{
    session->variable_bytes -= v->bytes;
    v->bytes = 0;
    value_drop(&v->value);
    arena_free(&v->arena);
    free(v->unset);
    v->unset = NULL;
}

const struct variable *session_variable(const struct session *session, const char *name)
{
    for (size_t i = 0; i < session->variable_count; i++)
        if (strcmp(session->variables[i].name, name) == 0)
            return &session->variables[i];
    return NULL;
}

static struct variable *add_variable(struct session *session, const char *name, struct err *err)
{
    struct variable *grown, *v;
    size_t capacity = session->variable_capacity ? session->variable_capacity * 2 : 16;

    if (session->variable_count >= SESSION_MAX_VARIABLES) {
        err_set(err, ERR_ResourceError, "a session has at most %d variables",
                SESSION_MAX_VARIABLES);
        return NULL;
    }
    if (session->variable_count == session->variable_capacity) {
        grown = realloc(session->variables, capacity * sizeof(*grown));
        if (!grown)
            goto no_memory;
        session->variables = grown;
        session->variable_capacity = capacity;
    }
    v = &session->variables[session->variable_count];
    *v = (struct variable){ .name = strdup(name) };
    if (!v->name)
        goto no_memory;
    session->variable_count++;
    return v;
no_memory:
    err_set(err, ERR_ResourceError, "out of memory");
    return NULL;
}

static struct variable *get_variable(struct session *session, const char *name, struct err *err)
{
    struct variable *v = (struct variable *)session_variable(session, name);

    return v ? v : add_variable(session, name, err);
}

static int check_budget(const struct session *session, const char *name, size_t bytes,
                        struct err *err)
{
    const struct variable *old = session_variable(session, name);
    size_t total = session->variable_bytes - (old ? old->bytes : 0) + bytes;

    if (total <= VARIABLES_MEMORY_LIMIT)
        return 0;
    err_set(err, ERR_ResourceError, "%s: the variables would take %zu MB; %zu are allowed", name,
            total >> 20, VARIABLES_MEMORY_LIMIT >> 20);
    return err_next(err, "%%who lists them, %%reset data removes them");
}

int session_set(struct session *session, const char *name, const struct value *value,
                struct err *err)
{
    struct arena *arena = arena_new(VARIABLE_MEMORY_LIMIT);
    struct variable *v;
    struct value copy;
    size_t bytes;

    if (!arena)
        return err_set(err, ERR_ResourceError, "out of memory");
    if (buffer_find(session, name) && !buffer_find(session, name)->is_symbol) {
        arena_free(&arena);
        err_set(err, ERR_UsageError, "%.60s is a buffer (%s): a variable needs another name", name,
                buffer_find(session, name)->origin);
        return err_next(err, "%%reset data frees buffers and variables");
    }
    /* Copied before the old value goes: x = x is fine. */
    if (value_copy(arena, value, &copy, err) < 0) {
        arena_free(&arena);
        return -1;
    }
    bytes = arena_used(arena) + value_shared_bytes(&copy);
    v = check_budget(session, name, bytes, err) < 0 ? NULL : get_variable(session, name, err);
    if (!v) {
        value_drop(&copy);
        arena_free(&arena);
        return -1;
    }
    variable_clear(session, v);
    v->bytes = bytes;
    session->variable_bytes += bytes;
    v->arena = arena;
    v->value = copy;
    return 0;
}

void session_unset(struct session *session, const char *name, const char *reason)
{
    struct variable *v = get_variable(session, name, NULL);

    if (!v)
        return;
    variable_clear(session, v);
    v->unset = strdup(reason);
    if (v->unset)
        return;
    /* No memory for the reason: the name goes, which is as safe. */
    free(v->name);
    *v = session->variables[--session->variable_count];
}

void session_remove(struct session *session, const char *name)
{
    struct variable *v = (struct variable *)session_variable(session, name);

    if (!v)
        return;
    variable_clear(session, v);
    free(v->name);
    memmove(v, v + 1, (size_t)(session->variables + session->variable_count - v - 1) * sizeof(*v));
    session->variable_count--;
}

void session_reset_variables(struct session *session)
{
    for (size_t i = 0; i < session->variable_count; i++) {
        variable_clear(session, &session->variables[i]);
        free(session->variables[i].name);
    }
    session->variable_count = 0;
}

/* ---- devices ---- */

/* Case, blanks, '-' and '_' do not count in a device's name. */
static bool same_device_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && strchr(" -_", *a))
            a++;
        while (*b && strchr(" -_", *b))
            b++;
        if ((*a | 32) != (*b | 32) || !*a || !*b)
            return !*a && !*b;
    }
}

int session_add_device(struct session *session, const struct device *device, struct err *err)
{
    char *name;
    size_t i;

    for (i = 0; i < session->made_count; i++)
        if (same_device_name(session->made[i].device.name, device->name)) {
            /* The name stays where it is: results and the session's device borrow it. */
            name = (char *)session->made[i].device.name;
            session->made[i].device = *device;
            session->made[i].device.name = name;
            return 0;
        }
    if (i == SESSION_MAX_DEVICES)
        return err_set(err, ERR_ResourceError, "a session has at most %d devices of its own",
                       SESSION_MAX_DEVICES);
    name = strdup(device->name);
    if (!name)
        return err_set(err, ERR_ResourceError, "out of memory");
    session->made[i] = (struct session_device){ .device = *device };
    session->made[i].device.name = name;
    session->made_count++;
    return 0;
}

/* gpu is card 0, gpu:1 the next; -1 when the name means no card. */
static int gpu_number(const char *name)
{
    if (strncasecmp(name, "gpu", 3) != 0)
        return -1;
    if (!name[3])
        return 0;
    if (name[3] != ':' || !name[4] || strspn(name + 4, "0123456789") != strlen(name + 4) ||
        strlen(name + 4) > 3)
        return -1;
    return atoi(name + 4);
}

static int find_gpu(struct session *session, int index, struct session_device *out, struct err *err)
{
    const struct gpu_info *info;

    if (workers_gpu_info(session->workers, index, &info, err) < 0)
        return -1;
    *out = (struct session_device){ .device = info->device, .is_gpu = true, .gpu_index = index };
    return 0;
}

/* `model` is the session's device in the model: the card's own row when it is a card. */
static void find_model(struct session *session, struct session_device *out)
{
    *out = *session_device(session);
    out->is_gpu = false;
    out->gpu_index = 0;
}

static int unknown_device(const struct session *session, const char *name, struct err *err)
{
    const char *near = device_nearest(name);
    struct nearest made = { .wanted = name };

    for (size_t i = 0; i < session->made_count; i++)
        nearest_try(&made, session->made[i].device.name);
    if (made.best || near)
        err_set(err, ERR_NameError, "no device is called %.60s; %s is the nearest", name,
                made.best ? made.best : near);
    else
        err_set(err, ERR_NameError, "no device is called %.60s", *name ? name : "\"\"");
    return err_next(err, "%%devices lists them; cc=8.9 names a compute capability; limits, such as "
                         "threads=1024, make a new one");
}

int session_find_device(struct session *session, const char *name, struct session_device *out,
                        struct err *err)
{
    const struct device *device;
    int index = gpu_number(name);

    if (index >= 0)
        return find_gpu(session, index, out, err);
    if (strcasecmp(name, "model") == 0) {
        find_model(session, out);
        return 0;
    }
    for (size_t i = 0; i < session->made_count; i++)
        if (same_device_name(session->made[i].device.name, name)) {
            *out = session->made[i];
            return 0;
        }
    device = device_find(name);
    if (!device)
        return unknown_device(session, name, err);
    *out = (struct session_device){ .device = *device };
    return 0;
}

/*
 * The first use chooses: asking a card takes a quarter of a second, which a kernel's start
 * must not. A card that does not answer is no reason to fail: the model stands in.
 */
const struct session_device *session_device(struct session *session)
{
    struct err err = { 0 };

    if (session->has_device)
        return &session->device;
    session->has_device = true;
    if (!workers_gpu_present(session->workers) || find_gpu(session, 0, &session->device, &err) < 0)
        session->device = (struct session_device){ .device = *device_find(DEFAULT_DEVICE) };
    /* An interrupt is no answer of the card's: the next use asks again. */
    if (err.name == ERR_Interrupted)
        session->has_device = false;
    err_done(&err);
    return &session->device;
}

void session_set_device(struct session *session, const struct session_device *device)
{
    session->device = *device;
    session->has_device = true;
}

json_t *session_device_json(const struct session_device *device)
{
    char cc[24];

    snprintf(cc, sizeof(cc), "%d.%d", device->device.cc_major, device->device.cc_minor);
    return json_pack("{s:s, s:s, s:s}", "name", device->device.name, "cc", cc, "source",
                     device->is_gpu ? "gpu" : "model");
}

static int set_wanted_device(struct session *session, const char *wanted, struct err *err)
{
    struct session_device device;

    if (session_find_device(session, wanted, &device, err) < 0)
        return -1;
    session_set_device(session, &device);
    return 0;
}

/* ---- beginning, end, interrupt ---- */

int session_new(const struct session_options *options, struct session **out, struct err *err)
{
    struct session *session = calloc(1, sizeof(*session));

    *out = NULL;
    if (!session)
        return err_set(err, ERR_ResourceError, "out of memory");
    session->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (session->stop_fd < 0) {
        err_set(err, ERR_ResourceError, "no eventfd for a session: too many open files");
        goto failed;
    }
    session->workers = workers_new(options ? options->self : NULL, session->stop_fd);
    session->cuda = cuda_new();
    session->buffers = buffers_new();
    session->exports = export_log_new();
    session->launches = launch_history_new();
    if (!session->workers || !session->cuda || !session->buffers || !session->exports ||
        !session->launches) {
        err_set(err, ERR_ResourceError, "out of memory");
        goto failed;
    }
    if (options && options->device && set_wanted_device(session, options->device, err) < 0)
        goto failed;
    *out = session;
    return 0;
failed:
    session_free(&session);
    return -1;
}

void session_free(struct session **session)
{
    struct session *s = *session;

    if (!s)
        return;
    session_reset_variables(s);
    free(s->variables);
    for (size_t i = 0; i < s->made_count; i++)
        free((char *)s->made[i].device.name);
    cuda_free(&s->cuda);
    launch_history_free(&s->launches);
    buffers_free(&s->buffers);
    export_log_free(&s->exports);
    workers_free(&s->workers);
    if (s->stop_fd >= 0)
        close(s->stop_fd);
    free(s);
    *session = NULL;
}

void session_interrupt(struct session *session)
{
    uint64_t one = 1;
    ssize_t n;

    if (!atomic_load(&session->is_running))
        return;
    atomic_store(&session->stop, true);
    n = write(session->stop_fd, &one, sizeof(one));
    (void)n; /* EAGAIN: it is readable already */
}

const atomic_bool *session_stop(const struct session *session)
{
    return &session->stop;
}

int session_stop_fd(const struct session *session)
{
    return session->stop_fd;
}

int session_check_stop(const struct session *session, struct err *err)
{
    if (atomic_load_explicit(&session->stop, memory_order_relaxed))
        return err_set(err, ERR_Interrupted, "the cell was interrupted");
    return 0;
}

struct workers *session_workers(struct session *session)
{
    return session->workers;
}

struct cuda *session_cuda(struct session *session)
{
    return session->cuda;
}

int session_run_count(const struct session *session)
{
    return session->run_count;
}
