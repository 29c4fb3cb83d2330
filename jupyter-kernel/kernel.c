/*
 * Start, serve, stop. The sockets are bound before anything slow happens,
 * because clients wait for the ports; the session starts its children only
 * when a cell needs them.
 */
#include "jupyter-kernel/kernel.h"

#include "jupyter-kernel/dispatch.h"
#include "jupyter-kernel/executor.h"
#include "jupyter-kernel/internal.h"
#include "jupyter-kernel/log.h"
#include "jupyter-kernel/outputs.h"
#include "jupyter-kernel/post.h"
#include "jupyter-kernel/registration.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PARENT_MS = 1000,
    STOP_MS = 300, /* the last cell gets so long to follow the interrupt */
};

const char KERNEL_HELP[] =
    "usage: warpbook kernel -f CONNECTION.json [--device D] [--no-history]\n"
    "\n"
    "Serves the Jupyter clients that CONNECTION.json describes; Jupyter starts it.\n"
    "  --device D      the session's device, as %device takes it (default: the GPU, else L40S)\n"
    "  --no-history    do not keep the inputs of this session in the history file\n"
    "Other options are ignored. Inputs are kept in $XDG_DATA_HOME/warpbook/history.jsonl;\n"
    "WARPBOOK_HISTORY=off or another path changes that.\n";

/* ---- events of the I/O thread ---- */

static void take_request(struct kernel *kernel, enum channel channel, struct message *message)
{
    struct request *request = calloc(1, sizeof(*request));

    if (!request) {
        log_line("out of memory: a %s is lost", message->msg_type);
        message_done(message);
        return;
    }
    request->message = *message;
    request->channel = channel;
    dispatch_take(kernel, request);
}

static void on_received(void *owner, enum channel channel, const struct bytes *frames, size_t n)
{
    struct kernel *kernel = owner;
    struct message message = { 0 };
    struct err err = { 0 };

    if (wire_decode(kernel->key, frames, n, &message, &err) < 0) {
        log_line("%s: dropped %s", channel_name(channel), err.text);
    } else if (channel == CHANNEL_STDIN) {
        if (strcmp(message.msg_type, "input_reply") == 0)
            executor_answer(kernel, &message);
        message_done(&message);
    } else {
        take_request(kernel, channel, &message);
    }
    err_done(&err);
}

/* JEP 65: a subscriber that sees its welcome knows that nothing is lost from now on. */
static void on_subscribed(void *owner, struct bytes topic)
{
    json_t *text = json_stringn(topic.data, topic.size);

    if (text)
        post_topic(owner, topic, "iopub_welcome", json_pack("{s:o}", "subscription", text));
    post_starting(owner);
}

static void on_signalled(void *owner, int number)
{
    struct kernel *kernel = owner;

    if (number == SIGINT)
        executor_interrupt(kernel);
    else
        channels_stop(kernel->channels);
}

/*
 * The rules of ipykernel: where a wrapper stands between, only init as parent tells that the
 * client is gone; else any change of parent does (it may be a user's systemd, not init).
 */
static bool is_orphan(const struct kernel *kernel)
{
    int parent = getppid();

    return kernel->parent_pid == kernel->first_ppid ? parent != kernel->first_ppid : parent == 1;
}

static void on_elapsed(void *owner, enum channel_timer timer)
{
    struct kernel *kernel = owner;

    if (timer == TIMER_FLUSH)
        outputs_flush_late(kernel->outputs);
    else if (timer == TIMER_INTERRUPT)
        executor_interrupt_again(kernel);
    else if (timer == TIMER_PARENT && is_orphan(kernel))
        channels_stop(kernel->channels);
}

static void on_drained(void *owner, const struct packet *packet)
{
    if (packet->drain == CHANNEL_STDIN)
        executor_open_answer(owner);
    else
        executor_abort_queue(owner);
}

/* ---- start and stop ---- */

struct options {
    const char *connection_file, *device;
    bool has_history;
};

