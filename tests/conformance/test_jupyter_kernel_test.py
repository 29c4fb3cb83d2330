"""The public suite, with every sample set that applies to this kernel."""
import os

import jupyter_kernel_test
import pytest


@pytest.fixture(scope="module", autouse=True)
def spec(kernelspec, tmp_path_factory):
    """The suite starts the kernel by name."""
    os.environ["WARPBOOK_HISTORY"] = str(tmp_path_factory.mktemp("history") / "history.jsonl")
    yield kernelspec
    del os.environ["WARPBOOK_HISTORY"]


class TestKernel(jupyter_kernel_test.KernelTests):
    kernel_name = "warpbook"
    language_name = "cuda-cpp"
    file_extension = ".cu"
    code_hello_world = "%echo hello, world"
    code_stderr = "%echo -e oops"
    completion_samples = [
        {"text": "%occ", "matches": {"%occupancy"}},
        {"text": "%simulate wa", "matches": {"wait=", "warps="}},
    ]
    complete_code_samples = ["%occupancy regs=42", "n = 1000", "__global__ void k() {}"]
    incomplete_code_samples = ["__global__ void k(int *x) {", "%occupancy regs=[32,"]
    invalid_code_samples = ["}", "__global__ void k() { } }", ")"]
    code_page_something = "%occupancy?"
    code_generate_error = "%no_such_magic"
    code_execute_result = [
        {"code": "%score 2.5", "result": "2.5"},
        {"code": "%score 1 + 1", "result": "2"},
        {"code": "%score 6 / 4.0", "result": "1.5"},
    ]
    # Samples of one display each: the suite wants the type in every one of a cell.
    code_display_data = [
        {"code": "%devices", "mime": "text/plain"},
        {"code": "%devices", "mime": "text/html"},
        {"code": "%devices", "mime": "application/vnd.warpbook.v1+json"},
    ]
    code_history_pattern = "%score 1 ?*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "%occupancy"
    code_clear_output = "%clear"


class TestIopubWelcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "warpbook"
    support_iopub_welcome = True
