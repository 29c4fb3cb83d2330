/*
 * A battery: one small kernel for every form of instruction, over edge cases and random operands.
 *
 * The rows of forms_*.def expand to forms; a form becomes the text of a PTX kernel whose threads
 * are the cases: each loads its operands, runs the form and stores what came out. record.c runs the
 * kernels on a card and keeps the answers (tests/data/battery); tests/unit/test_battery.c runs the
 * same kernels on the interpreter and compares. Operands depend on their type, place and case only,
 * so that a new form leaves the answers of the others as they are.
 */
#ifndef WB_TESTS_BATTERY_BATTERY_H
#define WB_TESTS_BATTERY_BATTERY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATTERY_SOURCES = 16, /* operands of a case, 8 bytes each */
    BATTERY_RESULTS = 8,
    BATTERY_BLOCK = 128, /* threads of a block */
    BATTERY_SLOT = 64,   /* bytes of scratch of a lane, in each space */
    BATTERY_CASES = 384, /* at most */
    BATTERY_BODY = 1400, /* bytes of a form's text */
    BATTERY_CHOICES = 8,
    BATTERY_SHOWN = 4, /* cases of which an exact form keeps the values */
};

struct battery_row {
    const char *family, *types, *tolerance, *body;
};

static const struct battery_row BATTERY_ROWS[] = {
#define FORM(types, tolerance, body) { "number", types, tolerance, body },
#include "tests/battery/forms_number.def"
#undef FORM
#define FORM(types, tolerance, body) { "warp", types, tolerance, body },
#include "tests/battery/forms_warp.def"
#undef FORM
#define FORM(types, tolerance, body) { "matrix", types, tolerance, body },
#include "tests/battery/forms_matrix.def"
#undef FORM
};

struct battery_form {
    const struct battery_row *row;
    char body[BATTERY_BODY]; /* choices made; $0, $a still stand */
    char types[100];         /* "u32 : s16 s16": with the body, the form's name */
    char space[2][16];       /* the first two choices, for $A and $B */
    char results[BATTERY_RESULTS][8], sources[BATTERY_SOURCES][8];
    int result_count, source_count;
    int cases;
};

/* ---- Expansion ------------------------------------------------------------------------------ */

/* The choice that begins at s ("<a|b>"): its end, or NULL where there is none ("p<8>"). */
static const char *battery_choice_end(const char *s)
{
    const char *end = *s == '<' ? strchr(s, '>') : NULL;

    return end && memchr(s, '|', (size_t)(end - s)) ? end : NULL;
}

static int battery_combinations(const char *body)
{
    int n = 1;

    for (const char *s = body; *s; s++) {
        const char *end = battery_choice_end(s);
        int here = 1;

        for (const char *p = s; end && p < end; p++)
            here += *p == '|';
        n *= here;
    }
    return n;
}

static int battery_alternatives(const char *s, const char *end)
{
    int n = 1;

    for (; s < end; s++)
        n += *s == '|';
    return n;
}

/* Copies alternative `which` of the choice at s. */
static size_t battery_pick(const char *s, const char *end, int which, char *out, size_t size)
{
    size_t n = 0;

    for (s++; which > 0; s++)
        which -= *s == '|';
    while (s < end && *s != '|' && n + 1 < size)
        out[n++] = *s++;
    out[n] = '\0';
    return n;
}

static void battery_expand_body(const char *body, int combination, char *out,
                                char picks[BATTERY_CHOICES][40])
{
    size_t n = 0;
    int choice = 0;

    for (const char *s = body; *s && n < BATTERY_BODY - 64; s++) {
        const char *end = battery_choice_end(s);

        if (end) {
            int count = battery_alternatives(s, end);

            battery_pick(s, end, combination % count, picks[choice], sizeof picks[choice]);
            combination /= count;
            n += (size_t)snprintf(out + n, BATTERY_BODY - n, "%s", picks[choice++]);
            s = end;
        } else if (*s == '^') {
            n += (size_t)snprintf(out + n, BATTERY_BODY - n, "%s", picks[*++s - '1']);
        } else {
            out[n++] = *s;
        }
    }
    out[n] = '\0';
}

/* "w1" is the type twice as wide as choice 1. */
static void battery_type(const char *word, char picks[BATTERY_CHOICES][40], char out[8])
{
    bool is_wide = word[0] == 'w';
    const char *type = word + is_wide;

    if (type[0] >= '1' && type[0] <= '9' && !type[1])
        type = picks[type[0] - '1'];
    if (is_wide)
        snprintf(out, 8, "%c%d", type[0], 2 * atoi(type + 1));
    else
        snprintf(out, 8, "%.7s", type);
}

