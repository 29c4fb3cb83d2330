"""Launches as a front end sees them: streams while they run, progress, interrupts."""
import time

import pytest

from kernel_client import execute_content, stream

PRINTS = """#include <cstdio>
__global__ void say() { printf("block %d\\n", blockIdx.x); }
"""
SLOW = """__global__ void slow(int n, float *x) {
    float v = x[threadIdx.x];
    for (int i = 0; i < n; i++)
        v = v * 1.5f + 0.5f;
    x[threadIdx.x] = v;
}
%buffer x float[256] = zeros
"""


@pytest.fixture(autouse=True)
def need_compiler(client):
    reply, _ = client.execute("__global__ void probe() {}")
    if reply.get("ename") == "DeviceError":
        pytest.skip("no NVRTC here")
    assert reply["status"] == "ok"


def test_printf_is_a_stream_in_block_order(client):
    client.execute(PRINTS)
    reply, messages = client.execute("say<<<5, 1>>>()")
    assert reply["status"] == "ok"
    assert stream(messages) == "".join(f"block {i}\n" for i in range(5))
    kinds = [kind for kind, _ in messages]
    assert kinds.index("stream") < kinds.index("display_data")


def test_a_long_launch_says_how_far_it_is_and_stops_when_told(client):
    client.execute(SLOW)
    msg_id = client.send("shell", "execute_request",
                         execute_content("slow<<<100000, 256>>>(4000, x)"))
    seen, shown, updates = [], None, []
    end = time.monotonic() + 30
    while len(updates) < 2 and time.monotonic() < end:
        message = client.recv("iopub")
        seen.append(message)
        if message["header"]["msg_type"] == "display_data":
            shown = message["content"]
        elif message["header"]["msg_type"] == "update_display_data":
            updates.append((time.monotonic(), message["content"]))
    client.pending += seen
    assert shown and " of 100,000 blocks" in shown["data"]["text/plain"]
    assert "to go" in shown["data"]["text/plain"]
    display_id = shown["transient"]["display_id"]
    assert all(u["transient"]["display_id"] == display_id for _, u in updates)
    assert updates[1][0] - updates[0][0] > 0.1  # at most 5 times a second
    start = time.monotonic()
    client.send("control", "interrupt_request")
    reply = client.reply("shell", msg_id)["content"]
    assert (reply["status"], reply["ename"]) == ("error", "Interrupted")
    assert time.monotonic() - start < 1.0  # ten times the 100 ms that are promised
    client.iopub_until_idle(msg_id)
    assert stream(client.execute("%print sum(x)")[1]) == "0\n"
