"""Rules that every file of the project keeps."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest


def test_no_room_includes_what_it_must_not(root):
    done = subprocess.run(["scripts/arrows.sh"], cwd=root, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_no_file_holds_unfinished_work_or_paths_of_a_machine(root):
    done = subprocess.run(["scripts/words.sh"], cwd=root, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_the_makefile_is_about_a_page_and_helps(root):
    with open(os.path.join(root, "Makefile"), encoding="utf-8") as file:
        assert len(file.readlines()) < 130
    text = subprocess.run(["make", "help"], cwd=root, capture_output=True, check=True).stdout
    for target in (b"lab", b"demo", b"test", b"test-long", b"bench", b"fuzz", b"asan", b"lint"):
        assert re.search(rb"^" + target + rb"\s", text, re.M)


def test_every_error_name_is_in_the_docs(root):
    with open(os.path.join(root, "model/base/err.h"), encoding="utf-8") as file:
        names = set(re.findall(r"X\((\w+)\)", file.read())) - {"name", "BadMessage"}
    with open(os.path.join(root, "docs/errors.md"), encoding="utf-8") as file:
        assert names == set(re.findall(r"^\| (\w+) \|", file.read(), re.M)) - {"name"}


def test_setting_up_again_finds_everything_in_place(root):
    done = subprocess.run(["scripts/setup.sh", "test"], cwd=root, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert b"apt-get" not in done.stdout and b"pip install" not in done.stdout


def test_make_install_puts_program_and_kernelspec_under_the_prefix(root, warpbook, tmp_path):
    subprocess.run(["make", "install", f"PREFIX={tmp_path}"], cwd=root, check=True, timeout=600,
                   stdin=subprocess.DEVNULL, capture_output=True)
    assert os.access(tmp_path / "bin" / "warpbook", os.X_OK)
    spec = tmp_path / "share" / "jupyter" / "kernels" / "warpbook" / "kernel.json"
    assert str(tmp_path / "bin" / "warpbook") in spec.read_text(encoding="utf-8")


def test_a_staged_install_names_the_program_where_it_will_be(root, warpbook, tmp_path):
    subprocess.run(["make", "install", f"DESTDIR={tmp_path}", "PREFIX=/usr"], cwd=root, check=True,
                   timeout=600, stdin=subprocess.DEVNULL, capture_output=True)
    spec = tmp_path / "usr" / "share" / "jupyter" / "kernels" / "warpbook" / "kernel.json"
    with open(spec, encoding="utf-8") as file:
        assert json.load(file)["argv"][0] == "/usr/bin/warpbook"


def test_a_build_says_what_it_makes_in_short_lines_and_warns_of_nothing(root, tmp_path):
    target = f"{tmp_path}/model/base/err.o"
    done = subprocess.run(["make", f"BUILD={tmp_path}", target], cwd=root, timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert done.stdout.decode() == f"make: {target}\n" and not done.stderr


def test_who_reads_only_the_head_of_the_demo_sees_no_error(kernelspec, root):
    done = subprocess.run("exec 3>&1; { python scripts/demo.py notebooks/01-*.ipynb 2>&3; "
                          "echo status $? >&3; } | head -n 1 >/dev/null", cwd=root, shell=True,
                          timeout=120, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.stdout == b"status 0\n"


@pytest.mark.parametrize("harm", ["none", "interrupted", "moved"])
def test_a_broken_environment_is_made_again(root, tmp_path, harm):
    """A python3 of our own ends set-up where it would make one, with status 3."""
    venv, programs = tmp_path / ".venv", tmp_path / "bin"
    for folder in (programs, tmp_path / "scripts"):
        folder.mkdir()
    for name in ("setup.sh", "requirements-lab.txt", "requirements-cuda.txt"):
        shutil.copy(os.path.join(root, "scripts", name), tmp_path / "scripts")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    for name in ("lab", "cuda"):
        shutil.copy(tmp_path / "scripts" / f"requirements-{name}.txt",
                    venv / f".scripts-requirements-{name}.txt")
    if harm != "interrupted":
        next(venv.glob("lib/python3*/site-packages")).joinpath("pip.py").write_text("")
    if harm == "moved":
        text = (venv / "bin" / "activate").read_text()
        (venv / "bin" / "activate").write_text(text.replace(str(venv), "/elsewhere/.venv"))
    (programs / "python3").write_text(
        f'#!/bin/sh\n[ "$2" != venv ] || exit 3\nexec {sys.executable} "$@"\n')
    (programs / "python3").chmod(0o755)
    done = subprocess.run(["scripts/setup.sh", "lab"], cwd=tmp_path, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False,
                          env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})
    assert done.returncode == (0 if harm == "none" else 3), done.stderr.decode()
