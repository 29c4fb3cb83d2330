/*
 * The words and keys of a magic line, on a row made for the purpose.
 */
#include "cells/internal.h"
#include "tests/unit/cell_harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int no_run(struct call *call, struct err *err)
{
    (void)call;
    (void)err;
    return 0;
}

static const struct param PARAMS[] = {
    { "kernel", PARAM_NAME, PARAM_POSITIONAL, NULL, 0, 0, NULL, "a kernel", NUMBER_PLAIN, 0 },
    { "device", PARAM_DEVICE, PARAM_SWEEP, NULL, 0, 0, NULL, "a device", NUMBER_PLAIN, 0 },
    { "block", PARAM_INT, PARAM_SWEEP, "256", 1, 1024, NULL, "threads of a block", NUMBER_PLAIN,
      0 },
    { "share", PARAM_FLOAT, 0, NULL, 0, 1, "auto none", "a fraction", NUMBER_PLAIN, 0 },
    { "policy", PARAM_CHOICE, PARAM_SWEEP, "gto", 0, 0, "gto lrr two-level", "who issues",
      NUMBER_PLAIN, 0 },
    { "grid", PARAM_DIM, PARAM_SWEEP, NULL, 1, 65535, NULL, "blocks", NUMBER_PLAIN, 0 },
    { "cold", PARAM_BOOL, 0, "no", 0, 0, NULL, "caches flushed", NUMBER_PLAIN, 0 },
    { "note", PARAM_TEXT, 0, NULL, 0, 0, NULL, "a text", NUMBER_PLAIN, 0 },
    { "x", PARAM_VALUE, 0, NULL, 0, 0, NULL, "any value", NUMBER_PLAIN, 0 },
    { "size", PARAM_INT, 0, NULL, 0, INFINITY, NULL, "bytes", NUMBER_PLAIN, 0 },
};

static const struct magic ROW = {
    .name = "try",
    .summary = "for tests",
    .about = "for tests",
    .example = "%try block=32",
    .params = PARAMS,
    .param_count = COUNT(PARAMS),
    .run = no_run,
};

static int parse(struct harness *h, struct arena *arena, const char *line, struct buf *out,
                 struct err *err)
{
    struct lexer lexer;
    struct arg *args;
    const char *target;
    struct value list;

    lexer_init(&lexer, (struct source){ bytes_of(line), 1, 1 }, arena);
    buf_cut(out, 0);
    if (args_parse(h->session, &ROW, &lexer, &args, &target, err) < 0)
        return -1;
    for (size_t i = 0; i < ROW.param_count; i++) {
        if (!args[i].is_given)
            continue;
        list = (struct value){ .type = VALUE_LIST, .list = { args[i].values, args[i].count } };
        buf_printf(out, "%s%s=%s", out->size ? " " : "", PARAMS[i].name,
                   value_text(arena, args[i].is_sweep ? &list : args[i].values));
    }
    if (target)
        buf_printf(out, " -> %s", target);
    return 0;
}

static void keys_and_words_are_read(void **state)
{
    static const struct {
        const char *line, *args;
    } cases[] = {
        { "", "" },
        { " block=32", "block=32" },
        { " block = 32 , cold = yes", "block=32 cold=true" },
        { " saxpy block=32,cold=yes;", "kernel=saxpy block=32 cold=true" },
        { " block=32 // a comment", "block=32" },
        { " block=32 # a comment", "block=32" },
        { " block=1..4", "block=[1, 2, 3, 4]" },
        { " block=32..128:*2", "block=[32, 64, 128]" },
        { " block=[1,2, 8..9]", "block=[1, 2, 8, 9]" },
        { " block=[7]", "block=[7]" },
        { " block={n+1}", "block=65" },
        { " block=n", "block=64" },
        { " block={sizes}", "block=[32, 64]" },
        { " block=16*2 cold=no", "block=32 cold=false" },
        { " block=1K", "block=1024" },
        { " size=48K", "size=49152" },
        { " share=50%", "share=0.5" },
        { " share=50% block=3", "block=3 share=0.5" },
        { " share=auto", "share=auto" },
        { " policy=LRR", "policy=lrr" },
        { " policy=two-level", "policy=two-level" },
        { " policy=[gto, two-level]", "policy=[gto, two-level]" },
        { " policy={p}", "policy=lrr" },
        { " policy=p", "policy=lrr" },
        { " device=gpu:1", "device=gpu:1" },
        { " device=cc=8.9 block=2", "device=cc=8.9 block=2" },
        { " device=\"RTX 4090\"", "device=RTX 4090" },
        { " device=[L40S,cc=9.0,\"RTX 4090\"]", "device=[L40S, cc=9.0, RTX 4090]" },
        { " grid=4", "grid=4" },
        { " grid=(4,2)", "grid=(4,2)" },
        { " grid=[1,(2,2)]", "grid=[1, (2,2)]" },
        { " note=\"a = b\" x=[1,2]", "note=a = b x=[1, 2]" },
        { " note=word", "note=word" },
        { " x=(1 + 2) * 3", "x=9" },
        { " block=32 -> t", "block=32 -> t" },
        { " block=(32\n + 1)", "block=33" },
        { " block=32 \\\n cold=yes", "block=32 cold=true" },
    };
    struct harness *h = *state;
    struct arena *arena = arena_new(0);
    struct buf out = { 0 };
    struct err err = { 0 };

    assert_prints(h, "n = 64\nsizes = [32,64]\np = \"lrr\"", "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (parse(h, arena, cases[i].line, &out, &err) < 0)
            print_message("%s: %s\n", cases[i].line, err.text);
        assert_int_equal(err.name, ERR_none);
        assert_string_equal(buf_text(&out), cases[i].args);
    }
    buf_done(&out);
    arena_free(&arena);
}

