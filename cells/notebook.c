/*
 * What nbclient does with a kernel over sockets, done with a session in this
 * process: every output of an earlier run goes, blank cells are passed over,
 * counts start at 1, and the first failing cell ends the run (a cell with the
 * tag raises-exception may fail). The injected cell is papermill's.
 * Sources: nbclient 0.11, NotebookClient; papermill 2.6, parameterize_notebook.
 */
#include "cells/notebook.h"

#include "cells/cell_outputs.h"
#include "cells/file.h"
#include "cells/language_info.h"
#include "cells/nbformat.h"
#include "cells/session.h"
#include "cells/text_sink.h"
#include "cells/watch.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char NOTEBOOK_HELP[] =
    "usage: warpbook run NB.ipynb [-p NAME=VALUE ...] [-o OUT.ipynb] [--device D]\n"
    "                    [--timeout S] [--allow-errors]\n"
    "\n"
    "Runs a notebook's cells in order, up to the first that fails.\n"
    "  -p NAME=VALUE   sets a variable, in a cell behind the one tagged parameters\n"
    "  -o OUT.ipynb    saves the notebook with its outputs, after a failure too; - is\n"
    "                  standard output. Without -o the outputs are printed as text\n"
    "  --device D      the device to start on: L40S, cc=9.0, gpu, ...\n"
    "  --timeout S     interrupts a cell that runs longer than S seconds\n"
    "  --allow-errors  a failing cell does not end the run\n"
    "Exit status: 0, 1 when a cell failed, 2 for a wrong command line.\n";

enum { MAX_PARAMETERS = 256 };

struct options {
    const char *path, *out, *device;
    double timeout_s;
    bool allow_errors;
    struct parameter parameters[MAX_PARAMETERS];
    size_t parameter_count;
};

struct run {
    const struct options *options;
    json_t *notebook;
    struct session *session;
    struct watch *watch;
    struct cell_outputs outputs;
    int executed; /* code cells so far */
};

/* ---- parameters ---- */

static bool is_name(const char *text, size_t n)
{
    if (!n || isdigit((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    return true;
}

static bool is_value_of_the_language(const char *value)
{
    static const char *const words[] = { "yes", "no", "true", "false", "True", "False", "None" };

    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i], value) == 0)
            return true;
    return *value && (isdigit((unsigned char)*value) || strchr("+-.[(\"", *value));
}

static void put_quoted(struct buf *out, const char *value)
{
    buf_putc(out, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            buf_putc(out, '\\');
        buf_putc(out, *value);
    }
    buf_putc(out, '"');
}

static json_t *injected_cell(const struct parameter *parameters, size_t count)
{
    struct buf source = { 0 };
    json_t *cell = NULL;

    buf_puts(&source, "# Parameters\n");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&source, "%s = ", parameters[i].name);
        if (is_value_of_the_language(parameters[i].value))
            buf_puts(&source, parameters[i].value);
        else
            put_quoted(&source, parameters[i].value);
        buf_putc(&source, '\n');
    }
    if (!source.is_failed)
        cell = nbformat_code_cell("injected-parameters", buf_text(&source), source.size);
    buf_done(&source);
    if (cell && json_object_set_new(json_object_get(cell, "metadata"), "tags",
                                    json_pack("[s]", "injected-parameters")) == 0)
        return cell;
    json_decref(cell);
    return NULL;
}

/* Index of the first cell with a tag, or -1. */
static long tagged(const json_t *cells, const char *tag)
{
    for (size_t i = 0; i < json_array_size(cells); i++)
        if (nbformat_has_tag(json_array_get(cells, i), tag))
            return (long)i;
    return -1;
}

int notebook_inject(json_t *notebook, const struct parameter *parameters, size_t count,
                    struct err *err)
{
    json_t *cells = json_object_get(notebook, "cells");
    long injected = tagged(cells, "injected-parameters");
    json_t *cell;
    int rc;

