/*
 * Types of elements: one table of base types makes all names, since the vector
 * types of CUDA follow a rule. A vector of 2 or 4 is aligned to its whole size up
 * to 16 bytes, so that one instruction can move it; a vector of 3 only to its number.
 */
#include "cells/buffer.h"

#include "cells/buffer_struct.h"
#include "cells/internal.h"

#include <stdio.h>

static const struct {
    const char *name;
    size_t bytes;
} SCALARS[] = {
#define X(kind, name, bytes) { name, bytes },
    SCALAR_KINDS(X)
#undef X
};

const char *scalar_name(enum scalar_kind kind)
{
    return (size_t)kind < COUNT(SCALARS) ? SCALARS[kind].name : "struct";
}

size_t scalar_bytes(enum scalar_kind kind)
{
    return (size_t)kind < COUNT(SCALARS) ? SCALARS[kind].bytes : 0;
}

bool scalar_is_float(enum scalar_kind kind)
{
    return kind == SCALAR_HALF || kind == SCALAR_BF16 || kind == SCALAR_FLOAT ||
           kind == SCALAR_DOUBLE;
}

/* Names that make vectors: "float" gives float1 to float4. longlong is long there. */
static const struct {
    const char *name;
    enum scalar_kind kind;
    int most; /* lanes; 1: no vector has this base */
} BASES[] = {
    { "char", SCALAR_CHAR, 4 },       { "uchar", SCALAR_UCHAR, 4 }, { "short", SCALAR_SHORT, 4 },
    { "ushort", SCALAR_USHORT, 4 },   { "int", SCALAR_INT, 4 },     { "uint", SCALAR_UINT, 4 },
    { "long", SCALAR_LONG, 4 },       { "ulong", SCALAR_ULONG, 4 }, { "longlong", SCALAR_LONG, 4 },
    { "ulonglong", SCALAR_ULONG, 4 }, { "float", SCALAR_FLOAT, 4 }, { "double", SCALAR_DOUBLE, 4 },
    { "half", SCALAR_HALF, 2 },       { "__half", SCALAR_HALF, 2 }, { "bf16", SCALAR_BF16, 1 },
    { "bool", SCALAR_BOOL, 1 },
};

/* Other spellings of one number, and of the vectors whose names have no rule. */
static const struct {
    const char *name;
    enum scalar_kind kind;
    int lanes;
    size_t align; /* 0: by the rule */
} ALIASES[] = {
    { "signed char", SCALAR_CHAR, 1, 0 },
    { "unsigned char", SCALAR_UCHAR, 1, 0 },
    { "unsigned short", SCALAR_USHORT, 1, 0 },
    { "short int", SCALAR_SHORT, 1, 0 },
    { "unsigned short int", SCALAR_USHORT, 1, 0 },
    { "signed", SCALAR_INT, 1, 0 },
    { "signed int", SCALAR_INT, 1, 0 },
    { "unsigned", SCALAR_UINT, 1, 0 },
    { "unsigned int", SCALAR_UINT, 1, 0 },
    { "long int", SCALAR_LONG, 1, 0 },
    { "long long", SCALAR_LONG, 1, 0 },
    { "long long int", SCALAR_LONG, 1, 0 },
    { "unsigned long", SCALAR_ULONG, 1, 0 },
    { "unsigned long int", SCALAR_ULONG, 1, 0 },
    { "unsigned long long", SCALAR_ULONG, 1, 0 },
    { "unsigned long long int", SCALAR_ULONG, 1, 0 },
    { "longlong", SCALAR_LONG, 1, 0 },
    { "ulonglong", SCALAR_ULONG, 1, 0 },
    { "int8_t", SCALAR_CHAR, 1, 0 },
    { "uint8_t", SCALAR_UCHAR, 1, 0 },
    { "int16_t", SCALAR_SHORT, 1, 0 },
    { "uint16_t", SCALAR_USHORT, 1, 0 },
    { "int32_t", SCALAR_INT, 1, 0 },
    { "uint32_t", SCALAR_UINT, 1, 0 },
    { "int64_t", SCALAR_LONG, 1, 0 },
    { "uint64_t", SCALAR_ULONG, 1, 0 },
    { "size_t", SCALAR_ULONG, 1, 0 },
    { "ptrdiff_t", SCALAR_LONG, 1, 0 },
    { "byte", SCALAR_UCHAR, 1, 0 },
    { "clock_t", SCALAR_LONG, 1, 0 },
    { "cuComplex", SCALAR_FLOAT, 2, 0 },
    { "cuFloatComplex", SCALAR_FLOAT, 2, 0 },
    { "cuDoubleComplex", SCALAR_DOUBLE, 2, 0 },
    { "cufftReal", SCALAR_FLOAT, 1, 0 },
    { "cufftDoubleReal", SCALAR_DOUBLE, 1, 0 },
    { "cufftComplex", SCALAR_FLOAT, 2, 0 },
    { "cufftDoubleComplex", SCALAR_DOUBLE, 2, 0 },
    /* A handle is a number; what reads a texture through it is refused where it is launched. */
    { "cudaTextureObject_t", SCALAR_ULONG, 1, 0 },
    { "cudaSurfaceObject_t", SCALAR_ULONG, 1, 0 },
    { "__nv_fp8_e4m3", SCALAR_UCHAR, 1, 0 },
    { "__nv_fp8_e5m2", SCALAR_UCHAR, 1, 0 },
    { "float16", SCALAR_HALF, 1, 0 },
    { "float32", SCALAR_FLOAT, 1, 0 },
    { "float64", SCALAR_DOUBLE, 1, 0 },
    { "nv_bfloat16", SCALAR_BF16, 1, 0 },
    { "__nv_bfloat16", SCALAR_BF16, 1, 0 },
    { "bfloat16", SCALAR_BF16, 1, 0 },
    { "nv_bfloat162", SCALAR_BF16, 2, 0 },
    { "__nv_bfloat162", SCALAR_BF16, 2, 0 },
    { "bf162", SCALAR_BF16, 2, 0 },
    { "bf16x2", SCALAR_BF16, 2, 0 },
    { "long4_16a", SCALAR_LONG, 4, 16 },
    { "long4_32a", SCALAR_LONG, 4, 32 },
    { "ulong4_16a", SCALAR_ULONG, 4, 16 },
    { "ulong4_32a", SCALAR_ULONG, 4, 32 },
    { "longlong4_16a", SCALAR_LONG, 4, 16 },
    { "longlong4_32a", SCALAR_LONG, 4, 32 },
    { "ulonglong4_16a", SCALAR_ULONG, 4, 16 },
    { "ulonglong4_32a", SCALAR_ULONG, 4, 32 },
    { "double4_16a", SCALAR_DOUBLE, 4, 16 },
    { "double4_32a", SCALAR_DOUBLE, 4, 32 },
};

