/*
 * history_request. Clients send keys of other kinds along and leave out those
 * they do not need; hist_access_type alone decides which are read.
 */
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/handlers/handlers.h"

enum { TAIL = 10 }; /* lines, when n is missing */

int history_request(struct kernel *kernel, struct request *request, json_t **reply, struct err *err)
{
    const json_t *content = request->message.content;
    struct bytes kind = content_text(content, "hist_access_type");
    struct bytes pattern = content_text(content, "pattern");
    bool has_output = content_bool(content, "output", false);
    json_t *found;

    if (kind.size == 0 || bytes_equal(kind, "tail"))
        found = history_tail(kernel->history, content_int(content, "n", TAIL), has_output);
    else if (bytes_equal(kind, "range"))
        found = history_range(kernel->history, content_int(content, "session", 0),
                              content_int(content, "start", 0), content_int(content, "stop", 0),
                              has_output);
    else if (bytes_equal(kind, "search"))
        found = history_search(kernel->history, pattern.size ? pattern : bytes_of("*"),
                               content_int(content, "n", 0), content_bool(content, "unique", false),
                               has_output);
    else
        return err_set(err, ERR_UsageError, "hist_access_type=%.40s: it is tail, range or search",
                       kind.data);
    *reply = json_pack("{s:s, s:o}", "status", "ok", "history", found);
    return 0;
}
