"""
The lessons as they are committed: run by Jupyter's own client and by `warpbook run`, both give
the bytes of the file. So a reader sees what a run would show, and no output is out of date.
"""
import glob
import os
import re
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LESSONS = sorted(glob.glob(os.path.join(ROOT, "notebooks", "*.ipynb")))


@pytest.fixture(params=LESSONS, ids=os.path.basename)
def lesson(request):
    return request.param


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def allowed_to_fail(cell):
    return "raises-exception" in cell.metadata.get("tags", [])


def test_there_are_lessons():
    assert LESSONS


def test_warpbook_run_gives_the_committed_bytes(warpbook, same_compiler, lesson, tmp_path):
    out = tmp_path / "out.ipynb"
    done = subprocess.run([warpbook, "run", lesson, "-o", str(out), "--timeout", "60"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert out.read_text(encoding="utf-8") == text_of(lesson)


def test_nbclient_gives_the_committed_bytes(kernelspec, same_compiler, lesson):
    notebook = nbformat.read(lesson, as_version=4)
    client = NotebookClient(notebook, timeout=60, kernel_name=kernelspec, record_timing=False,
                            coalesce_streams=True)
    client.execute()
    assert nbformat.writes(notebook).rstrip("\n") == text_of(lesson).rstrip("\n")


def test_the_file_is_valid_and_names_the_kernel(lesson):
    notebook = nbformat.read(lesson, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "warpbook"
    assert notebook.metadata.kernelspec.language == "cuda-cpp"


def test_no_output_is_wider_than_a_page_or_an_error(lesson):
    for cell in nbformat.read(lesson, as_version=4).cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error" or allowed_to_fail(cell)
            text = output.get("text", "") or output.get("data", {}).get("text/plain", "")
            for line in text.splitlines():
                assert len(line) <= 83, line


def test_the_lesson_pins_its_device(lesson):
    code = [c.source for c in nbformat.read(lesson, as_version=4).cells if c.cell_type == "code"]
    assert re.match(r"%device [A-Z]", code[0])


def test_every_code_cell_with_a_result_has_output(lesson):
    for cell in nbformat.read(lesson, as_version=4).cells:
        if cell.cell_type == "code" and re.search(r"^%(occupancy|simulate|run|print|check)",
                                                  cell.source, re.M):
            assert cell.outputs, cell.source


def test_make_demo_prints_the_first_lesson(kernelspec, root):
    done = subprocess.run([sys.executable, "scripts/demo.py", LESSONS[0]], cwd=root, timeout=300,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode()
    assert "    Occupancy 83.3 %" in text and "    Scheduler busy 71.4 %" in text
