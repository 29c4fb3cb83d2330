/*
 * The executor writes, and the I/O thread flushes what has waited for long
 * while a cell computes. Messages are made and handed over under one lock, so
 * that both threads keep the order of the cell.
 */
#include "jupyter-kernel/outputs.h"

#include "cells/characters.h"
#include "jupyter-kernel/executor.h"
#include "jupyter-kernel/post.h"
#include "jupyter-kernel/utf8.h"
#include "model/base/buf.h"

#include <stdlib.h>

enum {
    FLUSH_SIZE = 64 << 10,
    FLUSH_MS = 100,
};

struct outputs {
    struct sink sink, silent;
    struct kernel *kernel;
    const struct request *request; /* NULL between cells */
    struct leftovers left;

    pthread_mutex_t lock; /* guards the rest */
    struct buf text;      /* of stream name, not sent yet */
    enum stream_name name;
    struct characters_carry carry[2];
    bool is_armed; /* TIMER_FLUSH will come */
    size_t streamed, displayed;
    bool is_cut;
};

static struct outputs *outputs_of(struct sink *sink)
{
    return (struct outputs *)sink; /* its first member */
}

/* ---- streams; the lock is held ---- */

static void send_text(struct outputs *o)
{
    static const char *const NAMES[] = { "stdout", "stderr" };

    if (o->text.size && o->request)
        post_iopub(o->kernel, &o->request->message, "stream",
                   json_pack("{s:s, s:s%}", "name", NAMES[o->name], "text", buf_text(&o->text),
                             o->text.size));
    /* A large buffer is given back, the usual small one kept. */
    if (o->text.capacity > 2 * FLUSH_SIZE)
        buf_done(&o->text);
    else
        buf_cut(&o->text, 0);
    o->text.is_failed = false;
}

static void arm(struct outputs *o)
{
    if (o->is_armed || !o->text.size)
        return;
    o->is_armed = true;
    channels_timer(o->kernel->channels, TIMER_FLUSH, FLUSH_MS, false);
}

static void say_cut(struct outputs *o, const char *what, size_t limit)
{
    if (o->is_cut)
        return;
    o->is_cut = true;
    if (o->name != STREAM_STDOUT)
        send_text(o);
    o->name = STREAM_STDOUT;
    buf_printf(&o->text, "\n[output cut: a cell may %s %zu MB]\n", what, limit >> 20);
}

static void add_text(struct outputs *o, enum stream_name name, const char *text, size_t n)
{
    size_t room = OUTPUTS_STREAM_LIMIT - o->streamed;

    if (name != o->name)
        send_text(o);
    o->name = name;
    characters_repair(&o->carry[name], (struct bytes){ text, n < room ? n : room }, &o->text);
    o->streamed += n < room ? n : room;
    if (n > room)
        say_cut(o, "print", OUTPUTS_STREAM_LIMIT);
    if (o->text.size >= FLUSH_SIZE)
        send_text(o);
    arm(o);
}

static void finish_streams(struct outputs *o)
{
    for (int i = 0; i < 2; i++) {
        if (!o->carry[i].size)
            continue;
        if (o->name != (enum stream_name)i)
            send_text(o);
        o->name = (enum stream_name)i;
        characters_finish(&o->carry[i], &o->text);
    }
    send_text(o);
}

/* ---- the sink ---- */

static void on_stream(struct sink *sink, enum stream_name name, const char *text, size_t n)
{
    struct outputs *o = outputs_of(sink);

    pthread_mutex_lock(&o->lock);
    add_text(o, name, text, n);
    pthread_mutex_unlock(&o->lock);
}

/* Sends a message in its place behind the text so far. Content is taken. */
static void send_message(struct outputs *o, const char *msg_type, json_t *content, bool is_capped)
{
    pthread_mutex_lock(&o->lock);
    if (is_capped && o->displayed > OUTPUTS_DISPLAY_LIMIT) {
        say_cut(o, "display", OUTPUTS_DISPLAY_LIMIT);
        json_decref(content);
    } else {
        send_text(o);
        o->displayed += post_iopub(o->kernel, &o->request->message, msg_type, content);
    }
    pthread_mutex_unlock(&o->lock);
}

