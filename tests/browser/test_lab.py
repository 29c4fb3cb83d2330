"""A person at JupyterLab: runs cells, completes, asks, interrupts, restarts."""
import time


def text(locator):
    return locator.inner_text().replace("\xa0", " ")


def test_a_cell_answers_below_itself(lab, open_notebook):
    notebook = open_notebook(lab.write("hello.ipynb", ["n = 6 * 7\n%print n"]))
    notebook.run_all()
    assert notebook.errors() == []
    assert text(notebook.cell(0).locator(notebook.OUTPUT)).strip() == "42"
    assert "[1]" in text(notebook.cell(0).locator(".jp-InputPrompt"))


def test_an_error_says_where_and_what_next(lab, open_notebook):
    notebook = open_notebook(lab.write("error.ipynb", ["%prnt 1"]))
    notebook.run_all()
    assert "UnknownMagic" in notebook.errors()[0]
    assert "%print" in notebook.errors()[0]


def test_tab_completes_magics(lab, open_notebook):
    notebook = open_notebook(lab.write("complete.ipynb", [""]))
    notebook.wait_idle()
    offered = notebook.complete(0, "%")
    assert {"%let", "%print", "%echo", "%%for"} <= set(offered)
    assert notebook.complete(0, "%pri") == ["%print"]


def test_shift_tab_explains_a_magic(lab, open_notebook):
    notebook = open_notebook(lab.write("explain.ipynb", [""]))
    notebook.wait_idle()
    notebook.edit(0, "%let n = 3")
    for _ in range(6):
        notebook.page.keyboard.press("ArrowLeft")
    notebook.page.keyboard.press("Shift+Tab")
    tooltip = notebook.page.locator(".jp-Tooltip-content")
    tooltip.wait_for()
    assert "let" in text(tooltip)
    assert len(text(tooltip)) > 40


def test_interrupt_stops_a_cell_and_keeps_the_variables(lab, open_notebook):
    notebook = open_notebook(lab.write("interrupt.ipynb", ["n = 3", "%sleep 60", "%print n"]))
    notebook.wait_idle()
    notebook.run(0)
    notebook.run(1, wait=False)
    assert "*" in text(notebook.cell(1).locator(".jp-InputPrompt"))
    start = time.monotonic()
    notebook.button("notebook:interrupt-kernel")
    notebook.wait_idle(10)
    assert time.monotonic() - start < 8
    assert "Interrupted" in notebook.errors()[0]
    notebook.run(2)
    assert text(notebook.cell(2).locator(notebook.OUTPUT)).strip() == "3"


def test_restart_forgets_the_variables(lab, open_notebook):
    notebook = open_notebook(lab.write("restart.ipynb", ["n = 3", "%print n"]))
    notebook.run_all()
    notebook.button("notebook:restart-kernel")
    notebook.page.locator(".jp-Dialog .jp-mod-accept").click()
    notebook.page.wait_for_timeout(500)
    notebook.wait_idle()
    notebook.run(1)
    assert "NameError" in notebook.errors()[0]