static size_t vector_align(size_t bytes, int lanes)
{
    size_t whole = bytes * (size_t)lanes;

    return lanes == 3 ? bytes : whole < 16 ? whole : 16;
}

static void give(struct element_type *out, const char *name, enum scalar_kind kind, int lanes,
                 size_t align)
{
    size_t bytes = scalar_bytes(kind);

    *out = (struct element_type){ .name = name,
                                  .kind = kind,
                                  .lanes = lanes,
                                  .bytes = bytes * (size_t)lanes,
                                  .align = align        ? align
                                           : lanes == 1 ? bytes
                                                        : vector_align(bytes, lanes) };
}

bool element_type_builtin(const char *name, struct element_type *out)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < COUNT(ALIASES); i++)
        if (strcmp(ALIASES[i].name, name) == 0) {
            give(out, name, ALIASES[i].kind, ALIASES[i].lanes, ALIASES[i].align);
            return true;
        }
    for (size_t i = 0; i < COUNT(BASES); i++) {
        size_t base = strlen(BASES[i].name);

        if (strncmp(BASES[i].name, name, base) != 0)
            continue;
        if (n == base) {
            give(out, name, BASES[i].kind, 1, 0);
            return true;
        }
        if (n == base + 1 && name[base] >= '1' && name[base] - '0' <= BASES[i].most &&
            BASES[i].most > 1) {
            give(out, name, BASES[i].kind, name[base] - '0', 0);
            return true;
        }
    }
    return false;
}

size_t element_type_names(const char **names, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < COUNT(BASES) && n < most; i++)
        if (strcmp(BASES[i].name, "__half") && strncmp(BASES[i].name, "longlong", 8) &&
            strncmp(BASES[i].name, "ulonglong", 9))
            names[n++] = BASES[i].name;
    return n;
}

static int unknown_type(struct session *session, const char *name, struct err *err)
{
    struct nearest near = { .wanted = name };
    const struct cuda *cuda = session_cuda(session);

    for (size_t i = 0; i < COUNT(BASES); i++)
        nearest_try(&near, BASES[i].name);
    for (size_t i = 0; i < COUNT(ALIASES); i++)
        nearest_try(&near, ALIASES[i].name);
    for (size_t i = 0; i < cuda_name_count(cuda); i++)
        if (cuda_name_at(cuda, i).kind == CUDA_TYPE)
            nearest_try(&near, cuda_name_at(cuda, i).name);
    if (near.best)
        err_set(err, ERR_NameError, "no type is called %.60s; %s is the nearest", name, near.best);
    else
        err_set(err, ERR_NameError, "no type is called %.60s", name);
    return err_next(err,
                    "types: char uchar short ushort int uint long ulong half bf16 float double "
                    "bool, float4 and its like, structs of earlier cells");
}

int element_type_find(struct session *session, const char *name, struct element_type *out,
                      struct err *err)
{
    if (element_type_builtin(name, out))
        return 0;
    if (strncmp(name, "struct ", 7) == 0)
        name += 7;
    if (struct_type_find(session, name, out, err) == 0)
        return 0;
    return err->name ? -1 : unknown_type(session, name, err);
}
