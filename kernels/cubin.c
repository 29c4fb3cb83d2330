/*
 * The reader never trusts an offset: sections are cut out of the file with their
 * bounds checked, and everything else is read from such a section.
 */
#include "kernels/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    ATTRIBUTE_MIN_STACK = 0x12,
    ATTRIBUTE_REGISTERS = 0x2f,
    FORMAT_SIZED = 4,    /* .nv.info: a 16-bit size follows, then so many bytes */
    SYMBOL_ENTRY = 0x10, /* st_other of a kernel */
    RESERVED_BYTES = 1024,
    ABI_OF_CUDA_13 = 8,
};

struct elf {
    struct bytes file, names, strings, symbols, info;
    Elf64_Ehdr head;
    bool has_reserved; /* the shared sections begin with what the system keeps */
};

static bool cut(struct bytes file, uint64_t offset, uint64_t size, struct bytes *out)
{
    if (offset > file.size || size > file.size - offset)
        return false;
    *out = (struct bytes){ file.data + offset, size };
    return true;
}

static bool section_at(const struct elf *elf, unsigned i, Elf64_Shdr *out)
{
    struct bytes row;

    if (i >= elf->head.e_shnum || elf->head.e_shentsize != sizeof(*out) ||
        elf->head.e_shoff > elf->file.size ||
        !cut(elf->file, elf->head.e_shoff + (uint64_t)i * sizeof(*out), sizeof(*out), &row))
        return false;
    memcpy(out, row.data, sizeof(*out));
    return true;
}

/* A terminated text inside a string section, or "". */
static const char *text_at(struct bytes strings, uint32_t offset)
{
    if (offset >= strings.size || !memchr(strings.data + offset, 0, strings.size - offset))
        return "";
    return strings.data + offset;
}

/* Takes the sections that the reader needs; false when the file is damaged. */
static bool take_section(struct elf *elf, const Elf64_Shdr *s)
{
    const char *name = text_at(elf->names, s->sh_name);
    Elf64_Shdr strings;

    if (s->sh_type == SHT_SYMTAB)
        return cut(elf->file, s->sh_offset, s->sh_size, &elf->symbols) &&
               section_at(elf, s->sh_link, &strings) &&
               cut(elf->file, strings.sh_offset, strings.sh_size, &elf->strings);
    if (strcmp(name, ".nv.info") == 0)
        return cut(elf->file, s->sh_offset, s->sh_size, &elf->info);
    if (strncmp(name, ".nv.shared.reserved", 19) == 0)
        elf->has_reserved = true;
    return true;
}

