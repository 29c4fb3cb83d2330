"""Runs a notebook with its kernel and prints the text of every cell and output."""
import os
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def text_of(output):
    """What a reader without a browser sees of one output: all but the figures."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return "" if "image/svg+xml" in output.data else output.data.get("text/plain", "")


def main(path):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": "."}})
    status = 0
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            print(cell.source.rstrip(), end="\n\n")
            if cell.cell_type != "code":
                continue
            try:
                client.execute_cell(cell, index)
            except CellExecutionError:
                status = 1
            for text in filter(None, map(text_of, cell.outputs)):
                print("    " + text.rstrip().replace("\n", "\n    "), end="\n\n")
            sys.stdout.flush()
            if status:
                break
    return status


if __name__ == "__main__":
    try:
        status = main(sys.argv[1])
    except BrokenPipeError:  # `make demo | head` is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)