static void what_is_wrong_is_named_with_its_limit(void **state)
{
    static const struct {
        const char *line;
        enum err_name name;
        const char *part;
        int column;
    } cases[] = {
        { " blok=32", ERR_UsageError, "%try has no key blok; block= is the nearest", 2 },
        { " qqqqqq=32", ERR_UsageError, "%try has no key qqqqqq", 2 },
        { " block=32 block=64", ERR_UsageError, "block= is given twice", 11 },
        { " block=1025", ERR_ValueError, "block=1025: block is 1 to 1024 (threads of a block)", 8 },
        { " block=0", ERR_ValueError, "block=0: block is 1 to 1024", 8 },
        { " block=1..2000", ERR_ValueError, "block is 1 to 1024", 8 },
        { " block=", ERR_SyntaxError, "block= has no value", 2 },
        { " block=, cold=yes", ERR_SyntaxError, "block= has no value", 2 },
        { " block=2.5", ERR_UsageError, "an integer is needed", 8 },
        { " block=\"a\"", ERR_UsageError, "an integer is needed", 8 },
        { " size=-1", ERR_ValueError, "size is at least 0", 7 },
        { " share=2", ERR_ValueError, "share is 0 to 1", 8 },
        { " share=0/0.0", ERR_ValueError, "nan is no value", 8 },
        { " share=[0,1]", ERR_UsageError, "it takes one value", 8 },
        { " policy=gta", ERR_UsageError, "policy=gta is unknown; gto is the nearest", 9 },
        { " policy=[]", ERR_UsageError, "the list is empty", 9 },
        { " policy=[gto", ERR_SyntaxError, "never closed", 9 },
        { " cold=maybe", ERR_NameError, "maybe", 7 },
        { " cold=2", ERR_UsageError, "yes or no", 7 },
        { " a b", ERR_UsageError, "%try has no use for b", 4 },
        { " a block", ERR_UsageError, "block stands without a value", 4 },
        { " block=32 ->", ERR_SyntaxError, "-> needs the name", 11 },
        { " block=32 -> t u", ERR_SyntaxError, "which ends the line", 16 },
        { " block=1..1000 grid=[1,2] policy=[gto,lrr] device=[a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,"
          "s,t,u,v,w,x,y,z,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,a,b,c,d,e,f,g,h,i,j,"
          "k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,a,b,"
          "c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,"
          "u,v,w,x,y,z,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,a,b,c,d,e,f,g,h,i,j,k,l,"
          "m,n,o,p,q,r,s,t,u,v,w,x,y,z,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,a,b,c,d,"
          "e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z]",
          ERR_ValueError, "points: 65536 are allowed, all keys together", 21 },
        { " =3", ERR_SyntaxError, "=3 stands where a value should", 2 },
        { " ,", ERR_SyntaxError, "kernel= has no value", 2 },
        { " )", ERR_SyntaxError, "", 2 },
        { " block=(1", ERR_SyntaxError, "never closed", 8 },
        { " block=32\"", ERR_SyntaxError, "", 10 },
    };
    struct harness *h = *state;
    struct arena *arena = arena_new(0);
    struct buf out = { 0 };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = { 0 };
        int rc = parse(h, arena, cases[i].line, &out, &err);

        if (rc == 0 || err.name != cases[i].name || !strstr(err.text, cases[i].part) ||
            err.column != cases[i].column)
            print_message("%s\n  %s: %s (column %d) %s\n", cases[i].line, err_spelling(err.name),
                          err.text, err.column, buf_text(&out));
        assert_int_equal(rc, -1);
        assert_int_equal(err.name, cases[i].name);
        assert_non_null(strstr(err.text, cases[i].part));
        assert_int_equal(err.column, cases[i].column);
        err_done(&err);
    }
    buf_done(&out);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_and_words_are_read, harness_set_up, harness_tear_down),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named_with_its_limit, harness_set_up,
                                        harness_tear_down),
    };

    return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
