/*
 * Where CUDA C ends and Warpbook's own lines begin. A case's expectation lists
 * the segments: kind, first line, text with newlines as '|'.
 */
#include "cells/segment.h"
#include "model/base/buf.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

static const char KINDS[] = "CMXALDShH!";

static void put_piece(struct buf *out, struct bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        buf_putc(out, text.data[i] == '\n' ? '|' : text.data[i]);
}

static void describe(const char *code, struct buf *out)
{
    struct arena *arena = arena_new(0);
    struct segmenter s;
    struct segment segment;
    struct err err = { 0 };
    bool found = true;

    buf_cut(out, 0);
    assert_int_equal(segmenter_init(&s, (struct source){ bytes_of(code), 1, 1 }, arena, &err), 0);
    while (found) {
        if (segmenter_next(&s, &segment, &found, &err) < 0) {
            buf_printf(out, "[%s]", err_spelling(err.name));
            break;
        }
        if (!found)
            break;
        buf_printf(out, "[%c%d ", KINDS[segment.kind], segment.text.line);
        put_piece(out, segment.text.text);
        if (segment.kind == SEGMENT_CELL_MAGIC) {
            buf_printf(out, "][body%d ", segment.body.line);
            put_piece(out, segment.body.text);
        }
        buf_putc(out, ']');
    }
    err_done(&err);
    arena_free(&arena);
}

