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
