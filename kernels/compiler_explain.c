/*
 * The compiler's log as an error of a cell: the first diagnostic that says why, its place in the
 * cell, and a next step where the compiler's words leave a student alone.
 */
#include "kernels/compiler.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes: of shared memory that a kernel may declare, and of all __constant__ variables of a cell
 * (CUDA C++ Programming Guide, technical specifications by compute capability). */
enum { MAX_STATIC = 48 * 1024, MAX_CONSTANT = 64 * 1024 };

/* "In[3](7): error: text": where its parts are. */
struct diagnostic {
    const char *line; /* start of its line in the log */
    const char *text; /* behind "error: " */
    int number;       /* 7 */
};

/* True when the log has this text right before `at`. */
static bool follows(const char *log, const char *at, const char *text)
{
    size_t n = strlen(text);

    return (size_t)(at - log) >= n && memcmp(at - n, text, n) == 0;
}

/* The first error behind `from`. */
static bool find_error_behind(const char *log, const char *from, struct diagnostic *out)
{
    for (const char *at = strstr(from, "error"); at; at = strstr(at + 1, "error")) {
        const char *line = at, *text = at + 5, *open;

        while (line > log && line[-1] != '\n')
            line--;
        if (strncmp(text, " #", 2) == 0) /* "error #20: " */
            text += 2 + strspn(text + 2, "0123456789-DU");
        open = memchr(line, '(', (size_t)(at - line));
        if (!open || *text != ':' ||
            (!follows(log, at, "): ") && !follows(log, at, "): catastrophic ")))
            continue;
        while (strncmp(open + 1 + strspn(open + 1, "0123456789"), "): ", 3) != 0) {
            open = memchr(open + 1, '(', (size_t)(at - open - 1));
            if (!open)
                break;
        }
        if (!open)
            continue;
        *out = (struct diagnostic){ line, text + 1 + strspn(text + 1, " "), atoi(open + 1) };
        return true;
    }
    return false;
}

/*
 * A parameter of a type that is not known is first reported as something else: a kernel's head that
 * could not be read. The error that names the type is the reason.
 */
static bool find_error(const char *log, struct diagnostic *out)
{
    static const char *const CONSEQUENCES[] = { "attribute \"__global__\" does not apply here",
                                                "incomplete type \"void\" is not allowed" };
    struct diagnostic other;
    bool is_consequence = false;

    if (!find_error_behind(log, log, out))
        return false;
    for (size_t i = 0; i < COUNT(CONSEQUENCES); i++)
        is_consequence |= strncmp(out->text, CONSEQUENCES[i], strlen(CONSEQUENCES[i])) == 0;
    for (const char *at = out->text; is_consequence && find_error_behind(log, at, &other);
         at = other.text)
        if (strncmp(other.text, "identifier \"", 12) == 0) {
            *out = other;
            break;
        }
    return true;
}

/* The caret's column, 1-based, from the two lines below a diagnostic; 0: there is none. */
static int caret_column(const char *diagnostic)
{
    const char *source = strchr(diagnostic, '\n'),
               *caret = source ? strchr(source + 1, '\n') : NULL;
    const char *at;
    size_t indent;

    if (!caret)
        return 0;
    caret++;
    at = caret + strspn(caret, " \t"); /* tabs of the source line are repeated */
    if (*at != '^')
        return 0;
    indent = 2; /* NVRTC sets both lines in by two columns */
    return (size_t)(at - caret) < indent ? 1 : (int)((size_t)(at - caret) - indent) + 1;
}

/* The log without the compiler's advice on its own options, which cells do not have. */
static char *copy_log(const char *log)
{
    static const char REMARK[] = "Remark: The warnings can be suppressed";
    char *copy = strdup(log), *at = copy ? strstr(copy, REMARK) : NULL;

    while (at) {
        char *rest = at + strcspn(at, "\n");

        rest += strspn(rest, "\n");
        memmove(at, rest, strlen(rest) + 1);
        at = strstr(at, REMARK);
    }
    return copy;
}

/*
 * ptxas says nothing of too much memory but the bytes: "Used 10 registers, used 0 barriers, 80000
 * bytes smem, 360 bytes cmem[0]". The most that stands before a unit in the log.
 */
