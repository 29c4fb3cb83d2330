"""`warpbook doctor` on a machine that lacks the compiler, made by hiding it."""
import os
import shutil
import subprocess

import pytest

HIDE = 'if [ -d /usr/local/cuda ]; then mount --bind "$1" "$(readlink -f /usr/local/cuda)"; fi; shift; "$@"'


@pytest.fixture
def bare(warpbook, tmp_path):
    """Runs the program where it finds no CUDA Toolkit and no wheels."""
    empty, program = tmp_path / "empty", tmp_path / "warpbook"
    empty.mkdir()
    shutil.copy(warpbook, program)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": os.environ.get("LANG", "C")}
    root = [] if os.getuid() == 0 else ["--map-root-user"]
    unshare = ["unshare", "--mount", *root, "sh", "-c", HIDE, "sh", str(empty)]
    if subprocess.run([*unshare, "true"], capture_output=True, env=env, check=False).returncode:
        pytest.skip("no mount namespace of our own here")
    def run(*arguments, text=""):
        return subprocess.run([*unshare, str(program), *arguments], input=text.encode(), env=env,
                              capture_output=True, timeout=60, check=False)

    if b"the linker's search" in run("doctor").stdout:
        pytest.skip("the linker knows an NVRTC of its own here")
    return run


def test_it_says_what_is_missing_where_it_looked_and_what_to_install(bare):
    done = bare("doctor")
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 1
    assert text.startswith("Not ready: CUDA C cells cannot be compiled.")
    assert "neither libnvrtc.so.13 nor libnvrtc.so.12 was found" in text
    for place in ("$CUDA_HOME", "/usr/local/cuda", "nvcc on PATH", "$VIRTUAL_ENV", "$CONDA_PREFIX"):
        assert place in text
    assert text.count("pip install") == 1 and "nvidia-cuda-nvrtc==13.0.*" in text
    assert "in the wheel nvidia-cuda-nvdisasm" in text


def test_a_cell_of_cuda_says_so_and_the_models_work_without(bare):
    done = bare("cell", "-", text="__global__ void k() {}\n%%\n%occupancy regs=42 device=L40S\n")
    assert done.returncode == 1
    assert "Occupancy 83.3 %" in done.stdout.decode()
    error = " ".join(done.stderr.decode().split())
    assert error.startswith("DeviceError: ") and "`make lab` installs one" in error
