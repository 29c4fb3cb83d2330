"""Every result that a magic gives is what docs/result.schema.json says."""
import glob
import json
import os
import re
import subprocess

import jsonschema
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MIME = "application/vnd.warpbook.v1+json"
LAUNCH = """__global__ void add(int n, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += n / 0.5f;
}
%buffer x float[100] = ones
"""
LINES = [
    "%occupancy", "%occupancy block=1024 regs=255", "%occupancy static=99999",
    "%occupancy device=H200 cluster=4", "%occupancy regs=0", "%occupancy regs=16..128:8",
    "%occupancy block=[64,128] device=[L40S,A100]", "%simulate", "%simulate warps=12 jitter=3",
    "%simulate warps=1..4 policy=[gto,lrr]", "%simulate schedulers=4 warps=7 cycles=10",
    "%simulate warps=1..3 frames=yes", "%schedule", "%schedule device=cc=8.9 sms=3 per_sm=2 jitter=9",
    "%schedule grid=1..9 sms=[2,4]", "%specialize", "%specialize wait_when=\"k > pipe\" regs=\"loader=40\"",
    "%specialize program=[v1,static,ffii,blackwell]", "%specialize tile=256 jitter=3",
    "%specialize conditions", "%doctor", "%who", "%run divergence n=64K",
    "%run divergence device=L40S", "%run ilp device=H200 warps=[1,4] chains=2", "%run barrier device=cc=7.5",
    "%run policy device=L40S warps=[1,16] issue=[8,9]", "%run banks device=A100 way=chain stride=[1,32]",
    "__global__ void k(float *x) { x[threadIdx.x] = 1; }",
    LAUNCH + "add<<<1, 100>>>(100, x)", LAUNCH + "%launch add<<<4, 32>>>(100, x) build=[opt,debug]",
    LAUNCH + "%lines add<<<1, 100>>>(100, x)", LAUNCH + "%bench add<<<1, 100>>>(100, x) flops=200",
    "%buffer float x[9] = {i == 3 ? nan : i}\n%show x[2..5]\n%who",
    "%buffer float4 v[3]\n%show v", "%buffer half h[9] = normal(1)\n%plot h, {h[i] * 2}",
    "%buffer int a[3] = iota\n%buffer int b[3]\n%compare a b\n%compare a a",
    "a = %occupancy\nb = %occupancy regs=64\n%compare a b",
    "%layout block=(8,8,2)", "%layout block=100 n=250", "%layout block=32..64 n=[100,200]",
    "%layout grid=3 warp=2 lane=3", "%lanes", "%lanes trips={lane} block=70 grid=2", "%lanes paths=32 wait=3",
    "%lanes if=[lane < 3, tid % 2] before=1 after=2", "%lanes depth=0..3 its=[off,on]",
    "%occupancy block=224 regs=92 compare=naive", "%occupancy block=32..96 compare=threads",
    "%occupancy block=[100,640] regs=[32,64] compare=best", "%occupancy compare=fixed parts=4",
    "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n%occupancy k maxreg=[32,64]",
    "%roofline device=H200", "%roofline flops=1e9 bytes=1e7 time_us=200", "%roofline flops=3 bytes=0",
    "%little concurrency=30 latency=5", "%little device=H200", "%little arithmetic device=A100 warps=3",
    "%little device=[H200,L40S] warps=[8,16] alpha=[0,40]",
    "%access", "%access space=shared stride=2 block=100", "%access stride=0..3 space=[shared,global]",
    "%access if={0}",
    "%%grade points=2\n%check 1 == 1\n%check 1 == 2 points=1",
]


@pytest.fixture(scope="module")
def validator(root):
    with open(os.path.join(root, "docs", "result.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def results_of(warpbook, text):
    done = subprocess.run([warpbook, "cell", "-", "--format", "json"], input=text.encode(),
                          capture_output=True, timeout=120, check=False)
    for line in done.stdout.splitlines():
        for output in json.loads(line)["outputs"]:
            assert output["output_type"] != "error", output["traceback"]
            if MIME in output.get("data", {}):
                yield output["data"][MIME]


@pytest.mark.parametrize("line", LINES)
def test_a_result_is_as_the_schema_says(warpbook, validator, line):
    results = list(results_of(warpbook, line))
    assert results
    for result in results:
        validator.validate(result)


def pages(warpbook):
    """The name of each magic, the tool that its summary says it needs, and the lines of its
    examples: from its own page."""
    listed = subprocess.run([warpbook, "cell", "-"], input=b"%help", capture_output=True,
                            timeout=60, check=True).stdout.decode()
    for name in re.findall(r"^  %+(\w+)", listed, re.M):
        page = subprocess.run([warpbook, "cell", "-"], input=f"%help {name}".encode(), timeout=60,
                              capture_output=True, check=True).stdout.decode()
        needs = re.search(r"\(needs (\w+)\)", page.splitlines()[0])
        yield name, needs and needs[1], re.search(r"^Examples?:\n((?:  .*\n?)+)", page, re.M)


def test_the_examples_of_all_magics_give_such_results(warpbook, validator):
    doctor = subprocess.run([warpbook, "doctor"], timeout=60, capture_output=True,
                            check=False).stdout.decode()
    for name, tool, found in pages(warpbook):
        assert found, name
        if name == "input":  # nobody answers here
            continue
        if tool and re.search(rf"^  {tool} +missing", doctor, re.M):
            continue
        lines = re.sub(r"^  ", "", found[1], flags=re.M)
        for result in results_of(warpbook, lines):
            validator.validate(result)


def test_committed_lessons_hold_such_results(validator):
    for path in glob.glob(os.path.join(ROOT, "notebooks", "*.ipynb")):
        with open(path, encoding="utf-8") as file:
            notebook = json.load(file)
        for cell in notebook["cells"]:
            for output in cell.get("outputs", []):
                if MIME in output.get("data", {}):
                    validator.validate(output["data"][MIME])
