"""README.md says what is so: its examples' outputs, its table of magics, its links."""
import os
import re
import subprocess
import sys


def test_examples_and_magics_are_what_the_program_shows(warpbook, same_compiler, root):
    done = subprocess.run([sys.executable, "scripts/readme.py", "--check"], cwd=root, timeout=300,
                          capture_output=True, env={**os.environ, "WARPBOOK": warpbook}, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_every_link_leads_somewhere(root):
    for page in ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/lessons.md"):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            links = re.findall(r"\]\(([^)#]+)\)", file.read())
        for link in links:
            if not link.startswith("http"):
                path = os.path.join(root, os.path.dirname(page), link)
                assert os.path.exists(path), f"{page}: {link}"


def test_every_make_target_that_is_named_exists(root):
    with open(os.path.join(root, "Makefile"), encoding="utf-8") as file:
        targets = set(re.findall(r"^([a-z-]+):", file.read(), re.M))
    for page in ("README.md", "CONTRIBUTING.md"):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            for names in re.findall(r"`make ([a-z -]+)", file.read()):
                assert set(names.split()) <= targets, f"{page}: make {names}"


def test_every_file_that_is_named_exists(root):
    for page in ("README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/lessons.md"):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            names = re.findall(r"`([a-z][\w-]*(?:/[\w.-]+)*/(?:[\w.-]+)?)`", file.read())
        for name in names:
            if not re.search(r"NAME|NN", name) and not name.startswith("build/"):
                assert os.path.exists(os.path.join(root, name)), f"{page}: {name}"


def test_rows_are_where_contributing_says(root):
    with open(os.path.join(root, "CONTRIBUTING.md"), encoding="utf-8") as file:
        text = " ".join(file.read().split())
    for words, row in ((r"Its row goes into `([^`]+)`", "X(OCCUPANCY)"),
                       (r"A device\.\*\* A row in `([^`]+)`", 'GPU("L40S"'),
                       (r"A message\.\*\* A row in `([^`]+)`", "X(execute_request"),
                       (r"An instruction\.\*\* A row of `([^`]+)`", '"add.u32"'),
                       (r"its rows in `([^`]+)`", "divergence")):
        with open(os.path.join(root, re.search(words, text)[1]), encoding="utf-8") as file:
            assert row in file.read(), words
