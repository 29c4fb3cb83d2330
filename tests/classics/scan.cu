/*
 * Prefix sums. Blocks of 256 threads scan their part (inclusive) and leave their sum in sums; a
 * second launch scans those and a third adds them, except in the one-pass forms.
 */
enum { BLOCK = 256, WARPS = BLOCK / 32 };

extern "C" __global__ void hillis_steele(const int *x, int *y, int *sums, int n)
{
    __shared__ int buffer[2][BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t, in = 0;

    buffer[0][t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2, in ^= 1) {
        buffer[in ^ 1][t] = buffer[in][t] + (t >= d ? buffer[in][t - d] : 0);
        __syncthreads();
    }
    if (i < n)
        y[i] = buffer[in][t];
    if (t == BLOCK - 1)
        sums[blockIdx.x] = buffer[in][t];
}

/* Up the tree, then down: 2 n additions. The padding keeps the 32 banks apart. */
#define AT(i) ((i) + (i) / 32)

extern "C" __global__ void blelloch(const int *x, int *y, int *sums, int n)
{
    __shared__ int tree[AT(2 * BLOCK)];
    int t = threadIdx.x, first = blockIdx.x * 2 * BLOCK;
    int a = first + t < n ? x[first + t] : 0;
    int b = first + t + BLOCK < n ? x[first + t + BLOCK] : 0;

    tree[AT(t)] = a;
    tree[AT(t + BLOCK)] = b;
    for (int d = BLOCK, stride = 1; d > 0; d /= 2, stride *= 2) {
        __syncthreads();
        if (t < d)
            tree[AT(stride * (2 * t + 2) - 1)] += tree[AT(stride * (2 * t + 1) - 1)];
    }
    if (t == 0) {
        sums[blockIdx.x] = tree[AT(2 * BLOCK - 1)];
        tree[AT(2 * BLOCK - 1)] = 0;
    }
    for (int d = 1, stride = BLOCK; d <= BLOCK; d *= 2, stride /= 2) {
        __syncthreads();
        if (t < d) {
            int left = AT(stride * (2 * t + 1) - 1), right = AT(stride * (2 * t + 2) - 1);
            int keep = tree[left];

            tree[left] = tree[right];
            tree[right] += keep;
        }
    }
    __syncthreads();
    if (first + t < n)
        y[first + t] = tree[AT(t)] + a;
    if (first + t + BLOCK < n)
        y[first + t + BLOCK] = tree[AT(t + BLOCK)] + b;
}

__device__ int warp_scan(int v)
{
    int lane = threadIdx.x & 31;

    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, v, d);

        if (lane >= d)
            v += left;
    }
    return v;
}

__device__ int block_scan(int v, int *total)
{
    __shared__ int warp_sums[WARPS];
    int warp = threadIdx.x / 32;

    v = warp_scan(v);
    if (threadIdx.x % 32 == 31)
        warp_sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int s = threadIdx.x < WARPS ? warp_sums[threadIdx.x] : 0;

        s = warp_scan(s);
        if (threadIdx.x < WARPS)
            warp_sums[threadIdx.x] = s;
    }
    __syncthreads();
    *total = warp_sums[WARPS - 1];
    return v + (warp ? warp_sums[warp - 1] : 0);
}

extern "C" __global__ void by_shuffles(const int *x, int *y, int *sums, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, total;
    int v = block_scan(i < n ? x[i] : 0, &total);

    if (i < n)
        y[i] = v;
    if (threadIdx.x == 0)
        sums[blockIdx.x] = total;
}

extern "C" __global__ void add_sums(int *y, const int *sums, int n, int per_block)
{
    for (int k = threadIdx.x; k < per_block && blockIdx.x > 0; k += BLOCK) {
        int i = blockIdx.x * per_block + k;

        if (i < n)
            y[i] += sums[blockIdx.x - 1];
    }
}

/*
 * One pass, with decoupled look-back: a block takes a ticket, publishes its sum, and walks back over
 * its predecessors until one has its whole prefix. Flag and value travel in one 64-bit word.
 */
enum { NOTHING, PART, PREFIX };
__device__ unsigned ticket;
__device__ unsigned long long states[256];

extern "C" __global__ void look_back(const int *x, int *y, int n)
{
    __shared__ unsigned block;
    __shared__ int before;
    int i, v, total;

    if (threadIdx.x == 0)
        block = atomicAdd(&ticket, 1);
    __syncthreads();
    i = block * BLOCK + threadIdx.x;
    v = block_scan(i < n ? x[i] : 0, &total);
    if (threadIdx.x == 0) {
        int sum = 0;

        atomicExch(&states[block], (unsigned long long)(block ? PART : PREFIX) << 32 | (unsigned)total);
        for (int p = (int)block - 1; p >= 0; p--) {
            unsigned long long s;

            do
                s = *(volatile unsigned long long *)&states[p];
            while (s >> 32 == NOTHING);
            sum += (int)(unsigned)s;
            if (s >> 32 == PREFIX)
                break;
        }
        if (block)
            atomicExch(&states[block], (unsigned long long)PREFIX << 32 | (unsigned)(sum + total));
        before = sum;
    }
    __syncthreads();
    if (i < n)
        y[i] = v + before;
}
