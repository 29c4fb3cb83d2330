/*
 * What a kernel takes, read from machine code: a cubin is an ELF file whose
 * .nv.info section lists registers and stack of every function, and whose
 * .nv.shared sections are as large as a kernel's static shared memory. Spills are
 * nowhere in it: they come from the assembler's report.
 */
#ifndef WB_KERNELS_CUBIN_H
#define WB_KERNELS_CUBIN_H

#include "model/base/base.h"
#include "model/base/err.h"

/* One kernel of a cubin. symbol is borrowed from the cubin's bytes. */
struct cubin_kernel {
    const char *symbol;
    int registers;    /* per thread */
    int static_bytes; /* shared memory that it declares */
    int stack_bytes;  /* local memory per thread, its callees included */
};

/*
 * Calls each(arg, kernel) for every kernel, in the order of the symbol table. Fails with
 * InternalError for bytes that are no cubin; every offset is checked.
 *
 * Source: ELF-64; the attribute numbers and the symbol's entry bit as `nvdisasm -elf` names
 * them (EIATTR_REGCOUNT 0x2f, EIATTR_MIN_STACK_SIZE 0x12, STO_CUDA_ENTRY 0x10). From compute
 * capability 9.0 a .nv.shared section starts with the 1,024 bytes that the system reserves.
 */
int cubin_each_kernel(struct bytes cubin, void (*each)(void *arg, const struct cubin_kernel *),
                      void *arg, struct err *err) MUST_CHECK;

/* What machine code is made by and for; 0: it does not say. */
struct cubin_origin {
    int toolkit_major, toolkit_minor; /* 13, 0 */
    int sm;                           /* 90 for sm_90 */
};

/*
 * Source: the text "release 13.0" in the note .note.nv.tkinfo; the low byte of e_flags, and since
 * CUDA 13 (ABI version 8) its second byte, as `nvdisasm -elf` and `readelf -h` show them.
 */
struct cubin_origin cubin_origin_of(struct bytes cubin);

/*
 * Spilled bytes of one kernel in the assembler's verbose report (`ptxas -v`): the numbers
 * before "bytes spill stores" and "bytes spill loads" below the line that names it. 0 and 0
 * when it is not there.
 */
void ptxas_spills(const char *log, const char *symbol, int *store_bytes, int *load_bytes);

#endif
