/*
 * complete_request: the session thinks in bytes, the protocol in code points.
 * Types and signatures travel in the metadata key that JupyterLab and IPython
 * agreed on without putting it into the protocol.
 */
#include "cells/result.h"
#include "jupyter-kernel/content.h"
#include "jupyter-kernel/handlers/handlers.h"
#include "jupyter-kernel/utf8.h"

static json_t *type_entry(const struct completion *item, json_int_t start, json_int_t end)
{
    json_t *entry = json_pack("{s:I, s:I, s:o, s:o}", "start", start, "end", end, "text",
                              utf8_json(item->text), "type", utf8_json(item->type));

    if (!item->signature)
        return entry;
    return json_whole(entry, json_object_set_new(entry, "signature", utf8_json(item->signature)));
}

int complete_request(struct kernel *kernel, struct request *request, json_t **reply,
                     struct err *err)
{
    const json_t *content = request->message.content;
    struct bytes code = content_text(content, "code");
    struct completions found = { 0 };
    json_t *matches, *types;
    json_int_t start, end;
    int failed = 0;

    if (session_complete(kernel->session, code, content_cursor(content, code), &found, err) < 0)
        return -1;
    start = (json_int_t)utf8_points(code, found.start);
    end = (json_int_t)utf8_points(code, found.end);
    matches = json_array();
    types = json_array();
    for (size_t i = 0; i < found.count; i++) {
        failed |= json_array_append_new(matches, utf8_json(found.items[i].text));
        failed |= json_array_append_new(types, type_entry(&found.items[i], start, end));
    }
    completions_done(&found);
    *reply = json_pack("{s:s, s:o, s:I, s:I, s:{s:o}}", "status", "ok", "matches", matches,
                       "cursor_start", start, "cursor_end", end, "metadata",
                       "_jupyter_types_experimental", types);
    *reply = json_whole(*reply, failed);
    return 0;
}
