"""
The claims of the lessons, F1 to F168 of docs/lessons.md, shown by cells that check themselves.

A file `TOPIC.cells` holds cells separated by lines that hold just `%%`. The first line of a cell names the
claims and says in a few words what it shows: `# F16, F17: one warp is busy 2 of 10`. A cell holds when it
ends without an error and checked something; one that must fail names the error in its second line:
`# raises ValueError`. The cells of a file run one after the other in one session, as the device L40S.
"""
import functools
import glob
import json
import os
import re
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = re.compile(r"# ((?:F\d+(?:, |(?=:)))+): (\S.*)\n")
RAISES = re.compile(r"# raises (\w+)\n")


class Claim:
    """One cell, and what its head says of it."""

    def __init__(self, path, place, source):
        self.file, self.place, self.source = os.path.basename(path), place, source
        self.head = HEAD.match(source)
        lines = source.splitlines(keepends=True)
        raises = RAISES.fullmatch(lines[1]) if len(lines) > 1 else None
        self.raises = raises and raises[1]
        self.numbers = [int(n) for n in re.findall(r"F(\d+)", self.head[1])] if self.head else []

    @property
    def name(self):
        """Of the test case: its file, its place there and its claims."""
        return "-".join([self.file[:-len(".cells")], str(self.place + 1), *(f"F{n}" for n in self.numbers)])


def claims():
    """Every cell of every file."""
    found = []
    for path in sorted(glob.glob(os.path.join(HERE, "*.cells"))):
        with open(path, encoding="utf-8") as file:
            cells = re.split(r"^%%\n", file.read(), flags=re.M)
        found += [Claim(path, place, source) for place, source in enumerate(cells)]
    return found


@functools.lru_cache(maxsize=None)
def run(warpbook, file):
    """The outputs of each cell of a file, by place."""
    done = subprocess.run([warpbook, "cell", os.path.join(HERE, file), "--format", "json", "--device", "L40S"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=150, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def said(outputs):
    """All that a cell put out, errors without their colours."""
    texts = []
    for output in outputs:
        if output["output_type"] == "error":
            texts += [f"{output['ename']}: {output['evalue']}", *output["traceback"]]
        else:
            texts.append(output.get("text") or output["data"].get("text/plain", ""))
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim.name)
def test_the_claim_holds(warpbook, claim):
    assert claim.head, f"the first line says which claims: # F16, F17: what it shows\n{claim.source}"
    assert all(1 <= number <= 168 for number in claim.numbers)
    assert claim.raises or re.search(r"^ *%check ", claim.source, re.M), "a claim is checked"
    cells = run(warpbook, claim.file)
    outputs = cells[claim.place]["outputs"]
    errors = [output["ename"] for output in outputs if output["output_type"] == "error"]
    assert errors == ([claim.raises] if claim.raises else []), said(outputs)


@pytest.mark.parametrize("file", sorted({claim.file for claim in claims()}))
def test_every_cell_of_a_file_is_a_claim(warpbook, file):
    assert len(run(warpbook, file)) == len([claim for claim in claims() if claim.file == file])
