/* The version that --version prints, the kernel reports and logs record. */
#ifndef WB_MODEL_BASE_VERSION_H
#define WB_MODEL_BASE_VERSION_H

#define WARPBOOK_VERSION "0.1.0"

/* The CUDA C that cells are written in: the release of NVRTC that Warpbook installs. */
#define WARPBOOK_CUDA_VERSION "13.0"

#endif
