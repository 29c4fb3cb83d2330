"""The kernel's child processes: they work for cells, stop when told, and never outlive it."""
import os
import signal
import time

import pytest

from kernel_client import execute_content, stream

LIMIT_S = 1.0  # ten times the 100 ms that an interrupt may take
CUDA = "__global__ void add(float *x) { x[threadIdx.x] += 1; }"
# Thousands of instantiations: NVRTC works on it for many seconds.
SLOW = """
template <int N> __device__ float f(float x) { return f<N - 1>(x * N) + f<N - 2>(x + N); }
template <> __device__ float f<0>(float x) { return x; }
template <> __device__ float f<1>(float x) { return x + 1; }
%s
""" % "\n".join(f"__global__ void k{i}(float *x) {{ *x = f<{24 + i % 8}>(*x + {i}); }}"
                for i in range(40))


def children(pid):
    """The living processes that pid started."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(name))
    return found


def living(pids):
    """Those of them that still run."""
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}/exe") and
            open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0] != "Z"]


@pytest.fixture
def compiled(client):
    """A client whose kernel has compiled a cell, and so has a child."""
    reply, outputs = client.execute(CUDA, timeout=120)
    if reply["status"] == "error" and "NVRTC" in reply["evalue"]:
        pytest.skip("NVRTC is not installed")
    assert reply["status"] == "ok", reply
    assert any(kind == "display_data" for kind, _ in outputs)
    return client


@pytest.mark.parametrize("restart", [True, False])
def test_shutdown_takes_the_children_along(kernel, compiled, restart):
    started = children(kernel.process.pid)
    assert started
    begin = time.monotonic()
    compiled.send("control", "shutdown_request", {"restart": restart})
    assert kernel.finish() == (0, "")
    assert time.monotonic() - begin < 1
    assert not living(started)


def test_the_death_of_the_kernel_ends_its_children(kernel, compiled):
    started = children(kernel.process.pid)
    assert started
    kernel.process.kill()
    kernel.process.wait()
    end = time.monotonic() + 10
    while living(started) and time.monotonic() < end:
        time.sleep(0.05)
    assert not living(started)


def test_a_child_that_dies_costs_no_variable(kernel, compiled):
    compiled.execute("%let kept = 7")
    for pid in children(kernel.process.pid):
        os.kill(pid, signal.SIGKILL)
    for _ in range(2):
        reply, _ = compiled.execute(CUDA.replace("+= 1", "+= 2"), timeout=120)
    assert reply["status"] == "ok"
    assert stream(compiled.execute("%print kept")[1]) == "7\n"


@pytest.mark.parametrize("way", ["message", "signal"])
def test_a_compilation_is_interrupted(kernel, compiled, way):
    took = []
    for _ in range(3):
        msg_id = compiled.send("shell", "execute_request", execute_content(SLOW))
        compiled.wait_until_busy(msg_id)
        time.sleep(0.5)
        begin = time.monotonic()
        if way == "message":
            compiled.send("control", "interrupt_request")
        else:
            kernel.interrupt()
        reply = compiled.reply("shell", msg_id, 30)["content"]
        took.append(time.monotonic() - begin)
        compiled.iopub_until_idle(msg_id)
        assert reply["ename"] == "Interrupted", reply
    print(f"{way}: {min(took) * 1000:.1f} ms")
    assert min(took) < LIMIT_S
    assert compiled.execute(CUDA, timeout=120)[0]["status"] == "ok"


def test_an_experiment_on_the_model_is_interrupted(compiled):
    msg_id = compiled.send("shell", "execute_request", execute_content(
        "%%for i in 1..1000\n%run divergence device=model"))
    compiled.wait_until_busy(msg_id)
    time.sleep(2)
    begin = time.monotonic()
    compiled.send("control", "interrupt_request")
    reply = compiled.reply("shell", msg_id, 30)["content"]
    took = time.monotonic() - begin
    compiled.iopub_until_idle(msg_id)
    assert reply["ename"] == "Interrupted", reply
    assert took < LIMIT_S
    assert stream(compiled.execute("%echo alive")[1]) == "alive\n"