static void a_cell_is_cut_where_the_language_says(void **state)
{
    static const struct {
        const char *code, *segments;
    } cases[] = {
        { "", "" },
        { "\n\n", "" },
        { "// only\n/* a\nb */\n# words", "" },
        { "%print 1", "[M1 %print 1]" },
        { "#ifdef X\nfloat t = 0;\ndim3 g(1);\n#if 1\n#endif\nn = 2\n#endif\nint m = 3;\n",
          "[C1 #ifdef X|float t = 0;|dim3 g(1);|#if 1|#endif|n = 2|#endif|][S8 int m = 3;]" },
        { "dim3 f(int n)\n{ return n; }\ndim3 g(2);",
          "[C1 dim3 f(int n)|{ return n; }|][D3 dim3 g(2);]" },
        { "%a\n%b\n", "[M1 %a][M2 %b]" },
        { "int a;\n%p", "[C1 int a;|][M2 %p]" },
        { "%p\nint a;\n%q\nint b;", "[M1 %p][C2 int a;|][M3 %q][C4 int b;]" },
        /* A remainder is C: in braces, after an operand, indented. */
        { "int a = b\n% 32;", "[S1 int a = b|% 32;]" },
        { "int a = b\n%c;", "[S1 int a = b|%c;]" },
        { "int a = b\n  % 32;", "[S1 int a = b|  % 32;]" },
        { "void f() {\n%x\n}", "[C1 void f() {|%x|}]" },
        { "void f() { g(1\n%x); }\n%p", "[C1 void f() { g(1|%x); }|][M3 %p]" },
        { " %p", "[C1  %p]" },
        { "%", "[C1 %]" },
        { "% x", "[C1 % x]" },
        /* What ends a declaration: ; } a directive. */
        { "struct s { int a; };\n%p", "[C1 struct s { int a; };|][M2 %p]" },
        { "void f() { }\n%p", "[C1 void f() { }|][M2 %p]" },
        { "#define N 5\n%p", "[C1 #define N 5|][M2 %p]" },
        { "#define BEGIN {\n%p", "[C1 #define BEGIN {|][M2 %p]" },
        { "#define M \\\n  5\n%p", "[C1 #define M \\|  5|][M3 %p]" },
        { "int f(\n#define N 5\n%x\n);", "[C1 int f(|#define N 5|%x|);]" },
        { "void f()\n#define N 5\n%p", "[C1 void f()|#define N 5|][M3 %p]" },
        /* Comments and texts hide everything. */
        { "/* %p\n%q */\n%r", "[M3 %r]" },
        { "int a; // %p {\n%q", "[C1 int a; // %p {|][M2 %q]" },
        { "int a; /* {\n%p */\n%q", "[C1 int a; /* {|%p */|][M3 %q]" },
        { "const char *s = \"{\\\"\";\n%p", "[C1 const char *s = \"{\\\"\";|][M2 %p]" },
        { "char c = '{';\n%p", "[S1 char c = '{';][M2 %p]" },
        { "int a = 1'000'000;\n%p", "[S1 int a = 1'000'000;][M2 %p]" },
        { "auto s = R\"x(\n%p\n)\" { )x\";\n%q", "[C1 auto s = R\"x(|%p|)\" { )x\";|][M4 %q]" },
        { "// a \\\n%p", "[M2 %p]" },
        /* Continued lines. */
        { "%p a \\\n  b\n%q", "[M1 %p a \\|  b][M3 %q]" },
        { "%p [1,\n 2]\n%q", "[M1 %p [1,| 2]][M3 %q]" },
        { "%p (1 + // (\n 2)\nint a;", "[M1 %p (1 + // (| 2)][C3 int a;]" },
        { "%p (1\n%q", "[M1 %p (1][M2 %q]" },
        { "%p \"(\"\n%q", "[M1 %p \"(\"][M2 %q]" },
        { "%echo :-(\n%q", "[M1 %echo :-(][M2 %q]" },
        { "%p a # (\n%q", "[M1 %p a # (][M2 %q]" },
        /* Assignments. */
        { "n = 1", "[A1 n = 1]" },
        { "n=1\nm =2", "[A1 n=1][A2 m =2]" },
        { "# Parameters\nn = 1\n", "[A2 n = 1]" },
        { "var n = 1;", "[A1 var n = 1;]" },
        { "x = [1,\n2]", "[A1 x = [1,|2]]" },
        { "n == 1", "[C1 n == 1]" },
        { "int\nn = 1;", "[C1 int|n = 1;]" },
        { "int n = 1;", "[S1 int n = 1;]" },
        { "unsigned int n = 1, m = 2; float f = 2.0f;",
          "[S1 unsigned int n = 1, m = 2;][S1 float f = 2.0f;]" },
        { "const int n = 1;\nint a[2] = { 1, 2 };\nint *p = 0;",
          "[C1 const int n = 1;|int a[2] = { 1, 2 };|int *p = 0;]" },
        { "void f() {\nn = 1;\n}", "[C1 void f() {|n = 1;|}]" },
        { "x = %occ a=1\nint b;", "[A1 x = %occ a=1][C2 int b;]" },
        /* Launches. */
        { "k<<<1, 32>>>(x);", "[L1 k<<<1, 32>>>(x);]" },
        { "  k <<<1, 32>>>(x);", "[L1   k <<<1, 32>>>(x);]" },
        { "a::k<float, 4><<<1, 32>>>(x);", "[L1 a::k<float, 4><<<1, 32>>>(x);]" },
        { "k<<<1, 32>>>(x,\n y);\n%p", "[L1 k<<<1, 32>>>(x,| y);][M3 %p]" },
        { "k<<<1,\n 32>>>(x);\n%p", "[L1 k<<<1,| 32>>>(x);][M3 %p]" },
        { "k<<<1, 32>>>\n(x); // c\n%p", "[L1 k<<<1, 32>>>|(x);][M3 %p]" },
        { "a<<<1,1>>>(); b<<<1,1>>>()\n%p", "[L1 a<<<1,1>>>();][L1 b<<<1,1>>>()][M2 %p]" },
        { "a<<<1,1>>>(\";\"); -> t\nint b;", "[L1 a<<<1,1>>>(\";\"); -> t][C2 int b;]" },
        { "k<<<1,\n%p", "[L1 k<<<1,][M2 %p]" },
        { "dim3 b(16,\n16); dim3 g;", "[D1 dim3 b(16,|16);][D2 dim3 g;]" },
        { "cudaDeviceSynchronize(); int a;", "[h1 cudaDeviceSynchronize();][C1 int a;]" },
        { "cudaError_t e;", "[C1 cudaError_t e;]" },
        { "int a = 1 << 2;", "[S1 int a = 1 << 2;]" },
        { "void f() {\n k<<<1,1>>>();\n}", "[C1 void f() {| k<<<1,1>>>();|}]" },
        { "vec<int> v;", "[C1 vec<int> v;]" },
        /* '#' lines. */
        { "# This cell was removed\nint a;", "[C1                        |int a;]" },
        { "void f() {\n  # YOUR CODE HERE\n}", "[C1 void f() {|                  |}]" },
        { "#include <x>\n# include <y>", "[C1 #include <x>|# include <y>]" },
        { "#\n# 12 \"f\"\n#12", "[C1 #|# 12 \"f\"|#12]" },
        { "#!shebang", "" },
        /* Help, shells, cell magics. */
        { "?occ", "[H1 ?occ]" },
        { "occ?", "[H1 occ?]" },
        { "%occ??", "[H1 %occ??]" },
        { "int a = b\n? 1 : 2;", "[S1 int a = b|? 1 : 2;]" },
        { "!ls (", "[!1 !ls (]" },
        { "%%for n in [1]\na\n%b", "[X1 %%for n in [1]][body2 a|%b]" },
        { "\n// c\n# d\n%%for x\n\nb", "[X4 %%for x][body5 |b]" },
        { "%%for", "[X1 %%for][body1 ]" },
        { "%a\n%%for x", "[M1 %a][SyntaxError]" },
        { "int a;\n%%for x", "[C1 int a;|][SyntaxError]" },
        { "%a\r\nint b;\r\n", "[M1 %a\r][C2 int b;\r|]" },
    };
    struct buf out = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        describe(cases[i].code, &out);
        if (strcmp(buf_text(&out), cases[i].segments) != 0)
            print_message("case: %s\n", cases[i].code);
        assert_string_equal(buf_text(&out), cases[i].segments);
    }
    buf_done(&out);
}

static void main_is_found_at_top_level_only(void **state)
{
    static const struct {
        const char *code;
        bool has_main;
    } cases[] = {
        { "int main() { }", true },        { "int main (int c, char **v) { }", true },
        { "void f() { main(); }", false }, { "int domain(int);", false },
        { "// main()\nint a;", false },    { "int main;", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(0);
        struct source source = { bytes_of(cases[i].code), 1, 1 };
        struct segmenter s;
        struct segment segment;
        struct err err = { 0 };
        bool found;

        assert_int_equal(segmenter_init(&s, source, arena, &err), 0);
        assert_int_equal(segmenter_next(&s, &segment, &found, &err), 0);
        assert_true(found);
        assert_int_equal(segment.main_at < segment.text.text.size, cases[i].has_main);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_cut_where_the_language_says),
        cmocka_unit_test(main_is_found_at_top_level_only),
    };

    return cmocka_run_group_tests_name("segment", tests, NULL, NULL);
}
