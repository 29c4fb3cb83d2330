/*
 * Every number of cudaDeviceProp as the runtime gives it, one field a line: what %device gpu must
 * say, too. Fields that CUDA 13 took out of the struct come from cudaDeviceGetAttribute.
 */
#include <cstdio>
#include <cuda_runtime.h>

static void show(const char *name, long long value)
{
    printf("%s %lld\n", name, value);
}

template <int N> static void show(const char *name, const int (&values)[N])
{
    printf("%s", name);
    for (int value : values)
        printf(" %d", value);
    printf("\n");
}

static void ask(const char *name, cudaDeviceAttr attribute)
{
    int value = 0;

    if (cudaDeviceGetAttribute(&value, attribute, 0) == cudaSuccess)
        show(name, value);
}

int main()
{
    cudaDeviceProp prop;

    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess)
        return 1;
    printf("name %s\n", prop.name);
    show("totalGlobalMem", prop.totalGlobalMem);
#define SHOW(field) show(#field, prop.field)
    SHOW(major);
    SHOW(minor);
    SHOW(warpSize);
    SHOW(maxThreadsPerBlock);
    SHOW(maxThreadsDim);
    SHOW(maxGridSize);
    SHOW(cooperativeLaunch);
    SHOW(clusterLaunch);
    SHOW(unifiedFunctionPointers);
    SHOW(multiProcessorCount);
    SHOW(maxThreadsPerMultiProcessor);
    SHOW(maxBlocksPerMultiProcessor);
    SHOW(regsPerMultiprocessor);
    SHOW(regsPerBlock);
    SHOW(sharedMemPerMultiprocessor);
    SHOW(sharedMemPerBlock);
    SHOW(sharedMemPerBlockOptin);
    SHOW(reservedSharedMemPerBlock);
    ask("singleToDoublePrecisionPerfRatio", cudaDevAttrSingleToDoublePrecisionPerfRatio);
    ask("clockRate", cudaDevAttrClockRate);
    SHOW(totalConstMem);
    ask("memoryClockRate", cudaDevAttrMemoryClockRate);
    SHOW(memoryBusWidth);
    SHOW(l2CacheSize);
    SHOW(persistingL2CacheMaxSize);
    SHOW(accessPolicyMaxWindowSize);
    SHOW(globalL1CacheSupported);
    SHOW(localL1CacheSupported);
    SHOW(ECCEnabled);
    SHOW(memPitch);
    SHOW(memoryPoolsSupported);
    SHOW(memoryPoolSupportedHandleTypes);
    SHOW(sparseCudaArraySupported);
    SHOW(deferredMappingCudaArraySupported);
    SHOW(asyncEngineCount);
    ask("deviceOverlap", cudaDevAttrGpuOverlap);
    SHOW(concurrentKernels);
    SHOW(streamPrioritiesSupported);
    SHOW(computePreemptionSupported);
    SHOW(unifiedAddressing);
    SHOW(managedMemory);
    SHOW(concurrentManagedAccess);
    SHOW(directManagedMemAccessFromHost);
    SHOW(pageableMemoryAccess);
    SHOW(pageableMemoryAccessUsesHostPageTables);
    SHOW(canMapHostMemory);
    SHOW(canUseHostPointerForRegisteredMem);
    SHOW(hostRegisterSupported);
    SHOW(hostRegisterReadOnlySupported);
    SHOW(hostNativeAtomicSupported);
    SHOW(ipcEventSupported);
    SHOW(timelineSemaphoreInteropSupported);
    SHOW(gpuDirectRDMASupported);
    SHOW(gpuDirectRDMAFlushWritesOptions);
    SHOW(gpuDirectRDMAWritesOrdering);
    SHOW(integrated);
    SHOW(pciDomainID);
    SHOW(pciBusID);
    SHOW(pciDeviceID);
    SHOW(gpuPciDeviceID);
    SHOW(gpuPciSubsystemID);
    ask("computeMode", cudaDevAttrComputeMode);
    ask("kernelExecTimeoutEnabled", cudaDevAttrKernelExecTimeout);
    SHOW(tccDriver);
    SHOW(mpsEnabled);
    SHOW(isMultiGpuBoard);
    SHOW(multiGpuBoardGroupID);
    SHOW(deviceNumaConfig);
    SHOW(deviceNumaId);
    SHOW(hostNumaId);
    SHOW(hostNumaMultinodeIpcSupported);
    SHOW(textureAlignment);
    SHOW(texturePitchAlignment);
    SHOW(surfaceAlignment);
    SHOW(maxTexture1D);
    SHOW(maxTexture1DMipmap);
    ask("maxTexture1DLinear", cudaDevAttrMaxTexture1DLinearWidth);
    SHOW(maxTexture1DLayered);
    SHOW(maxTexture2D);
    SHOW(maxTexture2DMipmap);
    SHOW(maxTexture2DLinear);
    SHOW(maxTexture2DGather);
    SHOW(maxTexture2DLayered);
    SHOW(maxTexture3D);
    SHOW(maxTexture3DAlt);
    SHOW(maxTextureCubemap);
    SHOW(maxTextureCubemapLayered);
    SHOW(maxSurface1D);
    SHOW(maxSurface1DLayered);
    SHOW(maxSurface2D);
    SHOW(maxSurface2DLayered);
    SHOW(maxSurface3D);
    SHOW(maxSurfaceCubemap);
    SHOW(maxSurfaceCubemapLayered);
}
