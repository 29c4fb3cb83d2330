#include "tests/gpu/fake/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 64, MOST_KERNELS = 64, ABI_OF_CUDA_13 = 8 };

struct variable {
    const char *name;
    size_t size;
    void *data;
};

struct image {
    char *file; /* a copy: the caller's may go once the module is loaded */
    size_t size;
    int sm;
    struct variable variables[MOST_VARIABLES];
    size_t variable_count;
    struct image_kernel kernels[MOST_KERNELS];
    size_t kernel_count;
};

static const Elf64_Ehdr *head(const struct image *m)
{
    return (const void *)m->file;
}

static const Elf64_Shdr *section(const struct image *m, unsigned i)
{
    return (const void *)(m->file + head(m)->e_shoff + i * sizeof(Elf64_Shdr));
}

static const char *section_name(const struct image *m, const Elf64_Shdr *s)
{
    return m->file + section(m, head(m)->e_shstrndx)->sh_offset + s->sh_name;
}

/* The file's end is not passed to cuModuleLoadData: it is behind its last header. */
static size_t file_size(const char *cubin)
{
    const Elf64_Ehdr *h = (const void *)cubin;
    size_t sections = h->e_shoff + h->e_shnum * sizeof(Elf64_Shdr);
    size_t programs = h->e_phoff + h->e_phnum * sizeof(Elf64_Phdr);

    return sections > programs ? sections : programs;
}

static void add_kernel(struct image *m, const char *name)
{
    struct image_kernel *k = &m->kernels[m->kernel_count];

    if (m->kernel_count == MOST_KERNELS)
        return;
    strncpy(k->name, name, sizeof(k->name) - 1);
    m->kernel_count++;
}

/* Memory of its own, as a card's module has, with the declaration's value in it. */
static void add_variable(struct image *m, const char *name, const Elf64_Sym *symbol)
{
    const Elf64_Shdr *s = section(m, symbol->st_shndx);
    struct variable *v = &m->variables[m->variable_count];

    if (m->variable_count == MOST_VARIABLES || symbol->st_size == 0)
        return;
    *v = (struct variable){ name, symbol->st_size, calloc(1, symbol->st_size) };
    if (!v->data)
        return;
    if (s->sh_type != SHT_NOBITS)
        memcpy(v->data, m->file + s->sh_offset + symbol->st_value, symbol->st_size);
    m->variable_count++;
}

static void read_symbols(struct image *m, const Elf64_Shdr *table)
{
    const Elf64_Sym *symbols = (const void *)(m->file + table->sh_offset);
    const char *names = m->file + section(m, table->sh_link)->sh_offset;

    for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
        const Elf64_Sym *symbol = &symbols[i];

        if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= head(m)->e_shnum)
            continue;
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
            add_kernel(m, names + symbol->st_name);
        else if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
                 strncmp(section_name(m, section(m, symbol->st_shndx)), ".nv.", 4) == 0)
            add_variable(m, names + symbol->st_name, symbol);
    }
}

struct image *image_open(const void *cubin)
{
    struct image *m;

    if (memcmp(cubin, ELFMAG, SELFMAG) != 0)
        return NULL;
    m = calloc(1, sizeof(*m));
    if (m) {
        m->size = file_size(cubin);
        m->file = malloc(m->size);
    }
    if (!m || !m->file) {
        free(m);
        return NULL;
    }
    memcpy(m->file, cubin, m->size);
    /* CUDA 13 moved the architecture from the first byte of the flags to the second. */
    m->sm = head(m)->e_ident[EI_ABIVERSION] >= ABI_OF_CUDA_13 ? head(m)->e_flags >> 8 & 0xff
                                                              : head(m)->e_flags & 0xff;
    for (unsigned i = 0; i < head(m)->e_shnum; i++)
        if (section(m, i)->sh_type == SHT_SYMTAB)
            read_symbols(m, section(m, i));
    return m;
}

void image_close(struct image *m)
{
    for (size_t i = 0; i < m->variable_count; i++)
        free(m->variables[i].data);
    free(m->file);
    free(m);
}

int image_cuda(const struct image *m)
{
    static const char release[] = "release ";
    const char *at = memmem(m->file, m->size, release, sizeof(release) - 1);

    return at ? atoi(at + sizeof(release) - 1) : 0;
}

int image_sm(const struct image *m)
{
    return m->sm;
}

const struct image_kernel *image_kernel(const struct image *m, const char *name)
{
    for (size_t i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, name) == 0)
            return &m->kernels[i];
    return NULL;
}

void *image_variable(struct image *m, const char *name, size_t *size)
{
    for (size_t i = 0; i < m->variable_count; i++)
        if (strcmp(m->variables[i].name, name) == 0) {
            *size = m->variables[i].size;
            return m->variables[i].data;
        }
    return NULL;
}