    if (!count)
        return 0;
    cell = injected_cell(parameters, count);
    if (injected >= 0)
        rc = json_array_set_new(cells, (size_t)injected, cell);
    else
        rc = json_array_insert_new(cells, (size_t)(tagged(cells, "parameters") + 1), cell);
    return rc < 0 ? err_set(err, ERR_ResourceError, "out of memory") : 0;
}

/* ---- running ---- */

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n\f\v")] == '\0';
}

static bool is_code(const json_t *cell)
{
    return strcmp(json_string_value(json_object_get(cell, "cell_type")), "code") == 0;
}

static int set(json_t *object, const char *key, json_t *value, struct err *err)
{
    return json_object_set_new(object, key, value) < 0
               ? err_set(err, ERR_ResourceError, "out of memory")
               : 0;
}

static int forget_outputs(json_t *notebook, struct err *err)
{
    json_t *cell;
    size_t i;

    json_array_foreach(json_object_get(notebook, "cells"), i, cell)
    {
        if (!is_code(cell))
            continue;
        if (set(cell, "outputs", json_array(), err) < 0 ||
            set(cell, "execution_count", json_null(), err) < 0)
            return -1;
    }
    return set(json_object_get(notebook, "metadata"), "language_info", language_info(), err);
}

/* "cell 3 of NB.ipynb": how the person who started it finds it. */
static void tell(const struct run *run, size_t index, const char *what)
{
    fprintf(stderr, "warpbook run: cell %zu of %s %s\n", index + 1, run->options->path, what);
}

static void tell_timeout(const struct run *run, size_t index)
{
    char text[80];

    snprintf(text, sizeof(text), "was stopped after --timeout %g seconds", run->options->timeout_s);
    tell(run, index, text);
}

/* A page is for a reader who asks; in Jupyter it is no output of the cell, so it is none here. */
static void drop_payload(struct sink *sink, json_t *payload)
{
    (void)sink, (void)payload;
}

/* Runs the code into its cell. Returns 0, 1 when it failed, or -1: nothing more can be run. */
static int run_code(struct run *run, json_t *cell, size_t index, struct err *err)
{
    const json_t *source = json_object_get(cell, "source");
    struct bytes code = { json_string_value(source), json_string_length(source) };
    struct cell_options options = { .cell_id = json_string_value(json_object_get(cell, "id")) };
    struct text_sink plain;
    enum watch_event event;
    json_t *outputs;
    int status;

    run->executed++;
    text_sink_init(&plain, stdout, stderr);
    cell_outputs_begin(&run->outputs, run->executed);
    watch_begin(run->watch, run->options->timeout_s);
    status = session_run_cell(run->session, code, &options,
                              run->options->out ? &run->outputs.sink : &plain.sink, NULL);
    event = watch_end(run->watch);
    if (text_sink_end(&plain, err) < 0 || cell_outputs_end(&run->outputs, &outputs, err) < 0 ||
        set(cell, "outputs", outputs, err) < 0 ||
        set(cell, "execution_count", json_integer(run->executed), err) < 0)
        return -1;
    if (event == WATCH_TIMEOUT)
        tell_timeout(run, index);
    if (event == WATCH_SIGNAL)
        return err_set(err, ERR_Interrupted, "interrupted at cell %zu", index + 1);
    return status < 0;
}

/* Returns 0, 1 when a cell failed, or -1. */
static int run_cells(struct run *run, struct err *err)
{
    json_t *cell;
    size_t i;
    int failed = 0;

    json_array_foreach(json_object_get(run->notebook, "cells"), i, cell)
    {
        int rc;

        if (!is_code(cell) || is_blank(json_string_value(json_object_get(cell, "source"))))
            continue;
        rc = run_code(run, cell, i, err);
        if (rc < 0)
            return -1;
        if (rc == 0 || nbformat_has_tag(cell, "raises-exception"))
            continue;
        tell(run, i, "failed");
        failed = 1;
        if (!run->options->allow_errors)
            break;
    }
    return failed;
}

