"""JupyterLab in headless Chromium: what a person sees, not what the protocol says."""
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

METADATA = {"kernelspec": {"name": "warpbook", "display_name": "Warpbook (CUDA C)", "language": "cuda-cpp"}}

# What the front end fetches or says by itself; everything else in the console is ours.
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"checkForUpdates": False, "fetchNews": "false",
                                                    "doNotDisturbMode": True},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}


def find_chromium():
    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    return next((path for path in map(shutil.which, filter(None, names)) if path), None)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Lab:
    """A JupyterLab server of its own: settings, trust and kernels are nobody else's."""

    def __init__(self, home, folder):
        self.folder, settings = folder, home / "settings"
        self.log = home / "lab.log"
        self.url = f"http://127.0.0.1:{free_port()}"
        self.env = dict(os.environ, JUPYTER_CONFIG_DIR=str(home / "config"),
                        JUPYTER_DATA_DIR=str(home / "data"), JUPYTER_RUNTIME_DIR=str(home / "run"),
                        JUPYTERLAB_SETTINGS_DIR=str(settings),
                        JUPYTERLAB_WORKSPACES_DIR=str(home / "workspaces"))
        for name, value in SETTINGS.items():
            path = settings / (name + ".jupyterlab-settings")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value), encoding="utf-8")
        # The page of somebody who has installed nothing but JupyterLab.
        page = home / "config" / "labconfig" / "page_config.json"
        page.parent.mkdir(parents=True)
        page.write_text(json.dumps({"disabledExtensions": {"@jupyter/nbgrader": True}}),
                        encoding="utf-8")
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
                   "--port", self.url.rsplit(":", 1)[1], "--ServerApp.port_retries=0",
                   "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True",
                   "--ServerApp.root_dir=" + str(folder)]
        with open(self.log, "w", encoding="utf-8") as log:
            self.server = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL,
                                           stdout=log, stderr=subprocess.STDOUT)

    def wait(self):
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(150):
            if self.server.poll() is not None:
                break
            try:
                direct.open(self.url + "/api", timeout=5).close()
                return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError("JupyterLab did not start:\n" + self.log.read_text()[-3000:])

    def write(self, name, cells):
        """A notebook of code cells in the folder that the server shows."""
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": METADATA,
                    "cells": [{"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": source,
                               "outputs": [], "execution_count": None}
                              for i, source in enumerate(cells)]}
        (self.folder / name).write_text(json.dumps(notebook), encoding="utf-8")
        return name

    def stop(self):
        self.server.terminate()
        try:
            self.server.wait(20)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()


