"""What every Python test shares: the program under test, and Jupyter pointed at its kernelspec."""
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture(scope="session")
def root():
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def warpbook():
    """Path of the program: $WARPBOOK, else what `make` built."""
    path = os.path.abspath(os.environ.get("WARPBOOK", os.path.join(ROOT, "build", "warpbook")))
    assert os.access(path, os.X_OK), f"{path} is not there: run make"
    return path


@pytest.fixture(scope="session")
def kernelspec(warpbook, tmp_path_factory):
    """Installs the kernelspec where only this run's Jupyter looks, and names it."""
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run([warpbook, "install", "--prefix", str(prefix)], check=True, timeout=30,
                   stdin=subprocess.DEVNULL)
    os.environ["JUPYTER_PATH"] = str(prefix / "share" / "jupyter")
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    return "warpbook"


@pytest.fixture(scope="session")
def same_compiler(warpbook):
    """Skips where committed outputs cannot be met: another compiler gives other registers."""
    text = subprocess.run([warpbook, "doctor"], capture_output=True, timeout=120, check=False,
                          stdin=subprocess.DEVNULL).stdout.decode()
    found = re.search(r"NVRTC (\S+)", text)
    assert found, text
    if found[1] != "13.0":
        pytest.skip(f"the outputs are those of NVRTC 13.0, and here is {found[1]}")
