"""Numba's CUDA simulator on three of the kernels that bench_ptx runs, in the same make bench.

A simulated thread is a Python thread, so the sizes are small. What it computes is counted in thread
instructions of the PTX that CUDA's compiler makes for the same kernel, so that the figures compare.
Skipped by name where Numba is not installed (tests/bench/requirements.txt).
"""
import os
import sys
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
try:
    import numpy as np
    import numba
    from numba import cuda
except ImportError:
    print("Numba's CUDA simulator: skipped, numba is not installed (tests/bench/requirements.txt)")
    sys.exit(0)

# Thread instructions of one thread, as bench_ptx counts them for the optimized PTX.
VECTOR_ADD = 22
MATMUL_FIXED, MATMUL_STEP = 44, 5.5


@cuda.jit
def vector_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def matmul(a, b, c):
    x, y = cuda.grid(2)
    if y < c.shape[0] and x < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[y, k] * b[k, x]
        c[y, x] = total


def best_of(runs, work):
    """Seconds of the fastest of several runs, in wall time."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    n, side = 4096, 32
    a = np.arange(n, dtype=np.float32)
    c = np.zeros_like(a)
    m = np.arange(side * side, dtype=np.float32).reshape(side, side) / 1000
    p = np.zeros_like(m)
    add_s = best_of(3, lambda: vector_add[n // 256, 256](a, a, c))
    mul_s = best_of(3, lambda: matmul[(side // 16, side // 16), (16, 16)](m, m, p))
    assert np.array_equal(c, a + a) and np.allclose(p, m @ m, rtol=1e-4)
    print(f"Numba's CUDA simulator {numba.__version__}, M thread instructions a second")
    print(f"  vectorAdd, {n} threads          {VECTOR_ADD * n / add_s / 1e6:10.3f}")
    print(f"  matmul naive, {side} x {side}          "
          f"{(MATMUL_FIXED + MATMUL_STEP * side) * side * side / mul_s / 1e6:10.3f}")


if __name__ == "__main__":
    main()