static void battery_types(struct battery_form *f, char picks[BATTERY_CHOICES][40])
{
    char words[200], *left = words;
    bool is_source = false;

    snprintf(words, sizeof words, "%s", f->row->types);
    for (char *word; (word = strsep(&left, " "));) {
        char *type = is_source ? f->sources[f->source_count] : f->results[f->result_count];

        if (!strcmp(word, ":")) {
            is_source = true;
            strcat(f->types, ": ");
            continue;
        }
        battery_type(word, picks, type);
        snprintf(f->types + strlen(f->types), sizeof f->types - strlen(f->types), "%s ", type);
        f->source_count += is_source;
        f->result_count += !is_source;
    }
}

static void battery_form(const struct battery_row *row, int combination, struct battery_form *f)
{
    char picks[BATTERY_CHOICES][40] = { "" };

    memset(f, 0, sizeof *f);
    f->row = row;
    battery_expand_body(row->body, combination, f->body, picks);
    for (int i = 0; i < 2; i++)
        snprintf(f->space[i], sizeof f->space[i], "%.15s", picks[i]);
    battery_types(f, picks);
    f->cases = f->source_count < 2 ? 128 : f->source_count == 2 ? 384 : 256;
}

/* ---- Kernel --------------------------------------------------------------------------------- */

/* Bits of the register of a type; 1: a predicate. */
static int battery_bits(const char *type)
{
    static const struct {
        const char *types;
        int bits;
    } WIDTHS[] = {
        { " pred ", 1 },
        { " u8 s8 b8 u16 s16 b16 f16 bf16 ", 16 },
        { " u64 s64 b64 f64 sh64w few64 di dr ", 64 },
    };
    char word[16];

    snprintf(word, sizeof word, " %s ", type);
    for (size_t i = 0; i < sizeof WIDTHS / sizeof *WIDTHS; i++)
        if (strstr(WIDTHS[i].types, word))
            return WIDTHS[i].bits;
    return 32;
}

/* Sources are named a, b, c, e, f, ... : $d would read like a result. */
static char battery_letter(int source)
{
    return (char)(source < 3 ? 'a' + source : 'b' + source);
}

static size_t battery_registers(const struct battery_form *f, char *out, size_t size)
{
    size_t n = 0;

    for (int i = 0; i < f->source_count + f->result_count; i++) {
        bool is_source = i < f->source_count;
        const char *type = is_source ? f->sources[i] : f->results[i - f->source_count];
        int bits = battery_bits(type);

        n += (size_t)snprintf(out + n, size - n,
                              bits == 1    ? ".reg .pred %%%s%c;\n"
                              : bits == 16 ? ".reg .b16 %%%s%c;\n"
                              : bits == 32 ? ".reg .b32 %%%s%c;\n"
                                           : ".reg .b64 %%%s%c;\n",
                              is_source ? "" : "q",
                              is_source ? battery_letter(i) : (char)('0' + i - f->source_count));
    }
    return n;
}

static size_t battery_loads(const struct battery_form *f, char *out, size_t size)
{
    size_t n = 0;

    for (int i = 0; i < f->source_count; i++) {
        int bits = battery_bits(f->sources[i]);

        if (bits == 1)
            n += (size_t)snprintf(out + n, size - n,
                                  "ld.global.b32 %%t, [%%I+%d];\nsetp.ne.b32 %%%c, %%t, 0;\n",
                                  8 * i, battery_letter(i));
        else
            n += (size_t)snprintf(out + n, size - n, "ld.global.b%d %%%c, [%%I+%d];\n", bits,
                                  battery_letter(i), 8 * i);
    }
    return n;
}

static size_t battery_stores(const struct battery_form *f, char *out, size_t size)
{
    static const char *const WIDEN[] = { "selp.b64 %%x, 1, 0, %%q%d;\n",
                                         "cvt.u64.u16 %%x, %%q%d;\n", "cvt.u64.u32 %%x, %%q%d;\n",
                                         "mov.b64 %%x, %%q%d;\n" };
    size_t n = 0;

    for (int i = 0; i < f->result_count; i++) {
        int bits = battery_bits(f->results[i]);

        n += (size_t)snprintf(out + n, size - n, WIDEN[(bits > 1) + (bits > 16) + (bits > 32)], i);
        n += (size_t)snprintf(out + n, size - n, "st.global.b64 [%%O+%d], %%x;\n", 8 * i);
    }
    return n;
}

