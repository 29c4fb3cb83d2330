"""Launches of cells on a real card: the same cells on the card and on the interpreter."""
import json

import pytest

from gpu_cells import needs_card

pytestmark = needs_card

KERNELS = """\
__device__ int total;
__device__ float table[4] = {1, 2, 3, 4};
__constant__ float weight[3];

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void weigh(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] * weight[i % 3] + table[i % 4];
        atomicAdd(&total, 1);
    }
}

__global__ void speak(int n)
{
    if (threadIdx.x < n)
        printf("thread %d of block %d: %g %s\\n", threadIdx.x, blockIdx.x, threadIdx.x * 0.5, "half");
}

__global__ void reverse(int n, const int *x, int *y)
{
    extern __shared__ int s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[n - 1 - threadIdx.x];
}

template <typename T, int N> __global__ void scale(T *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] *= N;
}

__global__ void wild(int *x)
{
    x[(1LL << 40) + threadIdx.x] = 1;
}

__global__ void forever(volatile int *x)
{
    while (*x == 0)
        ;
}

__global__ void trapped(void)
{
    if (threadIdx.x == 7)
        __trap();
}
"""


def cells(card, *texts):
    """Runs the kernels' cell and others; a list of what each gave."""
    return card.cells(KERNELS, *texts)[1:]


@pytest.mark.parametrize("n, grid, block", [(1, 1, 32), (1000, 4, 256), (100003, 98, 1024)])
def test_a_launch_on_the_card_gives_what_the_model_gives(card, n, grid, block):
    setup = f"%buffer x float[{n}] = uniform(1, -2, 2)\n%buffer y float[{n}] = iota\n%buffer z float[{n}] = iota"
    a, b, c, d = cells(card, setup,
                       f"%launch saxpy<<<{grid}, {block}>>>({n}, 2.5f, x, y) device=gpu",
                       f"%launch saxpy<<<{grid}, {block}>>>({n}, 2.5f, x, z) device=model",
                       "%check max(abs(y - z)) == 0")
    for cell in (a, b, c, d):
        cell.ok()
    measured = b.results[-1]
    assert measured["kind"] == "launch" and measured["device"]["source"] == "gpu"
    assert measured["measured"]["time_us"] > 0
    assert c.results[-1]["device"]["source"] == "model"
    assert c.results[-1]["measured"] is None


def test_device_variables_keep_their_values_on_the_card(card):
    answers = cells(card,
                    "%buffer x float[64] = iota\n%buffer y float[64]\n%buffer weight = (1, 10, 100)",
                    "%launch weigh<<<2, 32>>>(64, x, y) device=gpu",
                    "%launch weigh<<<2, 32>>>(50, x, y) device=gpu",
                    "%check y[5] == 502\n%check y[63] == 67")
    for answer in answers:
        answer.ok()
    shown = cells(card, "%buffer x float[64] = iota\n%buffer y float[64]\n%buffer weight = (1, 1, 1)",
                  "%launch weigh<<<2, 32>>>(64, x, y) device=gpu", "%show total")[-1]
    assert "64" in shown.text + json.dumps(shown.results)


def test_what_a_kernel_prints_on_the_card_is_what_it_prints_on_the_model(card):
    on_card, on_model = cells(card, "%launch speak<<<1, 32>>>(3) device=gpu",
                              "%launch speak<<<1, 32>>>(3) device=model")
    lines = [f"thread {t} of block 0: {t * 0.5:g} half" for t in range(3)]
    for answer in (on_card, on_model):
        answer.ok()
        assert [line for line in answer.text.splitlines() if line.startswith("thread")] == lines


def test_dynamic_shared_memory_and_templates_run_on_the_card(card):
    answers = cells(card, "%buffer x int[256] = iota\n%buffer y int[256]",
                    "%launch reverse<<<1, 256, 1024>>>(256, x, y) device=gpu",
                    "%launch scale<int, 3><<<2, 128>>>(y) device=gpu",
                    "%check y[0] == 765\n%check y[255] == 0")
    for answer in answers:
        answer.ok()


@pytest.mark.parametrize("launch, name", [("wild<<<1, 32>>>(x)", "MemoryFault"),
                                          ("trapped<<<1, 32>>>()", "AssertFault")])
def test_a_fault_on_the_card_says_how_to_find_it_and_the_next_launch_runs(card, launch, name):
    _, fault, again, check = cells(
        card, "%buffer x int[32] = iota\n%buffer y int[32] = iota", f"%launch {launch} device=gpu",
        "%launch scale<int, 2><<<1, 32>>>(y) device=gpu", "%check x[31] == 31\n%check y[31] == 62")
    assert fault.error == name
    assert "device=model" in fault.report
    for answer in (again, check):
        answer.ok()


def test_an_endless_kernel_ends_in_time_and_leaves_the_buffers(card):
    _, late, check = cells(card, "%buffer x int[1] = zeros",
                           "%launch forever<<<1, 1>>>(x) device=gpu timeout=2", "%check x[0] == 0")
    assert late.error == "Timeout"
    check.ok()


def test_the_fields_of_a_launch_are_measured_and_modelled(card):
    _, launch = cells(card, "%buffer x float[1M] = iota\n%buffer y float[1M] = ones",
                      "%launch saxpy<<<4096, 256>>>(1048576, 2.0f, x, y) device=gpu")
    launch.ok()
    (result,) = launch.results
    assert result["warps"] == 4096 * 8 and result["blocks"] == 4096
    assert 1 < result["measured"]["time_us"] < 1000
    assert result["occupancy"]["theoretical"] == 1
    assert result["registers"] > 0
