/*
 * The picture of one request: the lines of memory that it touches word by word, or
 * the banks pass by pass, each mark with the lane that it serves.
 */
#include "cells/figure.h"
#include "cells/internal.h"
#include "cells/magics/access.h"

enum { STATE_UNTOUCHED = WORD_UNTOUCHED, STATE_MOVED = WORD_MOVED, STATE_USED = WORD_USED };

static void add_lines(struct figure *figure, const struct access_point *p,
                      const struct access_request *q)
{
    static const struct figure_state states[] = {
        [STATE_UNTOUCHED] = { "not moved", TONE_NONE },
        [STATE_MOVED] = { "moved, nobody asked", TONE_IDLE },
        [STATE_USED] = { "asked for, with its lane", TONE_SELECTED },
    };
    uint64_t lines[WARP];
    int n = access_lines(q, lines);
    struct panel *panel =
        figure_add_cells(figure, "The lines that it touches",
                         (struct figure_axis){ .label = "word of 4 bytes; 8 are a sector" }, states,
                         COUNT(states), (size_t)n, BANKS, SECTOR_BYTES / BANK_BYTES);

    for (int i = 0; panel && i < n; i++) {
        const char *texts[BANKS];
        uint8_t marks[BANKS];
        int lane;

        for (int word = 0; word < BANKS; word++) {
            marks[word] = (uint8_t)access_word_of(p, q, lines[i], word, &lane);
            texts[word] = lane < 0 ? NULL : result_text(figure->result, "%d", lane);
        }
        panel_marks(panel, (size_t)i,
                    &(struct figure_marks){
                        .name = result_text(figure->result, "byte %s",
                                            access_number(figure->result,
                                                          (int64_t)lines[i] * LINE_BYTES)),
                        .states = marks,
                        .texts = texts });
    }
}

static void add_passes(struct figure *figure, const struct access_point *p,
                       const struct access_request *q)
{
    static const struct figure_state states[] = {
        { "the bank idles", TONE_NONE }, { "serves a word, with its lane", TONE_SELECTED }
    };
    int8_t lane[WARP][BANKS];
    int degree, n = memory_schedule(q->address, q->mask, p->bytes, lane, &degree);
    struct panel *panel = figure_add_cells(figure, "The passes that it takes",
                                           (struct figure_axis){ .label = "bank" }, states,
                                           COUNT(states), (size_t)n, BANKS, 8);

    for (int i = 0; panel && i < n; i++) {
        const char *texts[BANKS];
        uint8_t marks[BANKS];

        for (int b = 0; b < BANKS; b++) {
            marks[b] = lane[i][b] >= 0;
            texts[b] = lane[i][b] < 0 ? NULL : result_text(figure->result, "%d", lane[i][b]);
        }
        panel_marks(panel, (size_t)i,
                    &(struct figure_marks){ .name = result_text(figure->result, "pass %d", i + 1),
                                            .states = marks,
                                            .texts = texts });
    }
}

void access_add_figure(struct result *result, const struct access_point *p, int warp)
{
    struct figure *figure =
        figure_new(result,
                   result_text(result, "The request of warp %d to %s memory", warp,
                               p->is_shared ? "shared" : "global"),
                   result_text(result, "%s %s",
                               p->is_shared ? "A row for each pass, a mark for each bank."
                                            : "A row for each line, a mark for each word.",
                               result->view.answer),
                   result->view.answer);

    if (!figure)
        return;
    if (p->is_shared)
        add_passes(figure, p, &p->warps[warp]);
    else
        add_lines(figure, p, &p->warps[warp]);
}