/* The name that stands for a mark of the body: "$0", "$a", "$A". */
static const char *battery_place(const struct battery_form *f, char c, char name[8])
{
    if (c == 'A' || c == 'B') {
        const char *space = f->space[c - 'A'];

        return strstr(space, "shared") ? "%S" : strstr(space, "local") ? "%P" : "%G";
    }
    snprintf(name, 8, c == 'L' ? "form_L" : c >= '0' && c <= '9' ? "%%q%c" : "%%%c", c);
    return name;
}

static size_t battery_text(const struct battery_form *f, char *out, size_t size)
{
    char name[8];
    size_t n = 0;

    for (const char *s = f->body; *s && n + 16 < size; s++) {
        if (*s == '$' && s[1])
            n += (size_t)snprintf(out + n, size - n, "%s", battery_place(f, *++s, name));
        else
            out[n++] = *s;
    }
    out[n] = '\0';
    return n;
}

/*
 * The kernel form(in, out, scratch): scratch is BATTERY_SLOT bytes a thread. Returns its length.
 */
static size_t battery_kernel(const struct battery_form *f, char *out, size_t size)
{
    size_t n;

    n = (size_t)
        snprintf(out, size,
                 ".version 9.0\n.target sm_90\n.address_size 64\n"
                 ".visible .entry form(.param .u64 in, .param .u64 out, .param .u64 scratch)\n{\n"
                 ".shared .align 128 .b8 shared[%d];\n.local .align 16 .b8 local[%d];\n"
                 ".reg .b32 %%t, %%u, %%S, %%W, %%M;\n"
                 ".reg .b64 %%x, %%I, %%O, %%G, %%V, %%K, %%P;\n",
                 BATTERY_BLOCK * BATTERY_SLOT, BATTERY_SLOT);
    n += battery_registers(f, out + n, size - n);
    n += (size_t)
        snprintf(out + n, size - n,
                 "mov.u32 %%t, %%tid.x;\nmov.u32 %%S, shared;\n"
                 "mad.lo.u32 %%S, %%t, %d, %%S;\n"
                 "mov.u32 %%u, %%laneid;\nmul.lo.u32 %%W, %%u, %d;\nsub.u32 %%W, %%S, %%W;\n"
                 "mad.lo.u32 %%M, %%u, 32, %%W;\n"
                 "mov.u64 %%P, local;\n"
                 "mov.u32 %%u, %%ctaid.x;\nmad.lo.u32 %%t, %%u, %d, %%t;\n"
                 "ld.param.u64 %%I, [in];\nmad.wide.u32 %%I, %%t, %d, %%I;\n"
                 "ld.param.u64 %%O, [out];\nmad.wide.u32 %%O, %%t, %d, %%O;\n"
                 "ld.param.u64 %%G, [scratch];\nmad.wide.u32 %%G, %%t, %d, %%G;\n"
                 "mov.u32 %%u, %%laneid;\nmul.wide.u32 %%V, %%u, %d;\nsub.u64 %%V, %%G, %%V;\n"
                 "mad.wide.u32 %%K, %%u, 32, %%V;\n",
                 BATTERY_SLOT, BATTERY_SLOT, BATTERY_BLOCK, 8 * BATTERY_SOURCES,
                 8 * BATTERY_RESULTS, BATTERY_SLOT, BATTERY_SLOT);
    n += battery_loads(f, out + n, size - n);
    n += battery_text(f, out + n, size - n);
    n += (size_t)snprintf(out + n, size - n, "\n");
    n += battery_stores(f, out + n, size - n);
    return n + (size_t)snprintf(out + n, size - n, "ret;\n}\n");
}

/* ---- Operands ------------------------------------------------------------------------------- */

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t battery_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

enum { BATTERY_EDGES = 32 };

/* Edges of integers by width: the first 16 meet each other in every pair. */
static uint64_t battery_int_edge(int bits, int i)
{
    uint64_t top = 1ULL << (bits - 1);
    const uint64_t edges[BATTERY_EDGES] = {
        0,
        1,
        2,
        ~0ULL,
        top,
        top - 1,
        top + 1,
        ~1ULL,
        3,
        5,
        31,
        32,
        33,
        0x7f,
        0x80,
        100,
        0xff,
        0x100,
        63,
        64,
        65,
        7,
        ~6ULL,
        0x5555555555555555ULL,
        0xaaaaaaaaaaaaaaaaULL,
        0x7fff,
        0x8000,
        0xffff,
        0x10000,
        0x7fffffffULL,
        0x80000000ULL,
        0xffffffffULL,
    };

    return bits == 64 ? edges[i] : edges[i] & (2 * top - 1);
}

