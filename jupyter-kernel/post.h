/*
 * From a JSON content to a signed packet in the channels' queue. Every message
 * the kernel sends goes through here, from any thread.
 */
#ifndef WB_JUPYTER_POST_H
#define WB_JUPYTER_POST_H

#include "jupyter-kernel/internal.h"

/*
 * Content is taken (NULL: out of memory happened before; the message is then lost and said so
 * on stderr). parent: the message that this one belongs to, or NULL for none. Returns the
 * bytes of the content that were sent.
 */
size_t post_iopub(struct kernel *kernel, const struct message *parent, const char *msg_type,
                  json_t *content);

/* The same with a topic of the caller's, for iopub_welcome. */
void post_topic(struct kernel *kernel, struct bytes topic, const char *msg_type, json_t *content);

/*
 * To whoever sent the request, on one of the ROUTER channels. drain: a channel that is
 * emptied before this leaves (channels_take), or -1. Returns as post_iopub: 0 when it was lost.
 */
size_t post_to(struct kernel *kernel, const struct message *request, enum channel channel,
               const char *msg_type, json_t *content, int drain);

/* status on iopub: "busy" or "idle". */
void post_status(struct kernel *kernel, const struct message *parent, const char *state);

/*
 * The status "starting", once in the life of the process: behind the first welcome, or before
 * the first request is taken up. Sent at the start itself it would reach nobody, or come
 * before the welcome that promises to be first.
 */
void post_starting(struct kernel *kernel);

#endif
