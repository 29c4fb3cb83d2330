"""
What the tests of the GPU share: the kernels, and two drivers to run them on. The card is the machine's
own, and its tests skip by name where there is none; the fake is tests/gpu/fake, built here, found by
LD_LIBRARY_PATH, and runs everywhere.
"""
import glob
import os
import shutil
import subprocess
import sys

import pytest

from gpu_cells import HAS_CARD, ROOT, Driver

sys.path.append(os.path.join(ROOT, "tests", "conformance"))


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory):
    """The folder with our libcuda.so.1."""
    folder = tmp_path_factory.mktemp("fake")
    sources = sorted(glob.glob(os.path.join(ROOT, "tests", "gpu", "fake", "*.c")))
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
                    f"-I{ROOT}", "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), *sources],
                   check=True, timeout=60)
    return str(folder)


@pytest.fixture
def fake(warpbook, fake_library, tmp_path):
    """The fake driver with a log of its own."""
    return Driver(warpbook, fake_library, str(tmp_path / "fake.log"))


@pytest.fixture
def card(warpbook):
    """The machine's GPU."""
    if not HAS_CARD:
        pytest.skip("needs a GPU")
    return Driver(warpbook)


@pytest.fixture(params=["fake", "card"])
def driver(request):
    """Either: what both can show, a card shows better, and it takes its time."""
    if request.param == "fake" and HAS_CARD:
        pytest.skip("the card itself is here")
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def nvcc():
    """The CUDA compiler for whole programs."""
    for path in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if path and os.path.exists(path):
            return path
    pytest.skip("needs nvcc")
