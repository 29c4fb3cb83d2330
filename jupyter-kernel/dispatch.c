/*
 * A row of handlers.h without reply is a message that has none (comms). Messages that are in
 * no row get busy and idle and a line in the log: the protocol grows, and a
 * client that knows more than we do must not wait for ever.
 */
#include "jupyter-kernel/dispatch.h"

#include "cells/result.h"
#include "jupyter-kernel/executor.h"
#include "jupyter-kernel/handlers/handlers.h"
#include "jupyter-kernel/log.h"
#include "jupyter-kernel/post.h"
#include "jupyter-kernel/utf8.h"

#include <stdio.h>

struct handler {
    const char *request, *reply;
    unsigned flags;
    handler_function *run;
};

static const struct handler HANDLERS[] = {
#define X(name, reply, flags) { #name, reply, flags, name },
    HANDLER_ROWS(X)
#undef X
};

static const struct handler *find(const char *msg_type)
{
    for (size_t i = 0; i < COUNT(HANDLERS); i++)
        if (strcmp(HANDLERS[i].request, msg_type) == 0)
            return &HANDLERS[i];
    return NULL;
}

static json_t *error_reply(const struct kernel *kernel, const struct handler *handler,
                           const struct err *why)
{
    json_t *reply = json_pack("{s:s, s:s, s:o, s:[]}", "status", "error", "ename",
                              err_spelling(why->name), "evalue", utf8_json(why->text), "traceback");

    if (!(handler->flags & COUNTED))
        return reply;
    return json_whole(reply, json_object_set_new(reply, "execution_count",
                                                 json_integer(kernel->execution_count)));
}

/* The content of the reply; *why says what went wrong when it returns NULL. */
static json_t *answer(struct kernel *kernel, const struct handler *handler, struct request *request,
                      struct err *why)
{
    json_t *reply = NULL;

    if (request->is_aborted) {
        err_set(why, ERR_Aborted, "not run, because a cell before it failed");
    } else if (request->message.fault.name) {
        err_set(why, request->message.fault.name, "%s", request->message.fault.text);
    } else if (handler->run(kernel, request, &reply, why) < 0) {
        json_decref(reply);
        reply = NULL;
    }
    if (!reply && handler->reply)
        err_set(why, ERR_ResourceError, "out of memory");
    return reply;
}

static void send_reply(struct kernel *kernel, const struct handler *handler,
                       struct request *request)
{
    struct err why = { 0 };
    json_t *reply = answer(kernel, handler, request, &why);
    int drain = -1;

    if (!handler->reply) {
        if (why.name)
            log_line("%s: %s", handler->request, why.text);
        json_decref(reply);
    } else {
        if (!reply)
            reply = error_reply(kernel, handler, &why);
        if (request->ends_queue) {
            drain = CHANNEL_SHELL;
            executor_hold(kernel);
        }
        if (!post_to(kernel, &request->message, request->channel, handler->reply, reply, drain) &&
            request->ends_queue)
            executor_abort_queue(kernel);
    }
    err_done(&why);
}

void dispatch_run(struct kernel *kernel, struct request *request)
{
    const struct handler *handler = find(request->message.msg_type);

    post_starting(kernel);
    post_status(kernel, &request->message, "busy");
    if (handler)
        send_reply(kernel, handler, request);
    else
        log_line("%s: unknown message %.80s", channel_name(request->channel),
                 request->message.msg_type);
    post_status(kernel, &request->message, "idle");
    if (request->ends_kernel)
        channels_stop(kernel->channels);
}

void dispatch_take(struct kernel *kernel, struct request *request)
{
    const struct handler *handler = find(request->message.msg_type);

    if (request->channel == CHANNEL_CONTROL && (!handler || handler->flags & AT_ONCE)) {
        dispatch_run(kernel, request);
        request_free(&request);
    } else {
        executor_take(kernel, request);
    }
}
