"""docs/lessons.md: every claim stands there once, with what shows it and where a reader meets it."""
import glob
import importlib.util
import os
import re

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What is still to come; each list may only become shorter.
COMING_NOTEBOOKS = set()
COMING_MAGICS = set()
OPEN_CLAIMS = set()

LOOSE = {18, 33, 59, 108, 111, 117, 123, 124, 126, 134, 155}


def load_script():
    spec = importlib.util.spec_from_file_location("lessons", os.path.join(ROOT, "scripts", "lessons.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()
with open(SCRIPT.MAP, encoding="utf-8") as map_file:
    TEXT = map_file.read()
ROWS = SCRIPT.rows(TEXT)
NOTEBOOKS = {os.path.splitext(os.path.basename(path))[0]
             for path in glob.glob(os.path.join(ROOT, "notebooks", "*.ipynb"))}
MAGICS = {os.path.splitext(os.path.basename(path))[0]
          for path in glob.glob(os.path.join(ROOT, "cells", "magics", "*.c"))}


def claim(row):
    return int(row[0][1:])


def test_every_claim_has_one_row_in_order():
    assert [claim(row) for row in ROWS] == list(range(1, 169))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_what_how_and_where(row):
    _, what, how, shown, cells, notebooks = row
    assert what and re.fullmatch(r"prose|C|S|G|C, S|C, G|S, G|C, S, G", how)
    assert bool(shown) == (how != "prose") and (how != "prose" or cells == "-")
    for magic in re.findall(r"`%+(\w+)", shown):
        assert magic in MAGICS | COMING_MAGICS
    known = {name[:2] for name in NOTEBOOKS | COMING_NOTEBOOKS}
    assert notebooks and all(number in known for number in notebooks.split(", "))


def test_every_claim_with_a_value_is_checked_somewhere():
    assert {claim(row) for row in ROWS if row[2] != "prose" and row[4] == "-"} == OPEN_CLAIMS


def test_the_files_named_check_the_claim():
    found = SCRIPT.mentions()
    for row in ROWS:
        if row[4] != "-":
            assert set(row[4].split(", ")) <= set(found.get(claim(row), [])), row


def test_what_is_here_is_no_longer_coming():
    assert not COMING_NOTEBOOKS & NOTEBOOKS
    assert not COMING_MAGICS & MAGICS


def test_what_the_texts_say_loosely_is_set_right():
    section = TEXT[TEXT.index("## What the texts say loosely"):]
    assert {int(n) for n in re.findall(r"^\| F(\d+) \|", section, re.M)} == LOOSE
