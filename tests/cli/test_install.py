"""`warpbook install`: the kernelspec, its logos, and where they go."""
import json
import os
import stat
import struct
import subprocess

import pytest

SPEC = {
    "display_name": "Warpbook (CUDA C)", "language": "cuda-cpp", "interrupt_mode": "message",
    "kernel_protocol_version": "5.5",
    "metadata": {"supported_encryption": ["curve"], "debugger": False},
}


@pytest.fixture
def install(warpbook, tmp_path):
    """Runs it with an environment of just HOME and what is given."""
    def run(*arguments, **env):
        return subprocess.run([warpbook, "install", *arguments], cwd=tmp_path, capture_output=True,
                              env={"HOME": str(tmp_path / "home"), **env}, timeout=20, check=False)
    return run


def spec_of(folder):
    return json.loads((folder / "kernels" / "warpbook" / "kernel.json").read_text())


def test_the_kernelspec_holds_what_clients_read(install, warpbook, tmp_path):
    done = install("--prefix", str(tmp_path / "p"))
    folder = tmp_path / "p" / "share" / "jupyter"
    spec = spec_of(folder)
    assert done.returncode == 0 and str(folder) in done.stdout.decode()
    assert spec.pop("argv") == [os.path.realpath(warpbook), "kernel", "-f", "{connection_file}"]
    assert spec == SPEC


def test_the_logos_are_of_the_sizes_that_their_names_say(install, tmp_path):
    install("--prefix", str(tmp_path))
    folder = tmp_path / "share" / "jupyter" / "kernels" / "warpbook"
    assert {p.name for p in folder.iterdir()} == {"kernel.json", "logo-32x32.png",
                                                  "logo-64x64.png", "logo-svg.svg"}
    for size in (32, 64):
        png = (folder / f"logo-{size}x{size}.png").read_bytes()
        assert png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", png[16:24]) == (size, size)
    assert "<svg" in (folder / "logo-svg.svg").read_text()
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o644 for p in folder.iterdir())


@pytest.mark.parametrize("env,where", [
    ({}, "home/.local/share/jupyter"), ({"XDG_DATA_HOME": "data"}, "data/jupyter"),
    ({"XDG_DATA_HOME": "data", "JUPYTER_DATA_DIR": "jupyter"}, "jupyter")])
@pytest.mark.parametrize("arguments", [[], ["--user"]])
def test_a_user_s_own_goes_where_jupyter_looks(install, tmp_path, arguments, env, where):
    done = install(*arguments, **{k: str(tmp_path / v) for k, v in env.items()})
    assert done.returncode == 0
    assert spec_of(tmp_path / where)["language"] == "cuda-cpp"


def test_sys_prefix_is_the_virtual_environment_or_else_conda_s(install, tmp_path):
    venv, conda = str(tmp_path / "venv"), str(tmp_path / "conda")
    assert install("--sys-prefix", VIRTUAL_ENV=venv, CONDA_PREFIX=conda).returncode == 0
    assert spec_of(tmp_path / "venv/share/jupyter") and not os.path.exists(conda)
    assert install("--sys-prefix", VIRTUAL_ENV="", CONDA_PREFIX=conda).returncode == 0
    assert spec_of(tmp_path / "conda/share/jupyter")
    done = install("--sys-prefix")
    assert done.returncode == 2 and b"neither VIRTUAL_ENV nor CONDA_PREFIX" in done.stderr


def test_a_second_run_leaves_the_same_files(install, tmp_path):
    install("--prefix", str(tmp_path))
    folder = tmp_path / "share" / "jupyter" / "kernels" / "warpbook"
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert install(f"--prefix={tmp_path}").returncode == 0
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


@pytest.mark.parametrize("arguments", [["--prefix"], ["--prefix="], ["--prefix", ""]])
def test_an_empty_prefix_is_not_the_root_of_the_machine(install, arguments):
    done = install(*arguments)
    assert done.returncode == 2 and b"--prefix" in done.stderr


def test_a_folder_that_cannot_be_written_is_named(install, tmp_path):
    (tmp_path / "file").write_text("")
    done = install("--prefix", str(tmp_path / "file"))
    assert done.returncode == 1 and b"/file/share/jupyter" in done.stderr