static int save(struct run *run, struct err *err)
{
    struct buf text = { 0 };
    int rc;

    if (!run->options->out)
        return 0;
    nbformat_write(run->notebook, &text);
    if (text.is_failed)
        rc = err_set(err, ERR_ResourceError, "out of memory for the notebook's text");
    else
        rc = file_write(run->options->out, (struct bytes){ buf_text(&text), text.size }, err);
    buf_done(&text);
    return rc;
}

static int load(struct run *run, struct err *err)
{
    const struct options *o = run->options;
    struct buf text = { 0 };
    int rc = file_read(o->path, &text, err);

    if (rc == 0)
        rc = nbformat_read((struct bytes){ buf_text(&text), text.size }, &run->notebook, err);
    if (rc == 0)
        rc = notebook_inject(run->notebook, o->parameters, o->parameter_count, err);
    if (rc == 0)
        rc = forget_outputs(run->notebook, err);
    buf_done(&text);
    return rc;
}

static int run_notebook(const struct options *options)
{
    struct run run = { .options = options };
    struct err err = { 0 };
    int status = 2;

    if (load(&run, &err) < 0 ||
        session_new(&(struct session_options){ .device = options->device }, &run.session, &err) < 0)
        goto out;
    if (watch_new(run.session, &run.watch, &err) < 0 || cell_outputs_init(&run.outputs, &err) < 0)
        goto out;
    run.outputs.sink.payload = drop_payload;
    status = run_cells(&run, &err);
    if (save(&run, &err) < 0 || status < 0)
        status = 1;
out:
    if (err.name)
        fprintf(stderr, "warpbook run: %s: %s%s%s\n", options->path, err.text,
                *err.next ? "; " : "", err.next);
    err_done(&err);
    cell_outputs_done(&run.outputs);
    watch_free(&run.watch);
    session_free(&run.session);
    json_decref(run.notebook);
    return status;
}

/* ---- the command line ---- */

static int add_parameter(struct options *o, char *text)
{
    char *equals = strchr(text, '=');

    if (!equals || !is_name(text, (size_t)(equals - text))) {
        fprintf(stderr, "warpbook run: -p %s: NAME=VALUE, NAME a letter and letters or digits\n",
                text);
        return -1;
    }
    if (o->parameter_count == MAX_PARAMETERS) {
        fprintf(stderr, "warpbook run: at most %d times -p\n", MAX_PARAMETERS);
        return -1;
    }
    if (strchr(equals, '\n')) {
        fputs("warpbook run: -p: a value is one line\n", stderr);
        return -1;
    }
    *equals = '\0';
    o->parameters[o->parameter_count++] = (struct parameter){ text, equals + 1 };
    return 0;
}

static int set_timeout(struct options *o, const char *text)
{
    char *end;

    o->timeout_s = strtod(text, &end);
    if (end != text && !*end && o->timeout_s > 0)
        return 0;
    fprintf(stderr, "warpbook run: --timeout %s: seconds, above 0\n", text);
    return -1;
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "device", required_argument, NULL, 'd' },
        { "timeout", required_argument, NULL, 't' },
        { "allow-errors", no_argument, NULL, 'a' },
        { 0 },
    };
    int option, rc = 0;

    while (rc == 0 && (option = getopt_long(argc, argv, "p:o:", table, NULL)) != -1) {
        if (option == 'p')
            rc = add_parameter(o, optarg);
        else if (option == 'o')
            o->out = optarg;
        else if (option == 'd')
            o->device = optarg;
        else if (option == 't')
            rc = set_timeout(o, optarg);
        else if (option == 'a')
            o->allow_errors = true;
        else
            rc = -1;
    }
    if (rc == 0 && optind + 1 != argc) {
        fputs(NOTEBOOK_HELP, stderr);
        return -1;
    }
    o->path = argv[optind];
    return rc;
}

int notebook_main(int argc, char **argv)
{
    struct options options = { 0 };

    return parse(argc, argv, &options) < 0 ? 2 : run_notebook(&options);
}
