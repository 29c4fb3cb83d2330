"""Every notebook, run as a person runs it, in both themes; the pictures are for looking at."""
import glob
import os

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LESSONS = sorted(os.path.basename(p) for p in glob.glob(os.path.join(ROOT, "notebooks", "*.ipynb")))


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_runs_from_top_to_bottom(open_notebook, screenshots, name):
    notebook = open_notebook(name)
    notebook.run_all(150)
    assert notebook.errors() == []
    assert notebook.broken_images() == []
    assert notebook.root.locator(".warpbook table").count() > 0
    assert notebook.root.locator(".jp-RenderedSVG img").count() > 0
    stem = os.path.splitext(name)[0]
    notebook.screenshot(os.path.join(screenshots, f"{stem}-light"))


@pytest.mark.parametrize("name", LESSONS[:1])
def test_the_dark_theme_is_as_readable(lab, open_notebook, screenshots, name):
    lab.set("@jupyterlab/apputils-extension/themes", {"theme": "JupyterLab Dark"})
    try:
        notebook = open_notebook(name)
        notebook.run_all(150)
        table = notebook.root.locator(".warpbook").first
        # Words take the theme's colour: light on dark.
        light = table.evaluate("e => getComputedStyle(e).color.match(/\\d+/g).slice(0, 3)"
                               ".every(c => c > 150)")
        assert light
        stem = os.path.splitext(name)[0]
        notebook.screenshot(os.path.join(screenshots, f"{stem}-dark"))
    finally:
        lab.set("@jupyterlab/apputils-extension/themes", {"theme": "JupyterLab Light"})


def test_the_picture_of_the_readme(lab, open_notebook, screenshots):
    """docs/images/lab.png is a copy of what this draws."""
    notebook = open_notebook(lab.write("first-steps.ipynb", [
        "%occupancy regs=42 static=8K", "%simulate warps=5 policy=lrr"]))
    notebook.page.evaluate("() => { jupyterapp.commands.execute('application:toggle-left-area') }")
    notebook.run_all()
    assert notebook.errors() == []
    assert notebook.root.locator(".jp-RenderedSVG img").count() == 2
    notebook.screenshot(os.path.join(screenshots, "lab"), width=900)
