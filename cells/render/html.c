/*
 * Front ends style tables already (JupyterLab aligns cells to the right and
 * stripes rows): this says only what they cannot know, which column is text,
 * which row matters, and what is a heading of what.
 */
#include "cells/render/html.h"

#include "cells/render/text.h"

static const char LEFT[] = " style=\"text-align:left\"";
static const char RIGHT[] = " style=\"text-align:right\"";
static const char CODE[] = " style=\"text-align:left;font-family:monospace;white-space:pre\"";

static const char *alignment(enum view_align align)
{
    return align == VIEW_LEFT ? LEFT : align == VIEW_CODE ? CODE : RIGHT;
}

/* Escaped; '\n' breaks the line, and blanks that stand together stay apart. */
static void put_text(struct buf *out, const char *text)
{
    struct buf plain = { 0 };

    for (; text && *text; text++) {
        if (*text == ' ' && text[1] == ' ')
            buf_puts(&plain, "\xC2\xA0");
        else if (*text != '\n')
            buf_putc(&plain, *text);
        if (*text == '\n' || !text[1]) {
            text_put_xml(out, buf_text(&plain));
            buf_cut(&plain, 0);
        }
        if (*text == '\n')
            buf_puts(out, "<br>");
    }
    out->is_failed |= plain.is_failed;
    buf_done(&plain);
}

static void put_head(struct buf *out, const struct view_table *table)
{
    bool has_title = false;
    size_t c;

    for (c = 0; c < table->column_count; c++)
        has_title |= table->columns[c].title[0] != '\0';
    if (!has_title)
        return;
    buf_puts(out, "<thead><tr>");
    for (c = 0; c < table->column_count; c++) {
        /* A column of names may have none itself; an empty heading would say nothing. */
        const char *tag = table->columns[c].title[0] ? "th" : "td";

        buf_printf(out, "<%s%s%s>", tag, *tag == 't' && tag[1] == 'h' ? " scope=\"col\"" : "",
                   alignment(table->columns[c].align));
        put_text(out, table->columns[c].title);
        buf_printf(out, "</%s>", tag);
    }
    buf_puts(out, "</tr></thead>\n");
}

static void put_row(struct buf *out, const struct view_table *table, size_t row)
{
    bool is_marked = table->marked && table->marked[row];
    size_t c;

    buf_puts(out, is_marked ? "<tr style=\"font-weight:bold\">" : "<tr>");
    for (c = 0; c < table->column_count; c++) {
        bool is_name = c == 0 && table->columns[0].align == VIEW_LEFT;

        buf_printf(out, is_name ? "<th scope=\"row\"%s>" : "<td%s>",
                   alignment(table->columns[c].align));
        if (is_marked && c == 0)
            buf_puts(out, "&gt; ");
        put_text(out, table->cells[row * table->column_count + c]);
        buf_puts(out, is_name ? "</th>" : "</td>");
    }
    buf_puts(out, "</tr>\n");
}

static void put_table(struct buf *out, const struct view_table *table)
{
    size_t r;

    buf_puts(out, "<table style=\"margin:0.5em 0\">\n");
    put_head(out, table);
    buf_puts(out, "<tbody>\n");
    for (r = 0; r < table->row_count; r++)
        put_row(out, table, r);
    buf_puts(out, "</tbody></table>\n");
}

static void put_facts(struct buf *out, const struct view_block *block)
{
    size_t i;

    buf_puts(out, "<table style=\"margin:0.5em 0\"><tbody>\n");
    for (i = 0; i < block->count; i++) {
        buf_printf(out, "<tr><th scope=\"row\"%s>", LEFT);
        put_text(out, block->names[i]);
        buf_printf(out, "</th><td%s>", LEFT);
        put_text(out, block->texts[i]);
        buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</tbody></table>\n");
}

static void put_lines(struct buf *out, const struct view_block *block)
{
    size_t i;

    buf_puts(out,
             "<pre style=\"margin:0.5em 0;font-family:monospace;font-size:13px;line-height:1.2\">");
    for (i = 0; i < block->count; i++) {
        if (block->texts[i])
            text_put_xml(out, block->texts[i]);
        buf_putc(out, '\n');
    }
    buf_puts(out, "</pre>\n");
}

static void put_paragraph(struct buf *out, const char *open, const char *text, const char *close)
{
    if (!text || !*text)
        return;
    buf_puts(out, open);
    put_text(out, text);
    buf_puts(out, close);
}

void html_put_view(struct buf *out, const struct view *view)
{
    const struct view_block *block;

    buf_puts(out, "<div class=\"warpbook\">\n");
    put_paragraph(out, "<p style=\"margin:0\"><strong>", view->answer, "</strong></p>\n");
    put_paragraph(out, "<p style=\"margin:0;font-size:90%\">", view->origin, "</p>\n");
    for (block = view->first; block; block = block->next) {
        if (block->kind == VIEW_TABLE)
            put_table(out, &block->table);
        else if (block->kind == VIEW_FACTS)
            put_facts(out, block);
        else
            put_lines(out, block);
    }
    put_paragraph(out, "<p style=\"margin:0.5em 0 0\">", view->closing, "</p>\n");
    buf_puts(out, "</div>");
}