static void on_display(struct sink *sink, json_t *data, json_t *metadata, const char *display_id,
                       bool is_update)
{
    json_t *transient =
        display_id ? json_pack("{s:o}", "display_id", utf8_json(display_id)) : json_object();

    send_message(outputs_of(sink), is_update ? "update_display_data" : "display_data",
                 json_pack("{s:O, s:o, s:o}", "data", data, "metadata",
                           metadata ? json_incref(metadata) : json_object(), "transient",
                           transient),
                 true);
}

static void on_result(struct sink *sink, json_t *data, json_t *metadata)
{
    struct outputs *o = outputs_of(sink);
    const char *text = json_string_value(json_object_get(data, "text/plain"));

    if (text) {
        free(o->left.result);
        o->left.result = strdup(text);
    }
    send_message(o, "execute_result",
                 json_pack("{s:I, s:O, s:o}", "execution_count",
                           (json_int_t)o->kernel->execution_count, "data", data, "metadata",
                           metadata ? json_incref(metadata) : json_object()),
                 true);
}

static void on_error(struct sink *sink, const struct error_report *report)
{
    json_t *lines = utf8_json_lines(report->traceback, report->traceback_lines);

    send_message(outputs_of(sink), "error",
                 json_pack("{s:o, s:o, s:o}", "ename", utf8_json(report->ename), "evalue",
                           utf8_json(report->evalue), "traceback", lines),
                 false);
}

static void on_clear(struct sink *sink, bool wait)
{
    send_message(outputs_of(sink), "clear_output", json_pack("{s:b}", "wait", wait), true);
}

static void on_payload(struct sink *sink, json_t *payload)
{
    json_array_append(outputs_of(sink)->left.payload, payload);
}

static int on_input(struct sink *sink, const char *prompt, bool is_password, char **reply,
                    struct err *err)
{
    struct outputs *o = outputs_of(sink);

    pthread_mutex_lock(&o->lock);
    send_text(o);
    pthread_mutex_unlock(&o->lock);
    return executor_ask(o->kernel, o->request, prompt, is_password, reply, err);
}

/* ---- public ---- */

int outputs_new(struct kernel *kernel, struct outputs **out, struct err *err)
{
    struct outputs *o = calloc(1, sizeof(*o));

    if (!o)
        return err_set(err, ERR_ResourceError, "out of memory");
    o->kernel = kernel;
    o->sink = (struct sink){ .stream = on_stream,
                             .display = on_display,
                             .result = on_result,
                             .error = on_error,
                             .clear = on_clear,
                             .payload = on_payload,
                             .input = on_input };
    pthread_mutex_init(&o->lock, NULL);
    *out = o;
    return 0;
}

void outputs_free(struct outputs **outputs)
{
    if (!*outputs)
        return;
    leftovers_done(&(*outputs)->left);
    buf_done(&(*outputs)->text);
    pthread_mutex_destroy(&(*outputs)->lock);
    free(*outputs);
    *outputs = NULL;
}

struct sink *outputs_begin(struct outputs *o, const struct request *request, bool is_silent)
{
    o->left = (struct leftovers){ .payload = json_array() };
    pthread_mutex_lock(&o->lock);
    o->request = request;
    o->name = STREAM_STDOUT;
    o->streamed = o->displayed = 0;
    o->is_cut = false;
    pthread_mutex_unlock(&o->lock);
    return is_silent ? &o->silent : &o->sink;
}

void outputs_end(struct outputs *o, struct leftovers *left)
{
    pthread_mutex_lock(&o->lock);
    finish_streams(o);
    o->request = NULL;
    pthread_mutex_unlock(&o->lock);
    *left = o->left;
    o->left = (struct leftovers){ 0 };
}

void leftovers_done(struct leftovers *left)
{
    json_decref(left->payload);
    free(left->result);
    *left = (struct leftovers){ 0 };
}

void outputs_flush_late(struct outputs *o)
{
    pthread_mutex_lock(&o->lock);
    o->is_armed = false;
    if (o->request)
        send_text(o);
    pthread_mutex_unlock(&o->lock);
}
