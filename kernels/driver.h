/*
 * The CUDA driver's functions, found in libcuda.so.1 at run time: the binary never
 * links it and starts where there is none. Names and types follow cuda.h.
 */
#ifndef WB_KERNELS_DRIVER_H
#define WB_KERNELS_DRIVER_H

#include "model/base/base.h"
#include "model/base/err.h"

typedef int cu_result;
typedef int cu_device;
typedef uint64_t cu_address;
typedef struct cu_context *cu_context;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_event *cu_event;
typedef struct cu_stream *cu_stream;
typedef struct cu_graph *cu_graph;
typedef struct cu_graph_exec *cu_graph_exec;

enum { CU_OK = 0, CU_OUT_OF_MEMORY = 2, CU_NO_DEVICE = 100, CU_NOT_READY = 600 };

/* Each: the field's name, the symbol as libcuda exports it, the parameters. */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(Init, "cuInit", (unsigned flags))                                                            \
    X(DriverGetVersion, "cuDriverGetVersion", (int *))                                             \
    X(GetErrorName, "cuGetErrorName", (cu_result, const char **))                                  \
    X(GetErrorString, "cuGetErrorString", (cu_result, const char **))                              \
    X(DeviceGetCount, "cuDeviceGetCount", (int *))                                                 \
    X(DeviceGet, "cuDeviceGet", (cu_device *, int index))                                          \
    X(DeviceGetName, "cuDeviceGetName", (char *, int capacity, cu_device))                         \
    X(DeviceGetUuid, "cuDeviceGetUuid_v2", (unsigned char *uuid, cu_device))                       \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, cu_device))                                \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int attribute, cu_device))               \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (cu_context *, cu_device))               \
    X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (cu_device))                        \
    X(CtxSetCurrent, "cuCtxSetCurrent", (cu_context))                                              \
    X(CtxSynchronize, "cuCtxSynchronize", (void))                                                  \
    X(ModuleLoadData, "cuModuleLoadData", (cu_module *, const void *image))                        \
    X(ModuleUnload, "cuModuleUnload", (cu_module))                                                 \
    X(ModuleGetGlobal, "cuModuleGetGlobal_v2", (cu_address *, size_t *, cu_module, const char *))  \
    X(ModuleGetFunction, "cuModuleGetFunction", (cu_function *, cu_module, const char *))          \
    X(FuncSetAttribute, "cuFuncSetAttribute", (cu_function, int attribute, int value))             \
    X(OccupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                     \
      (int *, cu_function, int block, size_t dynamic))                                             \
    X(MemAlloc, "cuMemAlloc_v2", (cu_address *, size_t))                                           \
    X(MemGetInfo, "cuMemGetInfo_v2", (size_t * left, size_t * total))                              \
    X(MemFree, "cuMemFree_v2", (cu_address))                                                       \
    X(MemcpyHtoD, "cuMemcpyHtoD_v2", (cu_address, const void *, size_t))                           \
    X(MemcpyDtoH, "cuMemcpyDtoH_v2", (void *, cu_address, size_t))                                 \
    X(MemsetD8Async, "cuMemsetD8Async", (cu_address, unsigned char, size_t, cu_stream))            \
    X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (cu_address, cu_address, size_t, cu_stream))        \
    X(LaunchKernel, "cuLaunchKernel",                                                              \
      (cu_function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,  \
       unsigned dynamic, cu_stream, void **parameters, void **extra))                              \
    X(EventCreate, "cuEventCreate", (cu_event *, unsigned flags))                                  \
    X(EventDestroy, "cuEventDestroy_v2", (cu_event))                                               \
    X(EventRecord, "cuEventRecord", (cu_event, cu_stream))                                         \
    X(EventQuery, "cuEventQuery", (cu_event))                                                      \
    X(EventSynchronize, "cuEventSynchronize", (cu_event))                                          \
    X(EventElapsedTime, "cuEventElapsedTime", (float *ms, cu_event start, cu_event stop))

/* The same that a driver may lack: then NULL. */
#define DRIVER_OPTIONAL(X)                                                                         \
    X(StreamCreate, "cuStreamCreate", (cu_stream *, unsigned flags))                               \
    X(StreamDestroy, "cuStreamDestroy_v2", (cu_stream))                                            \
    X(StreamBeginCapture, "cuStreamBeginCapture_v2", (cu_stream, int mode))                        \
    X(StreamEndCapture, "cuStreamEndCapture", (cu_stream, cu_graph *))                             \
    X(GraphInstantiate, "cuGraphInstantiateWithFlags",                                             \
      (cu_graph_exec *, cu_graph, unsigned long long flags))                                       \
    X(GraphLaunch, "cuGraphLaunch", (cu_graph_exec, cu_stream))                                    \
    X(GraphExecDestroy, "cuGraphExecDestroy", (cu_graph_exec))                                     \
    X(GraphDestroy, "cuGraphDestroy", (cu_graph))

/* CUlaunchAttribute and CUlaunchConfig of cuda.h: what cuLaunchKernel cannot say. */
enum {
    CU_ATTRIBUTE_COOPERATIVE = 2,
    CU_ATTRIBUTE_CLUSTER = 4,
};
struct cu_launch_attribute {
    int id;
    char pad[4];
    union {
        unsigned cluster[3];
        int cooperative;
        char bytes[64];
    } value;
};
struct cu_launch_config {
    unsigned grid[3], block[3], dynamic_shared_bytes;
    cu_stream stream;
    struct cu_launch_attribute *attributes;
    unsigned attribute_count;
};

struct driver {
#define X(name, symbol, parameters) cu_result(*name) parameters;
    DRIVER_FUNCTIONS(X)
    DRIVER_OPTIONAL(X)
#undef X
    /* Since the drivers of CUDA 11.8; NULL before. */
    cu_result (*LaunchKernelEx)(const struct cu_launch_config *, cu_function, void **parameters,
                                void **extra);
    int version; /* 13000 for 13.0 */
};

/*
 * Opens and initialises the driver once; later calls give the same. NULL with DeviceError: no
 * libcuda, a missing function, or no card that it can use; the next step is device=model.
 */
const struct driver *driver_open(struct err *err);

/* 0 for CU_OK, else -1 with DeviceError "cuMemAlloc_v2: out of memory (CUDA_ERROR_...)". */
int driver_check(const struct driver *cu, cu_result code, const char *what, struct err *err);

/* A card's UUID as nvidia-smi and NVML spell it: "GPU-" and 32 digits in groups. */
enum { DRIVER_UUID = 48 };
void driver_uuid_text(const unsigned char uuid[16], char out[DRIVER_UUID]);

#endif
