/*
 * Where the CUDA compiler library is: in a CUDA Toolkit, or in the wheels of a
 * virtual environment. The compiler child opens what this finds, `warpbook
 * doctor` shows it.
 */
#ifndef WB_KERNELS_TOOLKIT_H
#define WB_KERNELS_TOOLKIT_H

#include "model/base/base.h"

#include <stdbool.h>

enum { TOOLKIT_PATH = 1024 };

struct toolkit {
    char nvrtc[TOOLKIT_PATH];   /* path of libnvrtc.so.NN, or its bare name: the linker's search */
    char include[TOOLKIT_PATH]; /* folder with cuda_fp16.h; "": no headers found */
    char cccl[TOOLKIT_PATH];    /* folder with cuda/std; "": none (cooperative groups need it) */
    char origin[80];            /* "CUDA_HOME", "/usr/local/cuda", "nvcc on PATH", "wheel in ..." */
};

/*
 * Looks in this order: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, beside nvcc on PATH, the wheels
 * (nvidia-cuda-nvrtc) of $VIRTUAL_ENV, of the .venv beside or above this executable, and of
 * CONDA_PREFIX; last the linker's own search, without headers. Headers that the first place
 * lacks are taken from a later one. Returns false, with nvrtc "", when nothing was found in a
 * folder; the linker's search then is what is left.
 */
bool toolkit_find(struct toolkit *out);

/* Opens libnvrtc of the toolkit found, else by the linker's search. NULL, with the reason. */
void *toolkit_open_nvrtc(const struct toolkit *toolkit, char *reason, size_t capacity);

#endif
