/*
 * Child processes: the same binary, started again for work that may crash, leak
 * or hang, so that the front keeps its variables whatever happens.
 *
 *   compiler   NVRTC: CUDA C in; PTX, cubin, log and resources out
 *   model      runs PTX on the interpreter under a memory limit
 *   gpu        the only user of libcuda
 *
 * A child reads requests from one socket and answers each in turn. A request has
 * a number which its answer repeats, so that the answer of an interrupted request
 * is recognised and dropped. It ends when the socket closes, when it was idle for
 * long, and, once told to stop (SIGUSR1 with the request's number), when it has not
 * answered in time.
 */
#ifndef WB_KERNELS_CHILD_H
#define WB_KERNELS_CHILD_H

#include "kernels/fields.h"
#include "model/base/buf.h"
#include "model/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>

enum child_kind {
    CHILD_COMPILER,
    CHILD_MODEL,
    CHILD_GPU,
    CHILD_KINDS,
};

enum {
    CHILD_SOCKET = 3,           /* descriptor of the socket in a child */
    CHILD_MAX_FDS = 250,        /* descriptors of a message; Linux sends at most 253 (SCM_MAX_FD) */
    CHILD_MAX_BODY = 256 << 20, /* bytes of a message's body */
    CHILD_GRACE_S = 5,          /* told to stop, it answers within so long or ends */
};

enum child_op {
    OP_COMPILE = 1, /* compiler */
    OP_RUN,         /* model, gpu: launches over buffers */
    OP_DEVICES,     /* gpu: the cards and their attributes */
    OP_ANSWER,      /* child to front */
    OP_DISASSEMBLE, /* compiler: kernels/disassembler.h */
    OP_PART,        /* child to front, before the answer: what a running launch says */
};

/* Tags of every message's fields; which belong to which is said where they are used. */
enum child_tag {
    TAG_ERROR = 1, /* record, fields_put_err: the request failed */
    /* OP_COMPILE, request */
    TAG_SOURCE,
    TAG_ARCH,   /* text: "sm_89", "compute_80" */
    TAG_OPTION, /* text, repeats: passed to NVRTC */
    TAG_IS_DEBUG,
    TAG_EXPRESSION, /* text: a kernel to instantiate, "k<float,32>" */
    TAG_AHEAD,      /* bytes: the body of an OP_COMPILE that will follow, begun beside this one */
    /* its answer */
    TAG_LOG,
    TAG_PTX,
    TAG_CUBIN,
    TAG_KERNEL, /* record, repeats: TAG_NAME and the four below */
    TAG_NAME,
    TAG_REGISTERS,
    TAG_STATIC_BYTES,
    TAG_STACK_BYTES,
    TAG_SPILL_STORE_BYTES,
    TAG_SPILL_LOAD_BYTES,
    TAG_VERSION,
    TAG_LOWERED, /* text: the linked name of TAG_EXPRESSION */
    /* OP_RUN and OP_DEVICES: kernels/launch.h */
    TAG_FIRST_OF_LAUNCH = 64,
};

/* A message. body is fields; fds are owned by the message. */
struct child_message {
    unsigned op;
    uint32_t number;
    struct buf body;
    int fds[CHILD_MAX_FDS];
    size_t fd_count;
};

/* Releases the body and closes the descriptors. */
void child_message_done(struct child_message *m);
struct bytes child_message_body(const struct child_message *m);

/*
 * Writes a whole message to a socket; blocks. Fails with InternalError when the other end is
 * gone, and with ResourceError, before a byte is written, when the body is larger than
 * CHILD_MAX_BODY or incomplete. The descriptors stay the caller's.
 */
int child_send(int socket, const struct child_message *m, struct err *err) MUST_CHECK;

/*
 * Reads one message. Returns 1 and fills out, 0 at the end of the stream, or -1 with
 * InternalError for bytes that are no message; then the stream cannot be used any more.
 */
int child_receive(int socket, struct child_message *out, struct err *err) MUST_CHECK;

/*
 * The hidden subcommand `child KIND`: serves requests on descriptor CHILD_SOCKET until
 * the socket closes. Returns the exit status. Called by main with the subcommand's argv.
 */
int child_main(int argc, char **argv);

/* "compiler", "model", "gpu". Static. */
const char *child_kind_name(enum child_kind kind);

/* What a kind of child does with one request: fills answer->body, or fails. */
typedef int child_serve_fn(const struct child_message *request, struct child_message *answer,
                           struct err *err);

/* In a child: true once the front wants the current request to stop. Poll each millisecond. */
extern atomic_bool child_stop;

/*
 * In a child: sends fields to the front before the answer of the current request, as OP_PART.
 * False when the front is gone. From one thread at a time.
 */
bool child_say(const struct buf *body);

/* Set by a serve function whose process is of no further use (a broken CUDA context). */
extern bool child_must_end;

#endif