/* -f FILE, -f=FILE and --f=FILE all occur in kernelspecs. */
static struct options read_options(int argc, char **argv)
{
    struct options options = { .has_history = true };

    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(argv[i], "-f") == 0 && next)
            options.connection_file = argv[++i];
        else if (strncmp(argv[i], "-f=", 3) == 0)
            options.connection_file = argv[i] + 3;
        else if (strncmp(argv[i], "--f=", 4) == 0)
            options.connection_file = argv[i] + 4;
        else if (strcmp(argv[i], "--device") == 0 && next)
            options.device = argv[++i];
        else if (strcmp(argv[i], "--no-history") == 0)
            options.has_history = false;
    }
    return options;
}

/* Not watched where nobody asked for it, nor in a container whose first process we serve. */
static void watch_parent(struct kernel *kernel)
{
    const char *text = getenv("JPY_PARENT_PID");
    int pid = text ? atoi(text) : 0;

    if (pid <= 1)
        return;
    kernel->parent_pid = pid;
    kernel->first_ppid = getppid();
    channels_timer(kernel->channels, TIMER_PARENT, PARENT_MS, true);
}

static int open_channels(struct kernel *kernel, struct err *err)
{
    static const struct channel_events EVENTS = {
        .received = on_received,
        .subscribed = on_subscribed,
        .signalled = on_signalled,
        .elapsed = on_elapsed,
        .drained = on_drained,
    };
    struct channel_events events = EVENTS;
    bool is_chosen = false;

    events.owner = kernel;
    for (int i = 0; i < CHANNEL_COUNT; i++)
        is_chosen |= kernel->connection.ports[i] == 0;
    if (channels_open(&kernel->connection, &events, &kernel->channels, err) < 0)
        return -1;
    if (kernel->connection.is_registration &&
        registration_report(&kernel->connection, kernel->key, err) < 0)
        return -1;
    return is_chosen ? connection_write(&kernel->connection, err) : 0;
}

static int start(struct kernel *kernel, const struct options *options, struct err *err)
{
    struct session_options session = { .device = options->device };
    char *path = NULL;
    int rc;

    if (connection_read(options->connection_file, &kernel->connection, err) < 0 ||
        wire_key_new(kernel->connection.key, kernel->connection.signature_scheme, &kernel->key,
                     err) < 0 ||
        identity_init(&kernel->identity, err) < 0 || open_channels(kernel, err) < 0 ||
        channels_catch_signals(kernel->channels, err) < 0 ||
        session_new(&session, &kernel->session, err) < 0)
        return -1;
    if (options->has_history)
        path = history_default_path();
    rc = history_new(path, &kernel->history, err);
    free(path);
    if (rc < 0 || outputs_new(kernel, &kernel->outputs, err) < 0)
        return -1;
    watch_parent(kernel);
    return executor_start(kernel, err);
}

static void stop(struct kernel *kernel)
{
    if (kernel->executor && !executor_stop(kernel, STOP_MS)) {
        /* A cell that cannot be stopped dies with the process, its children by their EOF. */
        channels_shut(kernel->channels);
        _exit(0);
    }
    if (kernel->session)
        session_free(&kernel->session);
    executor_free(kernel);
    outputs_free(&kernel->outputs);
    history_free(&kernel->history);
    channels_close(&kernel->channels);
    identity_done(&kernel->identity);
    wire_key_free(&kernel->key);
    connection_done(&kernel->connection);
    pthread_mutex_destroy(&kernel->usage_lock);
}

int kernel_main(int argc, char **argv)
{
    struct options options = read_options(argc, argv);
    struct kernel kernel = { .usage_lock = PTHREAD_MUTEX_INITIALIZER };
    struct err err = { 0 };
    int rc = 0;

    if (!options.connection_file) {
        fputs("warpbook kernel: -f CONNECTION.json is missing\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    if (start(&kernel, &options, &err) < 0) {
        fprintf(stderr, "warpbook kernel: %s\n", err.text);
        rc = 1;
    } else {
        channels_run(kernel.channels);
    }
    stop(&kernel);
    err_done(&err);
    return rc;
}
