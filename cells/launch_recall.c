/*
 * A list that forgets its oldest: a cell in a loop may launch for hours.
 */
#include "cells/launch_recall.h"

#include "cells/export.h"
#include "cells/internal.h"

#include <stdlib.h>

/* One launch: kernel "k<float,32>", text "k<float,32><<<4, 256>>>(1000, x)". */
struct launch_noted {
    char *kernel, *text;
};

struct launch_history {
    struct launch_noted *list;
    size_t count;
};

struct launch_history *launch_history_new(void)
{
    struct launch_history *h = calloc(1, sizeof(*h));

    if (h)
        h->list = calloc(LAUNCHES_MAX, sizeof(*h->list));
    if (h && !h->list) {
        free(h);
        h = NULL;
    }
    return h;
}

static void drop(struct launch_noted *noted)
{
    free(noted->kernel);
    free(noted->text);
}

void launch_history_free(struct launch_history **history)
{
    struct launch_history *h = *history;

    if (!h)
        return;
    for (size_t i = 0; i < h->count; i++)
        drop(&h->list[i]);
    free(h->list);
    free(h);
    *history = NULL;
}

void launch_note(struct session *session, const char *kernel, const char *text)
{
    struct launch_history *h = session->launches;
    struct launch_noted noted = { strdup(kernel), strdup(text) };

    export_note_launch(session, text);
    if (!noted.kernel || !noted.text) {
        drop(&noted);
        return;
    }
    if (h->count == LAUNCHES_MAX) {
        drop(&h->list[0]);
        memmove(h->list, h->list + 1, (LAUNCHES_MAX - 1) * sizeof(*h->list));
        h->count--;
    }
    h->list[h->count++] = noted;
}

void launch_forget_all(struct session *session)
{
    struct launch_history *h = session->launches;

    for (size_t i = 0; i < h->count; i++)
        drop(&h->list[i]);
    h->count = 0;
}

const char *launch_last(const struct session *session, const char *kernel)
{
    const struct launch_history *h = session->launches;

    for (size_t i = h->count; i > 0; i--)
        if (strcmp(h->list[i - 1].kernel, kernel) == 0)
            return h->list[i - 1].text;
    return NULL;
}
