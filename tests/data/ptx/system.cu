/* What a kernel calls that no PTX has: printf, assert, malloc and free. */
#include <cassert>
#include <cstdio>

__constant__ char greeting[] = "constant";

extern "C" __global__ void formats(int *counts, float f, long long l, const char *text)
{
    char local[4] = { 'l', (char)('0' + threadIdx.x), 'x', 0 };
    int i = threadIdx.x == 0 ? -42 : 7;

    counts[0] = printf("plain\n");
    counts[1] = printf("%d|%5d|%-5d|%05d|%+d|% d|%.4d|%i\n", i, i, i, i, i, i, i, i);
    counts[2] = printf("%u %x %X %#x %o %#o\n", i, i, i, 255, 8, 8);
    counts[3] = printf("%lld %llu %ld %lx\n", l, l, (long)l, (unsigned long)l);
    counts[4] = printf("%f %5.2f %-8.3f| %e %g %G %a\n", f, f, f, f, f, f, f);
    counts[5] = printf("%c%c%%%5c|%-3c|\n", 'a' + i, 'b', 'c', 'd');
    counts[6] = printf("%s %s %s %.3s|%10s|%-10s|\n", "global", greeting, local, text, "right", "left");
    counts[7] = printf("%*d|%-*d|%.*f\n", 6, i, 6, i, 1, f);
    counts[8] = printf("%p %p\n", (void *)counts, (void *)0);
    counts[9] = printf("%hd %hhd %hu\n", 0x12345, 0x1ff, 0x12345);
    counts[10] = printf("%d %f %d %s %d\n", 1, 2.0, 3, "four", 5);
}

extern "C" __global__ void by_block()
{
    if (threadIdx.x % 32 == 0)
        printf("block %d warp %d\n", blockIdx.x, threadIdx.x / 32);
}

extern "C" __global__ void floods(int lines)
{
    for (int i = 0; i < lines; i++)
        printf("%d %d %50d\n", blockIdx.x, i, i);
}

extern "C" __global__ void bad_string(const char *text)
{
    printf("%s\n", text + threadIdx.x);
}

extern "C" __global__ void asserts(const int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        assert(x[i] >= 0);
}

struct node {
    int value;
    node *next;
};

extern "C" __global__ void lists(int *out, int n)
{
    node *head = nullptr;
    int sum = 0;

    for (int i = 0; i < n; i++) {
        node *x = (node *)malloc(sizeof(node));
        if (!x) {
            out[threadIdx.x] = -1;
            return;
        }
        x->value = i * (int)threadIdx.x;
        x->next = head;
        head = x;
    }
    while (head) {
        node *x = head;
        sum += x->value;
        head = x->next;
        free(x);
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void arrays(int *out, int n)
{
    int *a = new int[n];

    for (int i = 0; i < n; i++)
        a[i] = i + (int)threadIdx.x;
    out[threadIdx.x] = a[n - 1];
    delete[] a;
}

extern "C" __global__ void fills(int *out, int bytes)
{
    out[threadIdx.x] = malloc(bytes) != nullptr;
}

extern "C" __global__ void heap_faults(int *out, int how)
{
    int *a = (int *)malloc(40);

    a[0] = 1;
    if (how == 0)
        out[0] = a[10];
    if (how == 1) {
        free(a);
        out[0] = a[0];
    }
    if (how == 2) {
        free(a);
        free(a);
    }
    if (how == 3)
        free(a + 1);
    if (how == 4)
        free(out);
    if (how == 5)
        a[11] = 2;
}

extern "C" __global__ void traps(int how)
{
    if (how)
        __trap();
}
