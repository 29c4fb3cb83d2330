"""
Exercises in the spirit of a textbook's chapter on scheduling and occupancy, each answered by cells.

A file `NAME.cells` holds exercises separated by lines that hold just `%%`: the question in a numbered comment,
the answer worked out by hand below it, then the cells that find the same.
"""
import glob
import json
import os
import re
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = sorted(glob.glob(os.path.join(HERE, "*.cells")))


def exercises(path):
    """The cells of a file."""
    with open(path, encoding="utf-8") as file:
        return re.split(r"^%%\n", file.read(), flags=re.M)


@pytest.fixture(scope="module", params=FILES, ids=os.path.basename)
def worked(request, warpbook):
    """A file's cells and what each gave, in one session."""
    done = subprocess.run([warpbook, "cell", request.param, "--format", "json", "--device", "L40S"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    cells = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return list(zip(exercises(request.param), cells, strict=True))


def test_there_are_at_least_twelve(worked):
    assert len(worked) >= 12


def test_each_is_asked_worked_out_by_hand_and_checked(worked):
    for number, (source, _) in enumerate(worked, 1):
        assert re.match(rf"# {number}: \S", source), source
        assert re.search(r"^# By hand", source, re.M), source
        assert re.search(r"^%check ", source, re.M), source


def test_cells_find_what_was_worked_out_by_hand(worked):
    for source, cell in worked:
        errors = ["\n".join(output["traceback"]) for output in cell["outputs"]
                  if output["output_type"] == "error"]
        assert not errors, source + "\n".join(errors)
