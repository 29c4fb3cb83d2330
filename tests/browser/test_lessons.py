"""Every notebook, run as a person runs it, in both themes; the pictures are for looking at."""
import glob
import json
import os

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A lesson takes the browser ten seconds. tests/notebooks runs all of them in every `make test`; here
# that is `make test-long`'s, and the others see the longest, one with faults and one with both.
SHORT = ("01-", "05-", "10-")
LESSONS = sorted(name for name in map(os.path.basename, glob.glob(os.path.join(ROOT, "notebooks",
                                                                             "*.ipynb")))
                 if os.environ.get("WARPBOOK_LONG") or name.startswith(SHORT))


def committed_outputs(name):
    """The outputs that the lesson's file holds."""
    with open(os.path.join(ROOT, "notebooks", name), encoding="utf-8") as file:
        return [o for cell in json.load(file)["cells"] for o in cell.get("outputs", [])]


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_runs_from_top_to_bottom(open_notebook, screenshots, name):
    notebook = open_notebook(name)
    outputs = committed_outputs(name)
    notebook.run_all(150)
    # Some lessons fail on purpose, in cells that say so; the cells behind them run all the same.
    assert len(notebook.errors()) == sum(o["output_type"] == "error" for o in outputs)
    assert notebook.broken_images() == []
    assert notebook.root.locator(".warpbook table").count() > 0
    assert notebook.root.locator(".jp-RenderedSVG img").count() == sum(
        "image/svg+xml" in o.get("data", {}) for o in outputs)
    stem = os.path.splitext(name)[0]
    notebook.screenshot(os.path.join(screenshots, f"{stem}-light"))


FIRST_STEPS = ["%occupancy regs=42 static=8K", "%simulate warps=5 policy=lrr"]


def run_first_steps(lab, open_notebook):
    notebook = open_notebook(lab.write("first-steps.ipynb", FIRST_STEPS))
    notebook.run_all()
    assert notebook.errors() == []
    assert notebook.broken_images() == []
    assert notebook.root.locator(".jp-RenderedSVG img").count() == 2
    return notebook


def brightness(locator):
    """Of the words: 0 is black, 255 white."""
    return locator.evaluate("e => Math.max(...getComputedStyle(e).color.match(/\\d+/g).slice(0, 3))")


def test_the_picture_of_the_readme(lab, open_notebook, screenshots):
    """docs/images/lab.png is a copy of what this draws."""
    notebook = run_first_steps(lab, open_notebook)
    assert brightness(notebook.root.locator(".warpbook td").first) < 100
    notebook.screenshot(os.path.join(screenshots, "lab"), width=900)


def test_the_dark_theme_is_as_readable(lab, page, open_notebook, screenshots):
    def change_theme(name):
        page.evaluate("name => jupyterapp.commands.execute('apputils:change-theme', "
                      "{ theme: 'JupyterLab ' + name })", name)
        page.wait_for_selector(f"body[data-jp-theme-name='JupyterLab {name}']", state="attached")

    change_theme("Dark")
    try:
        notebook = run_first_steps(lab, open_notebook)
        # Words take the theme's colour; pictures bring their own light card.
        assert brightness(notebook.root.locator(".warpbook td").first) > 150
        notebook.screenshot(os.path.join(screenshots, "lab-dark"), width=900)
    finally:
        change_theme("Light")