/* Edges of floats: by exponent bits e and mantissa bits m of a format. */
static uint64_t battery_float_edge(int e, int m, int i)
{
    uint64_t one = (uint64_t)((1 << (e - 1)) - 1) << m, inf = (uint64_t)((1 << e) - 1) << m;
    uint64_t sign = 1ULL << (e + m), half = 1ULL << (m - 1), ulp = 1;
    uint64_t two = one + (1ULL << m);
    const uint64_t edges[BATTERY_EDGES] = {
        0,
        sign,
        one,
        sign | one,
        1,
        sign | 1,
        1ULL << m,
        sign | (1ULL << m) | half,
        inf - 1,
        sign | (inf - 1),
        inf,
        sign | inf,
        inf | half,
        one | half,
        sign | two | half / 2,
        one - (1ULL << m),
        (1ULL << m) - 1,
        sign | ((1ULL << m) - 1),
        half,
        one + ulp,
        one - ulp,
        inf | half | 5,
        sign | inf | half | 9,
        inf | 1,
        two + (1ULL << m),
        sign | (two + half),
        (1ULL << m) + ulp,
        one + (8ULL << m) + half,
        sign | (one + (8ULL << m)),
        one + ((uint64_t)(m + 1) << m),
        one - (3ULL << m),
        sign | (one - ((uint64_t)m << m)),
    };

    return edges[i];
}

struct battery_format {
    const char *type;
    int exponent, mantissa; /* bits; 0: an integer */
    int width, lanes;
};

static const struct battery_format BATTERY_FORMATS[] = {
    { "f16", 5, 10, 16, 1 },  { "bf16", 8, 7, 16, 1 },   { "f32", 8, 23, 32, 1 },
    { "f64", 11, 52, 64, 1 }, { "f16x2", 5, 10, 16, 2 }, { "bf16x2", 8, 7, 16, 2 },
    { "u16x2", 0, 0, 16, 2 }, { "s16x2", 0, 0, 16, 2 },  { "u8", 0, 0, 16, 1 },
    { "s8", 0, 0, 16, 1 },    { "b8", 0, 0, 16, 1 },     { "u16", 0, 0, 16, 1 },
    { "s16", 0, 0, 16, 1 },   { "b16", 0, 0, 16, 1 },    { "u64", 0, 0, 64, 1 },
    { "s64", 0, 0, 64, 1 },   { "b64", 0, 0, 64, 1 },
};

static const struct battery_format *battery_format(const char *type)
{
    static const struct battery_format WORD = { "b32", 0, 0, 32, 1 };

    for (size_t i = 0; i < sizeof BATTERY_FORMATS / sizeof *BATTERY_FORMATS; i++)
        if (!strcmp(type, BATTERY_FORMATS[i].type))
            return &BATTERY_FORMATS[i];
    return &WORD;
}

static uint64_t battery_edge(const struct battery_format *t, int i)
{
    return t->exponent ? battery_float_edge(t->exponent, t->mantissa, i)
                       : battery_int_edge(t->width, i);
}

/* Any bits; floats near one; small integers. */
static uint64_t battery_random(const struct battery_format *t, uint64_t r, int style)
{
    uint64_t mask = t->width == 64 ? ~0ULL : (1ULL << t->width) - 1;

    if (style == 0)
        return r & mask;
    if (t->exponent) {
        uint64_t bias = (1U << (t->exponent - 1)) - 1, spread = style == 1 ? 4 : 24;
        uint64_t e = bias - spread / 2 + battery_mix(r) % spread;

        if (t->exponent == 5 && spread > 8)
            e = bias - 4 + battery_mix(r) % 8;
        return (r & 1ULL << (t->width - 1)) | e << t->mantissa |
               (r >> 3 & ((1ULL << t->mantissa) - 1));
    }
    return style == 1 ? r % 71 : (0 - r % 71) & mask;
}

/* Matrix operands: whole numbers in [-4, 4], or fractions in (-1, 1) with few bits. */
static uint64_t battery_matrix(const char *type, uint64_t r)
{
    bool is_whole = type[1] == 'i';
    int64_t k = is_whole ? (int64_t)(r % 9) - 4 : (int64_t)(r % 2047) - 1023;
    double v = is_whole ? (double)k : (double)k / 1024;
    float f = (float)v;
    uint32_t bits;
    uint64_t wide;

    memcpy(&bits, &f, sizeof bits);
    memcpy(&wide, &v, sizeof wide);
    switch (type[0]) {
    case 'd':
        return wide;
    case 'b':
        return bits >> 16; /* cut: whole numbers are exact */
    case 'h': {
        uint32_t e = bits >> 23 & 0xff;

        if (!(bits & 0x7fffffff))
            return bits >> 16 & 0x8000;
        return e < 113 ? bits >> 16 & 0x8000
                       : (bits >> 16 & 0x8000) | (e - 112) << 10 | (bits >> 13 & 0x3ff);
    }
    default:
        return type[0] == 't' ? bits & 0xffffe000U : bits;
    }
}

