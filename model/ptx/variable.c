/*
 * The name of a variable that lives in a register, from the DWARF that -G leaves in the PTX.
 *
 * .debug_loc has a list for each variable: from which label to which it is where. A register is
 * DW_OP_regx and its name as a number in base 256, the first letter highest ("%f8" is 0x256638),
 * in LEB128. The entry of .debug_info that points to the list is followed by the variable's name.
 *
 * Source: DWARF Debugging Information Format 2, sections 2.4 and 7.6; "PTX Writer's Guide to
 * Interoperability", 5: Debug information.
 */
#include "model/ptx/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { OP_REGX = 0x90, MAX_EXPRESSION = 16, LABEL_BYTES = 64 };

struct text {
    const char *at, *end;
};

/* The place of a register as DWARF has it; returns its bytes. */
static int encode(const char *name, uint8_t out[MAX_EXPRESSION])
{
    uint64_t v = 0;
    int n = 0;

    for (const char *c = name; *c; c++)
        v = v << 8 | (uint8_t)*c;
    out[n++] = OP_REGX;
    do {
        out[n++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
    } while (v);
    return n;
}

/* The register's name, where the instruction names it; of a row no other register has. */
static bool find_register(const struct function *f, const struct insn *in, uint32_t row, char *out,
                          size_t size)
{
    const struct ast_insn *ast = &f->ast->insns[in - f->insns];

    for (int i = 0; i < ast->operand_count; i++) {
        const struct operand *o = &ast->operands[i];
        const struct operand *r = o->kind == OPERAND_ADDRESS && o->count ? o->items : o;

        for (int k = 0; k < (o->kind == OPERAND_VECTOR ? o->count : 1); k++) {
            const struct operand *item = o->kind == OPERAND_VECTOR ? &o->items[k] : r;

            if (item->kind != OPERAND_REGISTER ||
                f->register_rows[item->symbol->first_id + item->index] != (int64_t)row)
                continue;
            if (item->symbol->count > 1)
                snprintf(out, size, "%s%d", item->symbol->name, item->index);
            else
                snprintf(out, size, "%s", item->symbol->name);
            return strlen(out) <= 8; /* of a number of 64 bits */
        }
    }
    return false;
}

static bool find_section(const struct ast_module *m, const char *name, struct text *out)
{
    const char *end = m->text.data + m->text.size, *at;

    at = memmem(m->text.data, m->text.size, name, strlen(name));
    at = at ? memchr(at, '{', (size_t)(end - at)) : NULL;
    if (!at)
        return false;
    out->at = at + 1;
    out->end = memchr(at, '}', (size_t)(end - at));
    return out->end;
}

/* The next ".bN value": its bytes and where the value starts; 0: none is left. */
static int next_item(struct text *t, const char **value)
{
    int bytes;

    while (t->end - t->at > 4 && memcmp(t->at, ".b", 2) != 0)
        t->at++;
    if (t->end - t->at <= 4)
        return 0;
    bytes = atoi(t->at + 2) / 8;
    while (t->at < t->end && *t->at != ' ' && *t->at != '\t')
        t->at++;
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
        t->at++;
    *value = t->at;
    while (t->at < t->end && *t->at != '\n')
        t->at++;
    return bytes;
}

/* Where a label stands in the text. */
static const char *place_of(const struct ast_module *m, const char *label)
{
    char name[LABEL_BYTES + 2];
    int n = (int)strcspn(label, "\r\n ");

    if (*label != '$' || n >= LABEL_BYTES)
        return NULL;
    snprintf(name, sizeof name, "\n%.*s:", n, label);
    return memmem(m->text.data, m->text.size, name, strlen(name));
}

static const char *line_of(const struct ast_module *m, int line)
{
    const char *at = m->text.data, *end = at + m->text.size;

    for (int i = 1; i < line && at; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return at;
}

/* The offset of the list that has the register at this place of the text; -1: none. */
static int64_t find_list(const struct ast_module *m, const uint8_t *expression, int length,
                         const char *here)
{
    struct text t;
    const char *from, *to, *value;
    int64_t at = 0, list = 0;

    if (!find_section(m, ".debug_loc\n", &t))
        return -1;
    while (next_item(&t, &from) == 8 && next_item(&t, &to) == 8) {
        int size = 0, same = 0;

        at += 16;
        if (*from != '$') { /* two zeros end a list */
            list = at;
            continue;
        }
        for (int i = 0; i < 2; i++)
            size += next_item(&t, &value) == 1 ? atoi(value) << (8 * i) : 0;
        for (int i = 0; i < size; i++)
            same += next_item(&t, &value) == 1 && i < length && atoi(value) == expression[i];
        at += 2 + size;
        if (size == length && same == length) {
            const char *start = place_of(m, from), *end = place_of(m, to);

            if (start && end && here > start && here < end)
                return list;
        }
    }
    return -1;
}

/* The letters behind the reference to a list: ".b8 116,111" or one a line, up to a zero. */
static bool read_name(struct text *t, char *out, size_t size)
{
    const char *value;
    size_t n = 0;

    while (next_item(t, &value) == 1) {
        for (const char *c = value; c < t->at;) {
            int letter = (int)strtol(c, (char **)&c, 10);

            if (!letter || n + 1 == size) {
                out[n] = '\0';
                return n > 0;
            }
            out[n++] = (char)letter;
            c += *c == ',';
            if (*c < '0' || *c > '9')
                break;
        }
    }
    return false;
}

bool report_variable(char *out, size_t size, const struct run *run, const struct function *f,
                     const struct insn *in, uint32_t row)
{
    const struct ast_module *m = &run->module->ast;
    char name[LABEL_BYTES], wanted[48];
    uint8_t expression[MAX_EXPRESSION];
    struct text t;
    const char *value;
    int64_t list;

    if (in < f->insns || in >= f->insns + f->insn_count ||
        !find_register(f, in, row, name, sizeof name))
        return false;
    list = find_list(m, expression, encode(name, expression), line_of(m, in->ptx_line));
    if (list < 0 || !find_section(m, ".debug_info\n", &t))
        return false;
    snprintf(wanted, sizeof wanted, list ? ".debug_loc+%" PRId64 : ".debug_loc", list);
    for (int bytes; (bytes = next_item(&t, &value)) != 0;)
        if (bytes == 4 && (size_t)(t.at - value) == strlen(wanted) &&
            !memcmp(value, wanted, strlen(wanted)))
            return read_name(&t, out, size);
    return false;
}
