"""`warpbook run`: notebooks without Jupyter."""
import os
import signal
import subprocess
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def write(path, *cells, **metadata):
    nbformat.write(new_notebook(cells=list(cells), metadata=metadata), path)
    return path


def run(warpbook, *arguments, timeout=60):
    return subprocess.run([warpbook, "run", *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=timeout, check=False)


def read(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_the_file_is_the_one_that_nbformat_writes(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb", new_markdown_cell("# é\u2028\x1b"),
                   new_code_cell("%echo a\n%echo b"), new_code_cell(" \n"),
                   custom={"numbers": [0.1, 1e-7, 1e16, 2**53, -0.0], "empty": [{}, []]})
    assert run(warpbook, source, "-o", tmp_path / "out.ipynb").returncode == 0
    notebook = read(tmp_path / "out.ipynb")
    nbformat.write(notebook, tmp_path / "again.ipynb")
    assert (tmp_path / "out.ipynb").read_bytes() == (tmp_path / "again.ipynb").read_bytes()
    assert notebook.metadata.custom == read(source).metadata.custom
    assert notebook.metadata.language_info.name == "cuda-cpp"
    assert [c.get("execution_count") for c in notebook.cells] == [None, 1, None]
    assert notebook.cells[1].outputs == [{"output_type": "stream", "name": "stdout",
                                          "text": "a\nb\n"}]


def test_parameters_come_behind_the_tagged_cell(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb", new_markdown_cell("x"),
                   new_code_cell("n = 1\ns = \"a\"", metadata={"tags": ["parameters"]}),
                   new_code_cell("%print n, s"))
    out = tmp_path / "out.ipynb"
    assert run(warpbook, source, "-p", "n=1000", "-p", "s=gto", "-o", out).returncode == 0
    cells = read(out).cells
    assert cells[2].metadata.tags == ["injected-parameters"]
    assert cells[2].source == "# Parameters\nn = 1000\ns = \"gto\"\n"
    assert cells[3].outputs[0].text == "1000 gto\n"
    # A second run replaces the injected cell.
    assert run(warpbook, out, "-p", "n=7", "-o", out).returncode == 0
    assert [c.source for c in read(out).cells][2] == "# Parameters\nn = 7\n"
    assert len(read(out).cells) == 4


def test_the_first_failing_cell_ends_the_run_and_the_file_is_saved(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb", new_code_cell("%echo a"), new_code_cell("%print nobody"),
                   new_code_cell("%echo c"))
    out = tmp_path / "out.ipynb"
    done = run(warpbook, source, "-o", out)
    assert done.returncode == 1
    assert b"cell 2 of" in done.stderr
    assert [len(c.outputs) for c in read(out).cells] == [1, 1, 0]
    assert read(out).cells[1].outputs[0].ename == "NameError"
    done = run(warpbook, source, "-o", out, "--allow-errors")
    assert done.returncode == 1
    assert [len(c.outputs) for c in read(out).cells] == [1, 1, 1]


def test_a_cell_tagged_raises_exception_may_fail(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb",
                   new_code_cell("%print nobody", metadata={"tags": ["raises-exception"]}),
                   new_code_cell("%echo on"))
    assert run(warpbook, source, "-o", tmp_path / "out.ipynb").returncode == 0


def test_a_cell_that_takes_too_long_is_stopped(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb", new_code_cell("%sleep 60"), new_code_cell("%echo on"))
    start = time.monotonic()
    done = run(warpbook, source, "-o", tmp_path / "out.ipynb", "--timeout", "0.5")
    assert time.monotonic() - start < 10
    assert done.returncode == 1 and b"--timeout" in done.stderr
    assert read(tmp_path / "out.ipynb").cells[0].outputs[0].ename == "Interrupted"


def test_ctrl_c_saves_what_there_is(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb", new_code_cell("%echo a"), new_code_cell("%sleep 60"))
    out = tmp_path / "out.ipynb"
    process = subprocess.Popen([warpbook, "run", str(source), "-o", str(out)],
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=10)
    assert process.returncode == 1 and b"interrupted" in text
    assert read(out).cells[0].outputs[0].text == "a\n"


def test_without_o_outputs_are_printed_and_nothing_is_written(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb", new_code_cell("%echo a"))
    before = source.read_bytes()
    done = run(warpbook, source)
    assert done.stdout == b"a\n" and done.returncode == 0
    assert source.read_bytes() == before
    assert os.listdir(tmp_path) == ["in.ipynb"]


def test_the_output_may_be_standard_output_or_the_notebook_itself(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb", new_code_cell("%echo a"))
    done = run(warpbook, source, "-o", "-")
    assert nbformat.reads(done.stdout.decode(), as_version=4).cells[0].outputs
    os.chmod(source, 0o640)
    assert run(warpbook, source, "-o", source).returncode == 0
    assert read(source).cells[0].outputs
    assert os.stat(source).st_mode & 0o777 == 0o640


@pytest.mark.parametrize("content", [
    "", "{", "[]", "{\"nbformat\": 3}", "{\"nbformat\": 4, \"cells\": 1}",
    "{\"nbformat\": 4, \"cells\": [[]]}", "[" * 100_000, "\xff\xfe"])
def test_what_is_no_notebook_is_2_and_says_why(warpbook, tmp_path, content):
    path = tmp_path / "in.ipynb"
    path.write_bytes(content.encode("latin-1"))
    done = run(warpbook, path, "-o", tmp_path / "out.ipynb")
    assert done.returncode == 2 and done.stderr.startswith(b"warpbook run: ")
    assert not (tmp_path / "out.ipynb").exists()


@pytest.mark.parametrize("arguments", [
    [], ["-p", "n", "x"], ["-p", "1n=2", "x"], ["--timeout", "0", "x"], ["--timeout", "soon", "x"],
    ["--what", "x"], ["no/such/file.ipynb"]])
def test_a_wrong_command_line_is_2(warpbook, arguments):
    done = run(warpbook, *arguments)
    assert done.returncode == 2 and done.stderr


def test_a_folder_that_cannot_be_written_is_1(warpbook, tmp_path):
    source = write(tmp_path / "in.ipynb", new_code_cell("%echo a"))
    done = run(warpbook, source, "-o", tmp_path / "none" / "out.ipynb")
    assert done.returncode == 1 and b"No such file" in done.stderr
