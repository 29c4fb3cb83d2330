/*
 * Expressions: C's arithmetic, comparison and logic on int64 and double, with
 * lists, ranges and the fields of results. Text is parsed to a tree first, so
 * that a check can show both sides of its comparison and && can skip.
 */
#ifndef WB_CELLS_EXPR_H
#define WB_CELLS_EXPR_H

#include "cells/lex.h"
#include "cells/session.h"
#include "cells/value.h"

enum expr_kind {
    EXPR_VALUE,   /* value */
    EXPR_NAME,    /* text */
    EXPR_FIELD,   /* kids[0].text */
    EXPR_INDEX,   /* kids[0][kids[1]] */
    EXPR_METHOD,  /* kids[0].text(kids[1..]) */
    EXPR_CALL,    /* text(kids...) */
    EXPR_UNARY,   /* op kids[0] */
    EXPR_BINARY,  /* kids[0] op kids[1] */
    EXPR_CHOOSE,  /* kids[0] ? kids[1] : kids[2] */
    EXPR_COMPARE, /* kids[0] op kids[1] (+- kids[2]): == and != with a tolerance too */
    EXPR_RANGE,   /* kids[0]..kids[1] (: kids[2]) */
    EXPR_LIST,    /* [kids...] */
    EXPR_DIM,     /* (kids...) */
};

struct expr {
    enum expr_kind kind;
    int op;
    enum number_unit unit; /* of a literal such as 10us */
    bool is_percent;       /* a literal such as 1%: as a tolerance, of the right side */
    bool is_geometric;     /* a range's step is a factor */
    bool is_grouped;       /* in parentheses or braces */
    struct value value;
    const char *text;
    struct expr **kids;
    size_t count;
    int depth;         /* of the tree below: it is walked by recursion */
    size_t start, end; /* offsets in the source */
};

/* A name that only one evaluation knows. */
struct local {
    const char *name;
    struct value value;
};

/* What an evaluation may see, and what it met. */
struct scope {
    struct session *session; /* variables and the constants of CUDA C; NULL: none */
    struct lexer *lexer;     /* whose source the tree points into: carets */
    struct arena *arena;
    const struct local *locals; /* seen before the session's variables */
    size_t local_count;
    bool saw_nan; /* some value on the way was not a number */
    int depth;    /* constants that lead to constants */
};

/* Does only this evaluation know the name? Then it is that value, whatever the session calls so. */
bool expr_is_local(const struct scope *scope, const char *name);

/* Reads one expression, ranges included, and stops at what cannot continue it. */
int expr_parse(struct lexer *lexer, struct expr **out, struct err *err) MUST_CHECK;

/* The same for the right side of %buffer: (1,2,3,4) and {1,2} are lists of any length there. */
int expr_parse_initial(struct lexer *lexer, struct expr **out, struct err *err) MUST_CHECK;

/* true, null, inf, warpSize, _ ...: names that cannot be set. */
bool expr_is_reserved(const char *name);

/* The value, in scope's arena; borrows from the session and from results. */
int expr_eval(struct scope *scope, const struct expr *expr, struct value *out,
              struct err *err) MUST_CHECK;

/* Parses and evaluates the whole of a source; anything behind the expression is an error. */
int expr_eval_source(struct session *session, struct source source, struct arena *arena,
                     struct value *out, struct err *err) MUST_CHECK;

/* The same where some names mean something of their own. */
int expr_eval_with(struct session *session, struct source source, const struct local *locals,
                   size_t local_count, struct arena *arena, struct value *out,
                   struct err *err) MUST_CHECK;

/* True, false, or -1 with an error for a value that is neither a number nor a bool. */
int expr_truth(struct scope *scope, const struct expr *expr, const struct value *v, bool *out,
               struct err *err) MUST_CHECK;

/* Evaluates an expression for it. */
int expr_eval_truth(struct scope *scope, const struct expr *expr, bool *out,
                    struct err *err) MUST_CHECK;

/* operators.c: -a !a ~a, a + b and its like; && and || look at b only where a does not decide. */
int operator_unary(struct scope *scope, const struct expr *expr, struct value *out,
                   struct err *err) MUST_CHECK;
int operator_binary(struct scope *scope, const struct expr *expr, struct value *out,
                    struct err *err) MUST_CHECK;

/* members.c: a.b, a[i], t.line(6). */
int member_field(struct scope *scope, const struct expr *expr, struct value *out,
                 struct err *err) MUST_CHECK;
int member_index(struct scope *scope, const struct expr *expr, struct value *out,
                 struct err *err) MUST_CHECK;
int member_method(struct scope *scope, const struct expr *expr, struct value *out,
                  struct err *err) MUST_CHECK;

/* Does kids[0] op kids[1] (+- tolerance) hold, element by element for lists of equal length? */
struct comparison {
    struct value left, right;
    bool holds;
    bool is_list;
    size_t differing, total, first; /* of lists: how many differ, of how many, the first index */
    /*
     * Of buffers: left and right are the first two elements that differ, where they stand
     * ("[3][5]", "[7].x"), what the left side is called, and the largest difference that a
     * tolerance met. where is NULL for lists.
     */
    const char *where, *name, *worst_where;
    bool is_plain; /* name[where] is how C would write the element */
    double worst;
};
int expr_compare(struct scope *scope, const struct expr *expr, struct comparison *out,
                 struct err *err) MUST_CHECK;

/* range.c: the points of a range, the items of a list, a dimension. */
int range_eval(struct scope *scope, const struct expr *expr, struct value *out,
               struct err *err) MUST_CHECK;
int list_eval(struct scope *scope, const struct expr *expr, struct value *out,
              struct err *err) MUST_CHECK;
int dim_eval(struct scope *scope, const struct expr *expr, struct value *out,
             struct err *err) MUST_CHECK;

/* Fail with UsageError, and a hint for null, when the value of expr is no number, no integer. */
int expr_need_number(struct scope *scope, const struct expr *expr, const struct value *v,
                     struct err *err) MUST_CHECK;
int expr_need_int(struct scope *scope, const struct expr *expr, const struct value *v, int64_t *out,
                  struct err *err) MUST_CHECK;

/* The expression as written, cut to fit into an error's sentence. */
const char *expr_show(const struct scope *scope, const struct expr *expr);

/* "x + 1": the expression as written. */
struct bytes expr_source(const struct scope *scope, const struct expr *expr);

/* One row a function, for calls, completion and help. */
struct function_help {
    const char *name, *signature, *help;
};
size_t function_count(void);
const struct function_help *function_help_at(size_t i);

/* Is there a function of this name? sqrtf and fabs are sqrt and abs. */
bool function_is(const char *name);

/* functions.c: calls the function of this name. Fails with NameError when there is none. */
int function_call(struct scope *scope, const struct expr *call, struct value *args, size_t count,
                  struct value *out, struct err *err) MUST_CHECK;

/*
 * expr_formula.c: a call of a macro with parameters or of a function of the session that only
 * returns (*is_found), or of dim3: its value. Fails with UsageError for a body that no expression
 * here is.
 */
int expr_call_formula(struct scope *scope, const struct expr *call, const struct value *args,
                      bool *is_found, struct value *out, struct err *err) MUST_CHECK;

/* INFINITY, FLT_MAX, INT_MAX, M_PI: what C's headers define. False: no such constant. */
bool expr_header_constant(const char *name, struct value *out);

/* Sets err's caret under the expression. Returns -1. */
int expr_fail(const struct scope *scope, const struct expr *expr, struct err *err,
              enum err_name name, const char *fmt, ...) PRINTF_LIKE(5, 6);

#endif
