"""
Cells as students write them, wrong and right, and what Warpbook must say.

A file `*.cells` holds cells separated by lines that hold just `%%`. Its head asks a question and names the
answer: `# expect:` the error names that answer it (or `ok`), `# says:` a text that must stand in the error
(or, with ok, in the outputs). The head is cut off before the cells run, so that line 1 is the first of CUDA C.
"""
import json
import os
import re
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


def files():
    return sorted(os.path.relpath(os.path.join(folder, name), HERE)
                  for folder, _, names in os.walk(HERE) for name in names if name.endswith(".cells"))


def parse(text):
    """The head's keys, and the cells below it."""
    head = {"question": [], "expect": [], "says": [], "long": []}
    lines = text.splitlines(keepends=True)
    while lines and (found := re.match(r"# (question|expect|says|long): (.*)", lines[0])):
        head[found[1]].append(found[2].strip())
        lines.pop(0)
    assert head["question"] and head["expect"], "a file says what is asked and what must be answered"
    return head, "".join(lines)


def run(warpbook, cells):
    """All that the cells put out, and the error of the last one that failed, or None."""
    done = subprocess.run([warpbook, "cell", "-", "--format", "json", "--device", "L40S"],
                          input=cells.encode(), capture_output=True, timeout=60, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    texts, error = [], None
    for line in done.stdout.decode().splitlines():
        for output in json.loads(line)["outputs"]:
            if output["output_type"] == "error":
                error = output
            elif output["output_type"] == "stream":
                texts.append(output["text"])
            else:
                texts.append(output["data"].get("text/plain", ""))
    return "".join(texts), error


def plain(error):
    """An error's sentence and traceback without colours."""
    text = "\n".join([f"{error['ename']}: {error['evalue']}", *error["traceback"]])
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("name", files())
def test_the_answer_is_named(warpbook, name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        head, cells = parse(file.read())
    if head["long"] and not os.environ.get("WARPBOOK_LONG"):
        pytest.skip(f"make test-long runs it: {head['long'][0]}")
    texts, error = run(warpbook, cells)
    names = head["expect"][0].split()
    said = plain(error) if error else texts
    if names == ["ok"]:
        assert error is None, said
    else:
        assert error, texts
        assert error["ename"] in names, said
    for text in head["says"]:
        assert text in said, said
