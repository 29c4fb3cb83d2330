"""Frames move without script: live, in a saved page, and safely where nothing is trusted."""
import os
import subprocess
import sys

import pytest

SWEEP = "%simulate warps=1..6 frames=yes"


@pytest.fixture(scope="module")
def executed(lab, warpbook):
    """A notebook whose slider was made by a headless run, hence not trusted."""
    name = lab.write("slider-run.ipynb", [SWEEP])
    path = str(lab.folder / name)
    subprocess.run([warpbook, "run", path, "-o", path], check=True, timeout=60,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return name


def shown(page):
    """Which frames of the first slider are visible."""
    frames = page.locator(".wb-frames").first.locator("> div")
    return [i for i in range(frames.count()) if frames.nth(i).is_visible()]


def test_a_live_slider_shows_the_frame_that_is_clicked(lab, open_notebook):
    notebook = open_notebook(lab.write("slider.ipynb", [SWEEP]))
    notebook.run_all()
    assert shown(notebook.page) == [0]
    notebook.page.locator(".wb-slider input").nth(4).click()
    assert shown(notebook.page) == [4]
    assert notebook.broken_images() == []


def test_two_copies_of_a_slider_do_not_disturb_each_other(lab, open_notebook):
    notebook = open_notebook(lab.write("sliders.ipynb", [SWEEP, SWEEP]))
    notebook.run_all()
    notebook.cell(1).locator(".wb-slider input").nth(2).click()
    assert shown(notebook.page) == [0]
    notebook.cell(0).locator(".wb-slider input").nth(3).click()
    second = notebook.cell(1).locator(".wb-frames > div")
    assert [i for i in range(second.count()) if second.nth(i).is_visible()] == [2]


def test_a_saved_page_moves_without_script(lab, executed, chromium):
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", "--output", "slider-run.html",
                    str(lab.folder / executed)], check=True, timeout=120, env=lab.env,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    context = chromium.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto("file://" + os.path.join(str(lab.folder), "slider-run.html"))
        buttons = page.locator(".wb-slider input")
        assert shown(page) == [0]
        buttons.nth(3).click()
        assert shown(page) == [3]
        page.keyboard.press("ArrowRight")
        assert shown(page) == [4]
        page.keyboard.press("Enter")
        assert page.url.endswith("slider-run.html")
    finally:
        context.close()


def test_without_trust_the_first_frame_and_the_tables_still_show(executed, open_notebook):
    notebook = open_notebook(executed)
    notebook.wait_idle()
    assert shown(notebook.page) == [0]
    assert notebook.page.locator(".wb-note").is_visible()
    assert notebook.page.locator(".warpbook table").first.is_visible()
    assert notebook.page.locator(".wb-slider input").first.is_hidden()
