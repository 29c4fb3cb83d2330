/* Races in global memory within one launch, and programs that look like it and are right. */

/* Two blocks write the same word. */
extern "C" __global__ void both_write(int *x)
{
    if (threadIdx.x == 0)
        x[0] = blockIdx.x;
}

/* Everybody writes the same value: nobody can tell. */
extern "C" __global__ void same_value(int *x)
{
    x[0] = 1;
}

/* Lanes of one instruction write different values. */
extern "C" __global__ void one_instruction(int *x)
{
    x[threadIdx.x / 2] = threadIdx.x;
}

/* Block 1 reads what block 0 wrote. */
extern "C" __global__ void neighbour(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int left = i > 0 ? x[i - 1] : 0;
    x[i] = left + 1;
}

/* Block 0 reads what block 1 writes later. */
extern "C" __global__ void reads_ahead(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = (i + blockDim.x) % n;
    int v = x[j];
    x[blockIdx.x ? i : 2 * n + i] = v + 1;
}

/* Two warps of a block, without and with a barrier between them. */
extern "C" __global__ void warps(int *x, int has_barrier)
{
    x[threadIdx.x] = threadIdx.x;
    if (has_barrier)
        __syncthreads();
    int v = x[(threadIdx.x + 32) % 64];
    if (has_barrier)
        __syncthreads();
    x[threadIdx.x] = v;
}

/* Somebody resets a counter that others count with. */
extern "C" __global__ void reset(int *x)
{
    if (blockIdx.x != 1)
        atomicAdd(&x[0], 1);
    else if (threadIdx.x == 0)
        x[0] = 0;
}

/* Only atomics. */
extern "C" __global__ void counted(int *x)
{
    atomicAdd(&x[threadIdx.x % 4], 1);
}

/* The last block adds up what the others left, as in the CUDA samples' threadFenceReduction. */
extern "C" __global__ void last_block(int *partial, int *out, unsigned *done)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += partial[b];
        *out = sum;
    }
}

/* A lock around a counter that is no atomic. */
extern "C" __global__ void locked(int *lock, int *x)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
        x[0] += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

/* Bytes of one word by different threads. */
extern "C" __global__ void bytes(unsigned char *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = (unsigned char)threadIdx.x;
}

/* A thread reads and writes its own words again and again. */
extern "C" __global__ void own(float4 *x, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 3; k++) {
        float4 v = x[i];
        v.x += 1.0f;
        v.w += v.x;
        x[i] = v;
        y[i] += v.w;
    }
}
