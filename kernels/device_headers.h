/*
 * Headers that programs include and NVRTC does not have: those of the C and C++ standard libraries
 * and of CUDA's host side. Device code needs little of them.
 */
#ifndef WB_KERNELS_DEVICE_HEADERS_H
#define WB_KERNELS_DEVICE_HEADERS_H

#include <stddef.h>

struct device_header {
    const char *name; /* as in #include <name> */
    const char *text;
};

extern const struct device_header DEVICE_HEADERS[];
extern const size_t DEVICE_HEADER_COUNT;

#endif
