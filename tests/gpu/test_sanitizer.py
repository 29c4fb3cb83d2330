"""
compute-sanitizer finds nothing in the kernels of lessons and experiments, nor in those that time them.

It takes a minute, so it is asked for: WARPBOOK_SANITIZER=1.
"""
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from gpu_cells import HAS_CARD, Driver

SANITIZER = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
TIMELINE = "%schedule grid=500 block=256 cost=1000 device=gpu"
LAUNCH = "__global__ void k(int *x) { x[threadIdx.x] += 1; }\n%buffer x int[64] = iota\n" \
         "%bench k<<<1, 64>>>(x) device=gpu repeat=3 bytes=512"


def names(warpbook):
    """Everything that %run lists."""
    answer, = Driver(warpbook).cells("%run")
    found = re.findall(r"^  ([a-z]\w*)  +\S", answer.ok().text, re.M)
    assert len(found) > 20
    return found


@pytest.fixture(scope="module")
def reports(warpbook):
    """What the sanitizer says of each cell, by name."""
    if not HAS_CARD:
        pytest.skip("needs a GPU")
    if not os.environ.get("WARPBOOK_SANITIZER"):
        pytest.skip("takes a minute: WARPBOOK_SANITIZER=1 asks for it")
    if not os.path.exists(SANITIZER):
        pytest.skip("needs compute-sanitizer")
    cells = {"timeline": TIMELINE, "launch": LAUNCH}
    cells.update({name: f"%run {name} device=gpu repeat=3" for name in names(warpbook)})

    def run(cell):
        done = subprocess.run([SANITIZER, "--target-processes", "all", warpbook, "cell", "-"],
                              input=cell.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=300, check=False)
        return done.returncode, done.stdout.decode(errors="replace")

    with ThreadPoolExecutor(8) as pool:
        return dict(zip(cells, pool.map(run, cells.values())))


def test_no_kernel_touches_what_is_not_its_own(reports):
    for name, (status, report) in reports.items():
        summaries = re.findall(r"ERROR SUMMARY: (\d+) error", report)
        assert status == 0, f"{name}: {report[-2000:]}"
        assert summaries and set(summaries) == {"0"}, f"{name}: {report[-3000:]}"