/* The operand of a case: operand i of the form, case k. */
static uint64_t battery_operand(const char *type, int count, int i, int k)
{
    const struct battery_format *t = battery_format(type);
    uint64_t r = battery_mix(battery_mix((uint64_t)(k + 1)) + (uint64_t)(i + 1) * 0x10001);
    uint64_t value = 0;

    if (!strcmp(type, "pred"))
        return r >> 7 & 1;
    if (!strncmp(type, "sh", 2)) /* a count or position: up to and past the width */
        return k % 16 == 15 ? (uint32_t)r : k % 4 == 3 ? r % 256 : r % 71;
    if (!strcmp(type, "lane"))
        return k % 8 == 7 ? r % 64 : (uint64_t)((k + (k / 32) * 3) % 32);
    if (!strcmp(type, "few32"))
        return r % 3 ? 5 : 0x80000000U;
    if (!strcmp(type, "few64"))
        return r % 3 ? 5 : 0x8000000000000005ULL;
    if (strlen(type) == 2 && strchr("ir", type[1]))
        return battery_matrix(type, r >> 20) |
               (strchr("hb", type[0]) ? battery_matrix(type, r & 0xfffff) << 16 : 0);

    for (int lane = 0; lane < t->lanes; lane++) {
        uint64_t one, at = battery_mix(r + (uint64_t)lane);

        if (count == 1 && k < 64 && !lane)
            one = battery_edge(t, k % BATTERY_EDGES);
        else if (count == 2 && k < 256)
            one = battery_edge(t, (lane ? k * 7 + i : i ? k / 16 : k) % 16);
        else if (count > 2 && k < 128)
            one = battery_edge(t, (int)(at % BATTERY_EDGES));
        else
            one = battery_random(t, at, k % 3);
        value |= one << (lane * t->width);
    }
    return value;
}

/* in: BATTERY_CASES * BATTERY_SOURCES; what the form does not read is 0. */
static void battery_operands(const struct battery_form *f, uint64_t *in)
{
    memset(in, 0, BATTERY_CASES * BATTERY_SOURCES * sizeof *in);
    for (int k = 0; k < f->cases; k++)
        for (int i = 0; i < f->source_count; i++)
            in[k * BATTERY_SOURCES + i] = battery_operand(f->sources[i], f->source_count, i, k);
}

/* ---- Answers -------------------------------------------------------------------------------- */

static bool battery_is_exact(const struct battery_form *f)
{
    return !f->row->tolerance[0] || !strcmp(f->row->tolerance, "nan");
}

/* A result as it is compared: with "nan", every NaN is one. */
static uint64_t battery_result(const struct battery_form *f, const uint64_t *out, int k, int i)
{
    uint64_t v = out[k * BATTERY_RESULTS + i];
    const struct battery_format *t = battery_format(f->results[i]);

    for (int l = 0; !strcmp(f->row->tolerance, "nan") && t->exponent && l < t->lanes; l++) {
        uint64_t inf = (uint64_t)((1 << t->exponent) - 1) << t->mantissa;
        uint64_t magnitude = (1ULL << (t->width - 1)) - 1, sign = magnitude + 1;

        if ((v >> l * t->width & magnitude) > inf)
            v = (v & ~((sign | magnitude) << l * t->width)) | (inf | 1ULL << (t->mantissa - 1))
                                                                  << l * t->width;
    }
    return v;
}

/* One of 64 characters that stands for all results of a case. */
static char battery_digest(const struct battery_form *f, const uint64_t *out, int k)
{
    static const char DIGITS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-+";
    uint64_t h = 0;

    for (int i = 0; i < f->result_count; i++)
        h = battery_mix(h ^ battery_result(f, out, k, i));
    return DIGITS[h >> 58];
}

/* A hash of all results of all cases. */
static uint64_t battery_hash(const struct battery_form *f, const uint64_t *out)
{
    uint64_t h = 0;

    for (int k = 0; k < f->cases; k++)
        for (int i = 0; i < f->result_count; i++)
            h = battery_mix(h ^ battery_result(f, out, k, i));
    return h;
}

#endif