static int find_bytes(const char *log, const char *unit)
{
    int most = 0;

    for (const char *at = strstr(log, unit); at; at = strstr(at + 1, unit)) {
        const char *digits = at;

        while (digits > log && isdigit((unsigned char)digits[-1]))
            digits--;
        if (atoi(digits) > most)
            most = atoi(digits);
    }
    return most;
}

/* The assembler's report, where it has no line of the cell to blame. */
static int explain_assembler(const char *log, struct err *err)
{
    const char *error = strstr(log, "; error   : ");
    int shared = find_bytes(log, " bytes smem"), constant = find_bytes(log, " bytes cmem[3]");

    if (error) {
        error += 12;
        err_take_detail(err, copy_log(log));
        return err_set(err, ERR_CompileError, "the assembler refuses the inline PTX: %.*s",
                       (int)min_i64((int64_t)strcspn(error, "\n"), 400), error);
    }
    if (shared > MAX_STATIC) {
        err_set(err, ERR_CompileError,
                "a kernel takes %d bytes of static shared memory; the compiler allows %d", shared,
                MAX_STATIC);
        return err_next(err, "declare it extern __shared__ and give the bytes at the launch");
    }
    if (constant > MAX_CONSTANT) {
        err_set(err, ERR_CompileError, "%d bytes of __constant__ memory; a device has %d", constant,
                MAX_CONSTANT);
        return err_next(err, "make the table a __device__ variable, or hand it over as a buffer");
    }
    err_take_detail(err, copy_log(log));
    return err_set(err, ERR_CompileError, "%.*s",
                   *log ? (int)min_i64((int64_t)strcspn(log, "\n"), 500) : 32,
                   *log ? log : "the compiler gave no reason");
}

/* Where the compiler's words leave the reader alone. n: the length of the text. */
static void hint(const char *text, size_t n, struct err *err)
{
    static const struct {
        const char *part, *next;
    } hints[] = {
        { "cannot open source file",
          "paste its text into a cell of its own, or give its folder: %%kernel include=\"folder\"" },
        { "expression must have a constant value",
          "an array has its size when it is compiled: constexpr int N = 256; or extern __shared__ "
          "float s[]; with its bytes as the third number of <<<>>>" },
        { "marked as a __host__ function", "kernels see __device__ functions alone" },
        { "identifier \"tex1D", "textures are not modelled: read the buffer itself" },
        { "device-side kernel launch", "a kernel cannot launch kernels here: give each launch a "
                                       "line of its own" },
        { "identifier \"cudaDeviceSynchronize\"", "a kernel cannot wait for others: leave the line "
                                                  "out, launches end in order" },
        { "identifier \"cudaMalloc\"", "%buffer x float[1M] allocates; in a kernel there is "
                                       "malloc()" },
        { "identifier \"assert\"", "write #include <assert.h> above it" },
    };

    for (size_t i = 0; i < COUNT(hints); i++)
        if (memmem(text, n, hints[i].part, strlen(hints[i].part)))
            err_next(err, "%s", hints[i].next);
}

/* A template's arguments are read in a file of the compiler's own: its log says nothing more. */
static int explain_name(const char *log, const struct diagnostic *d, struct err *err)
{
    static const char PRAGMA[] = "#pragma nv_mangled_name ";
    const char *name = strstr(log, PRAGMA);
    size_t n = strcspn(d->text, "\n");

    name = name ? name + sizeof(PRAGMA) - 1 : "the kernel's name\n";
    err_set(err, ERR_CompileError, "%.*s: %.*s", (int)min_i64((int64_t)strcspn(name, "\n"), 200),
            name, (int)min_i64((int64_t)n, 300), d->text);
    return err_next(err, "the arguments of a template are types and constants that a cell defines");
}

int compiler_explain(const char *log, struct err *err)
{
    struct diagnostic d;
    size_t n, place;

    if (!find_error(log, &d))
        return explain_assembler(log, err);
    if (strncmp(d.line, "__nv_name_map", 13) == 0)
        return explain_name(log, &d, err);
    err_take_detail(err, copy_log(log));
    place = strcspn(d.line, "(");
    if (err && !err->place[0])
        snprintf(err->place, sizeof(err->place), "%.*s", (int)place, d.line);
    n = strcspn(d.text, "\n");
    err_set(err, ERR_CompileError, "%.*s", (int)min_i64((int64_t)n, 500), d.text);
    hint(d.text, n, err);
    return err_at(err, d.number, caret_column(d.line), 1);
}