static bool open_elf(struct bytes file, struct elf *elf)
{
    Elf64_Shdr s;

    *elf = (struct elf){ .file = file };
    if (file.size < sizeof(elf->head))
        return false;
    memcpy(&elf->head, file.data, sizeof(elf->head));
    if (memcmp(elf->head.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->head.e_ident[EI_CLASS] != ELFCLASS64 || !section_at(elf, elf->head.e_shstrndx, &s) ||
        !cut(file, s.sh_offset, s.sh_size, &elf->names))
        return false;
    for (unsigned i = 0; i < elf->head.e_shnum; i++)
        if (!section_at(elf, i, &s) || !take_section(elf, &s))
            return false;
    return elf->symbols.data && elf->info.data;
}

/* The attribute's value for a symbol: pairs of symbol index and value in .nv.info. */
static int attribute(const struct elf *elf, unsigned code, uint32_t symbol)
{
    struct bytes left = elf->info;

    while (left.size >= 4) {
        unsigned format = (unsigned char)left.data[0], tag = (unsigned char)left.data[1];
        uint16_t size = 0;
        uint32_t pair[2];

        memcpy(&size, left.data + 2, sizeof(size));
        if (format != FORMAT_SIZED)
            size = 0; /* the value is in the head itself */
        if (size > left.size - 4)
            return 0;
        if (format == FORMAT_SIZED && tag == code && size >= sizeof(pair)) {
            memcpy(pair, left.data + 4, sizeof(pair));
            if (pair[0] == symbol)
                return (int)pair[1];
        }
        left.data += 4 + size;
        left.size -= 4 + (size_t)size;
    }
    return 0;
}

static int shared_bytes(const struct elf *elf, const char *symbol)
{
    static const char prefix[] = ".nv.shared.";
    Elf64_Shdr s;

    for (unsigned i = 0; i < elf->head.e_shnum; i++) {
        const char *name;

        if (!section_at(elf, i, &s))
            break;
        name = text_at(elf->names, s.sh_name);
        if (strncmp(name, prefix, strlen(prefix)) != 0 ||
            strcmp(name + strlen(prefix), symbol) != 0)
            continue;
        if (elf->has_reserved && s.sh_size >= RESERVED_BYTES)
            return (int)(s.sh_size - RESERVED_BYTES);
        return (int)s.sh_size;
    }
    return 0;
}

int cubin_each_kernel(struct bytes cubin, void (*each)(void *arg, const struct cubin_kernel *),
                      void *arg, struct err *err)
{
    struct elf elf;

    if (!open_elf(cubin, &elf))
        return err_set(err, ERR_InternalError, "the compiler's cubin (%zu bytes) cannot be read",
                       cubin.size);
    for (size_t i = 0; i < elf.symbols.size / sizeof(Elf64_Sym); i++) {
        struct cubin_kernel k;
        Elf64_Sym symbol;

        memcpy(&symbol, elf.symbols.data + i * sizeof(symbol), sizeof(symbol));
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !(symbol.st_other & SYMBOL_ENTRY) ||
            symbol.st_shndx == SHN_UNDEF)
            continue;
        k.symbol = text_at(elf.strings, symbol.st_name);
        k.registers = attribute(&elf, ATTRIBUTE_REGISTERS, (uint32_t)i);
        k.stack_bytes = attribute(&elf, ATTRIBUTE_MIN_STACK, (uint32_t)i);
        k.static_bytes = shared_bytes(&elf, k.symbol);
        each(arg, &k);
    }
    return 0;
}

struct cubin_origin cubin_origin_of(struct bytes cubin)
{
    static const char release[] = "release ";
    struct cubin_origin out = { 0 };
    char version[16] = "";
    const char *at = memmem(cubin.data, cubin.size, release, strlen(release));
    struct elf elf;

    if (!open_elf(cubin, &elf))
        return out;
    out.sm = elf.head.e_ident[EI_ABIVERSION] >= ABI_OF_CUDA_13 ? elf.head.e_flags >> 8 & 0xff
                                                               : elf.head.e_flags & 0xff;
    if (at) {
        size_t n = cubin.size - (size_t)(at - cubin.data) - strlen(release);

        memcpy(version, at + strlen(release), n < sizeof(version) ? n : sizeof(version) - 1);
        if (sscanf(version, "%d.%d", &out.toolkit_major, &out.toolkit_minor) != 2)
            out.toolkit_major = out.toolkit_minor = 0;
    }
    return out;
}

/* The number that stands before a phrase, looked for between from and to; else 0. */
static int number_before(const char *from, const char *to, const char *phrase)
{
    const char *at = strstr(from, phrase);

    if (!at || at >= to)
        return 0;
    while (at > from && at[-1] == ' ')
        at--;
    while (at > from && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return atoi(at);
}

void ptxas_spills(const char *log, const char *symbol, int *store_bytes, int *load_bytes)
{
    static const char heading[] = "Compiling entry function '";
    size_t n = strlen(symbol);

    *store_bytes = *load_bytes = 0;
    for (const char *at = strstr(log, heading); at; at = strstr(at, heading)) {
        const char *end;

        at += strlen(heading);
        if (strncmp(at, symbol, n) != 0 || at[n] != '\'')
            continue;
        end = strstr(at, heading);
        if (!end)
            end = at + strlen(at);
        *store_bytes = number_before(at, end, "bytes spill stores");
        *load_bytes = number_before(at, end, "bytes spill loads");
        return;
    }
}
