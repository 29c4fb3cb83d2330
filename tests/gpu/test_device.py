"""%device gpu: every field of cudaDeviceProp, as the runtime gives it (F107)."""
import os
import subprocess

import pytest

from gpu_cells import HAS_CARD, ROOT


@pytest.fixture(scope="module")
def runtime(nvcc, tmp_path_factory):
    """What cudaGetDeviceProperties says of card 0: lists of numbers by field, and its name."""
    if not HAS_CARD:
        pytest.skip("needs a GPU")
    program = str(tmp_path_factory.mktemp("properties") / "properties")
    subprocess.run([nvcc, "-o", program, os.path.join(ROOT, "tests", "gpu", "properties.cu")], check=True, timeout=120)
    text = subprocess.run([program], check=True, timeout=60, capture_output=True).stdout.decode()
    rows = dict(line.split(" ", 1) for line in text.splitlines())
    return {name: value if name == "name" else [int(v) for v in value.split()] for name, value in rows.items()}


def test_every_field_is_the_runtimes(card, runtime):
    (result,) = card.cells("%device gpu")[0].ok().results
    name = runtime.pop("name")
    assert name in (result["name"], "NVIDIA " + result["name"])
    assert len(runtime) > 80
    for field, values in runtime.items():
        got = result["properties"][field]
        got = got if isinstance(got, list) else [got]
        assert [v & 0xffffffff for v in got] == [v & 0xffffffff for v in values] or got == values, field


def test_fields_are_grouped_named_and_in_units(driver):
    answer = driver.cells("%device gpu")[0].ok()
    (result,) = answer.results
    properties = result["properties"]
    for group in ("limits of a launch", "multiprocessors", "memory and caches", "copies, streams and the host",
                  "board and system", "textures and surfaces"):
        assert f"\n  {group}\n" in answer.text
    assert f"  maxThreadsPerBlock {properties['maxThreadsPerBlock']:,} threads" in \
        "\n".join(" " * 2 + " ".join(line.split()) for line in answer.text.splitlines())
    assert properties["maxThreadsDim"] == [1024, 1024, 64]
    assert properties["uuid"].startswith("GPU-")
    assert max(map(len, answer.text.splitlines())) <= 83


def test_fields_are_read_by_name(driver):
    answer = driver.cells("%device gpu -> d\n%check d.properties.warpSize == 32\n"
                          "%check d.properties.multiProcessorCount == d.sms")[0]
    answer.ok()


def test_a_model_has_no_properties(driver):
    assert driver.cells("%device L40S")[0].ok().results[0]["properties"] is None