class Notebook:
    """One notebook open in a page."""

    OUTPUT = ".jp-OutputArea-output"

    def __init__(self, page, name):
        self.page = page
        self.root = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        page.set_viewport_size({"width": 1180, "height": 1000})
        page.evaluate("""async path => {
            await jupyterapp.commands.execute('docmanager:open', { path, factory: 'Notebook' });
        }""", name)
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60000)
        # A command that comes before the kernel is there would ask which one to select.
        page.wait_for_function("""() => jupyterapp.shell.currentWidget?.sessionContext?.session
            ?.kernel?.connectionStatus === 'connected'""", timeout=60000)
        page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.info")

    def close(self):
        """Without saving, and with its kernel."""
        self.page.evaluate("""async () => {
            const panel = jupyterapp.shell.currentWidget;
            await panel.sessionContext.shutdown();
            panel.dispose();
        }""")

    def cell(self, n):
        return self.root.locator(".jp-CodeCell").nth(n)

    def wait_idle(self, timeout=60):
        """Until the kernel is idle and no cell waits."""
        self.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]",
                                    timeout=timeout * 1000)
        self.page.wait_for_function(
            "() => ![...document.querySelectorAll('.jp-InputPrompt')]"
            ".some(p => p.textContent.includes('*'))", timeout=timeout * 1000)

    def run_all(self, timeout=120):
        """Run > Run All Cells."""
        self.wait_idle()
        # Neither the page nor the command's promise knows when the last cell has run: between two
        # cells the page shows an idle kernel, and the promise ends at the first cell that fails, also
        # where the cell says that it may. A request behind all of theirs ends behind all of theirs,
        # with what they displayed, and two frames later that is on the page.
        done = self.page.evaluate("""async timeout => {
            const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            const run = async () => {
                await jupyterapp.commands.execute('notebook:run-all-cells');
                await kernel.requestExecute({ code: '', silent: true, store_history: false,
                                              stop_on_error: false }).done;
                for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
                return true;
            };
            return Promise.race([run(), new Promise(late => setTimeout(late, timeout, false))]);
        }""", timeout * 1000)
        assert done, f"the cells still ran after {timeout} s"
        self.wait_idle(timeout)

    def button(self, command):
        self.root.locator(f".jp-Toolbar [data-command='{command}']").first.click()

    def edit(self, n, text):
        """Replaces what stands in cell n, as a person types it."""
        editor = self.cell(n).locator(".cm-content")
        editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        editor.press_sequentially(text)

    def settled(self, locator):
        """The texts, once no more come: a long list of completions is drawn in pieces."""
        before, texts = None, locator.all_inner_texts()
        while texts != before:
            self.page.wait_for_timeout(300)
            before, texts = texts, locator.all_inner_texts()
        return texts

    def complete(self, n, text):
        """Types text into cell n and presses Tab; returns what is offered, or inserted if alone."""
        matches = self.page.locator(".jp-Completer .jp-Completer-match")
        editor = self.cell(n).locator(".cm-content")
        for _ in range(6):  # a page that has just loaded lets Tab go by
            self.edit(n, text)
            self.page.keyboard.press("Tab")
            for _ in range(20):
                self.page.wait_for_timeout(100)
                if matches.count():
                    return self.settled(matches)
                if len(editor.inner_text().strip()) > len(text):
                    return [editor.inner_text().strip()]
        return []

    def run(self, n, timeout=60, wait=True):
        prompt = self.cell(n).locator(".jp-InputPrompt")
        before = prompt.text_content()
        self.cell(n).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        # Idle before the cell has been sent is not yet idle after it.
        self.page.wait_for_function("([prompt, before]) => prompt.textContent !== before",
                                    arg=[prompt.element_handle(), before], timeout=timeout * 1000)
        if wait:
            self.wait_idle(timeout)

    def errors(self):
        """The text of every error output."""
        return self.root.locator("[data-mime-type='application/vnd.jupyter.error'], "
                                 "[data-mime-type='application/vnd.jupyter.stderr']").all_inner_texts()

    def broken_images(self):
        return self.root.locator("img").evaluate_all(
            "all => all.filter(i => !i.complete || !i.naturalWidth).map(i => i.src.slice(0, 80))")

    def screenshot(self, stem, width=1000, slice_height=2000):
        """The whole notebook, without side bar, in slices STEM-1.png, STEM-2.png, ..."""
        page = self.page
        os.makedirs(os.path.dirname(stem), exist_ok=True)
        if page.locator("#jp-left-stack").is_visible():
            page.evaluate("() => { jupyterapp.commands.execute('application:toggle-left-area') }")
        page.set_viewport_size({"width": width, "height": 1000})
        page.wait_for_timeout(500)
        height = 200 + int(self.root.evaluate("""root => {
            const cells = [...root.querySelectorAll('.jp-Notebook .jp-Cell')];
            return cells.at(-1).getBoundingClientRect().bottom - cells[0].getBoundingClientRect().top;
        }"""))
        page.set_viewport_size({"width": width, "height": height})
        # Room past the end is on by default: what was scrolled stays scrolled.
        self.root.locator(".jp-WindowedPanel-outer").evaluate("outer => { outer.scrollTop = 0; }")
        page.wait_for_timeout(1000)
        for i, top in enumerate(range(0, height, slice_height), 1):
            page.screenshot(path=f"{stem}-{i}.png", clip={
                "x": 0, "y": top, "width": width, "height": min(slice_height, height - top)})


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = find_chromium()
    if not path:
        pytest.skip("needs chromium: apt-get install chromium")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(chromium, kernelspec, root, tmp_path_factory):
    """JupyterLab on a copy of notebooks/."""
    pytest.importorskip("jupyterlab", reason="needs jupyterlab")
    home = tmp_path_factory.mktemp("lab")
    folder = home / "notebooks"
    shutil.copytree(os.path.join(root, "notebooks"), folder)
    server = Lab(home, folder)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def page(chromium, lab):
    """JupyterLab's page, loaded once; page.problems is what its console complained of."""
    view = chromium.new_page(viewport={"width": 1180, "height": 1000})
    view.problems = []
    view.on("console", lambda m: m.type == "error" and view.problems.append(m.text))
    view.on("pageerror", lambda e: view.problems.append(str(e)))
    view.goto(lab.url + "/lab?reset", wait_until="domcontentloaded")
    view.wait_for_function("() => window.jupyterapp", timeout=90000)
    view.evaluate("() => jupyterapp.restored")
    yield view
    view.close()


@pytest.fixture
def open_notebook(page):
    """open_notebook(name) -> Notebook, closed at the end; its console must have stayed silent."""
    opened = []

    def open_one(name):
        opened.append(Notebook(page, name))
        return opened[-1]

    page.problems.clear()
    yield open_one
    for notebook in opened:
        notebook.close()
    assert not page.problems, "the browser's console: " + "\n".join(page.problems)


@pytest.fixture(scope="session")
def screenshots(root):
    """Where pictures for the eye of a person go."""
    return os.path.join(root, "build", "screenshots")
