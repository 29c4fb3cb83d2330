"""`warpbook cell`: formats, separation of cells, exit status."""
import json
import os
import subprocess

import nbformat
import pytest

SCRIPT = """n = 5
%print "n is", n
%%
%print nobody
%%
%echo still here
"""


def run(warpbook, *arguments, text=SCRIPT):
    return subprocess.run([warpbook, "cell", *arguments], input=text.encode(), capture_output=True,
                          timeout=60, check=False)


def test_text_is_what_a_terminal_shows_and_errors_go_to_stderr(warpbook):
    done = run(warpbook, "-")
    assert done.returncode == 1
    assert done.stdout.decode() == "n is 5\nstill here\n"
    assert done.stderr.decode().startswith("NameError: ")


@pytest.mark.parametrize("cell", ["%occupancy regs=42 device=L40S", "%simulate warps=5",
                                  "%occupancy regs=16..128:8", "%run divergence n=64K device=L40S"])
def test_on_a_terminal_a_figure_does_not_say_again_what_its_table_said(warpbook, cell):
    done = run(warpbook, "-", text=cell)
    assert done.returncode == 0
    lines = [line for line in done.stdout.decode().splitlines() if line]
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize("cell", ["%help", "%run", "%devices", "%device H200", "%who"])
def test_a_list_is_no_wider_than_a_page(warpbook, cell):
    assert max(map(len, run(warpbook, "-", text=cell).stdout.decode().splitlines())) <= 83


@pytest.mark.parametrize("word,meaning", [("lrr", "round robin"), ("gto", "oldest"),
                                          ("Compute Capability", "version"), ("warp", "32")])
def test_help_knows_the_words_of_the_field(warpbook, word, meaning):
    done = run(warpbook, "-", text=f"%help {word}")
    assert done.returncode == 0 and meaning in done.stdout.decode()


def test_json_is_one_line_a_cell_with_nbformat_outputs(warpbook):
    done = run(warpbook, "-", "--format", "json")
    cells = [json.loads(line) for line in done.stdout.splitlines()]
    assert [cell["status"] for cell in cells] == ["ok", "error", "ok"]
    assert cells[0]["outputs"] == [{"name": "stdout", "output_type": "stream", "text": "n is 5\n"}]
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("", outputs=cell["outputs"]) for cell in cells])
    nbformat.validate(nbformat.from_dict(notebook))
    assert done.returncode == 1


def test_html_is_a_page_that_needs_nothing_else(warpbook):
    page = run(warpbook, "-", "--format", "html", text="%echo a < b & c").stdout.decode()
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
    assert "a &lt; b &amp; c" in page
    assert "<script" not in page and "http" not in page


@pytest.mark.parametrize("format", ["text", "json", "html"])
def test_output_that_cannot_be_written_is_an_error(warpbook, format):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([warpbook, "cell", "-", "--format", format], input=b"%echo a",
                              stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert b"standard output cannot be written" in done.stderr


def test_status_is_0_when_every_cell_passed(warpbook):
    assert run(warpbook, "-", text="%echo a").returncode == 0
    assert run(warpbook, "-", text="").returncode == 0


@pytest.mark.parametrize("arguments", [
    [], ["a", "b"], ["-", "--format", "xml"], ["-", "--nonsense"], ["no/such/file"],
    ["-", "--device", "no such card"]])
def test_a_wrong_command_line_is_2_and_says_why(warpbook, arguments):
    done = run(warpbook, *arguments)
    assert done.returncode == 2
    assert done.stderr


@pytest.mark.parametrize("text", [
    "\0\0\0", "%", "%%", "%print \"", "\xff" * 1000, "%echo " + "x" * 1_000_000, "{" * 100_000,
    "%print " + "(" * 100_000])
def test_hostile_cells_cost_their_cell_only(warpbook, text):
    done = run(warpbook, "-", "--format", "json", text=text + "\n%%\n%echo alive\n")
    assert done.returncode in (0, 1)
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["outputs"][0]["text"] == "alive\n"


def test_what_was_started_as_a_child_starts_no_children(warpbook):
    """A program that takes itself for a front would fill the machine with its likes."""
    done = subprocess.run([warpbook, "cell", "-"], input=b"__global__ void k() {}\n", timeout=60,
                          capture_output=True, check=False, env=dict(os.environ, WARPBOOK_CHILD="1"))
    assert done.returncode == 1
    assert b"InternalError: a child process starts no compiler process" in done.stderr


def test_every_command_has_help(warpbook):
    for command in ("kernel", "install", "cell", "run", "doctor"):
        done = subprocess.run([warpbook, command, "--help"], capture_output=True, timeout=30,
                              check=False)
        assert done.returncode == 0 and done.stdout.startswith(b"usage: warpbook " +
                                                               command.encode())


def test_doctor_says_what_is_here(warpbook):
    done = subprocess.run([warpbook, "doctor"], capture_output=True, timeout=60, check=False)
    assert done.returncode in (0, 1)
    assert done.stdout.decode().splitlines()[0].startswith(("Ready", "Not ready"))
    assert "compiler" in done.stdout.decode()
