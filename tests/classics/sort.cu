/* Sorting, merging and counting. */
enum { BLOCK = 128 };

extern "C" __global__ void bitonic_step(unsigned *x, int n, int j, int k)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, other = i ^ j;

    if (i < n && other > i && (x[i] > x[other]) == ((i & k) == 0)) {
        unsigned keep = x[i];

        x[i] = x[other];
        x[other] = keep;
    }
}

/* The whole sort of 2 * BLOCK keys in shared memory. */
extern "C" __global__ void bitonic_shared(unsigned *x)
{
    __shared__ unsigned s[2 * BLOCK];
    int t = threadIdx.x;

    x += blockIdx.x * 2 * BLOCK;
    s[t] = x[t];
    s[t + BLOCK] = x[t + BLOCK];
    for (int k = 2; k <= 2 * BLOCK; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int i = 2 * t - (t & (j - 1)), other = i + j;

            __syncthreads();
            if ((s[i] > s[other]) == ((i & k) == 0)) {
                unsigned keep = s[i];

                s[i] = s[other];
                s[other] = keep;
            }
        }
    __syncthreads();
    x[t] = s[t];
    x[t + BLOCK] = s[t + BLOCK];
}

/* One bit of a radix sort in one block: zeros to the front by ballots, stable. */
extern "C" __global__ void radix_block(const unsigned *in, unsigned *out, int n)
{
    extern __shared__ unsigned keys[];
    __shared__ int zeros[BLOCK / 32], all;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;

    for (int i = t; i < n; i += BLOCK)
        keys[i] = in[i];
    __syncthreads();
    for (int bit = 0; bit < 32; bit++) {
        int chunks = (n + BLOCK - 1) / BLOCK, zero_at = 0, one_at;
        int mine = 0;

        /* How many zeros there are in all. */
        for (int i = t; i < n; i += BLOCK)
            mine += !(keys[i] >> bit & 1);
        if (t == 0)
            all = 0;
        __syncthreads();
        atomicAdd(&all, mine);
        __syncthreads();
        one_at = all;
        for (int c = 0; c < chunks; c++) {
            int i = c * BLOCK + t;
            bool is_in = i < n, is_zero = is_in && !(keys[i] >> bit & 1);
            unsigned ballot = __ballot_sync(0xffffffff, is_zero);
            unsigned below = (1u << lane) - 1;
            int before = 0, in_chunk = 0, rank;

            if (lane == 0)
                zeros[warp] = __popc(ballot);
            __syncthreads();
            for (int w = 0; w < BLOCK / 32; w++) {
                before += w < warp ? zeros[w] : 0;
                in_chunk += zeros[w];
            }
            rank = before + __popc(ballot & below);
            if (is_in)
                out[is_zero ? zero_at + rank : one_at + t - rank] = keys[i];
            zero_at += in_chunk;
            one_at += min(BLOCK, n - c * BLOCK) - in_chunk;
            __syncthreads();
        }
        for (int i = t; i < n; i += BLOCK)
            keys[i] = out[i];
        __syncthreads();
    }
}

/* Merge path: each thread finds where its diagonal crosses, then merges a few. */
extern "C" __global__ void merge_path(const int *a, int na, const int *b, int nb, int *out, int per_thread)
{
    int diagonal = min((int)(blockIdx.x * BLOCK + threadIdx.x) * per_thread, na + nb);
    int low = max(0, diagonal - nb), high = min(diagonal, na);

    while (low < high) {
        int middle = (low + high) / 2;

        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    for (int k = 0, i = low, j = diagonal - low; k < per_thread && diagonal + k < na + nb; k++)
        out[diagonal + k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}

extern "C" __global__ void histogram_global(const unsigned char *x, int n, unsigned *bins)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&bins[x[i]], 1);
}

extern "C" __global__ void histogram_shared(const unsigned char *x, int n, unsigned *bins)
{
    __shared__ unsigned own[256];

    for (int b = threadIdx.x; b < 256; b += BLOCK)
        own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&own[x[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += BLOCK)
        atomicAdd(&bins[b], own[b]);
}

/* A copy a warp, 8-bit counters in words: each lane may count 255 before it must empty them. */
extern "C" __global__ void histogram_private(const unsigned char *x, int n, unsigned *bins)
{
    __shared__ unsigned char own[64][BLOCK];
    int t = threadIdx.x;

    for (int b = 0; b < 64; b++)
        own[b][t] = 0;
    for (int k = 0; k < 255; k++) {
        int i = (blockIdx.x * 255 + k) * BLOCK + t;

        if (i < n)
            own[x[i] / 4][t]++;
    }
    __syncthreads();
    for (int b = t; b < 64; b += BLOCK) {
        unsigned sum = 0;

        for (int k = 0; k < BLOCK; k++)
            sum += own[b][(t + k) % BLOCK];
        atomicAdd(&bins[b], sum);
    }
}
