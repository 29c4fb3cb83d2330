"""Warpbook beside ipykernel and a bare signed echo, in one run, interleaved.

start    from the process's spawn to its kernel_info_reply
execute  from execute() to the reply, and to idle, as jupyter_client's blocking client sees them
RSS      resident memory of the kernel's process after 500 cells
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import zmq
from jupyter_client import BlockingKernelClient
from jupyter_client.session import Session

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "conformance"))
from kernel_client import connection  # noqa: E402

STARTS, ROUNDS, CELLS = 11, 5, 100


def build_echo():
    """Compiles the echo against what `make` built; returns its path."""
    out = os.path.join(ROOT, "build", "bench", "echo_kernel")
    os.makedirs(os.path.dirname(out), exist_ok=True)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libzmq", "jansson", "uuid",
                            "libsodium"], check=True, capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", "-std=c11", "-O2", "-D_GNU_SOURCE", f"-I{ROOT}", "-o", out,
                    f"{ROOT}/tests/bench/echo_kernel.c", f"{ROOT}/build/libwarpbook.a", *flags,
                    "-lm", "-ldl", "-pthread"], check=True)
    return out


def commands():
    """What is compared: name, and the command line before the connection file."""
    warpbook = os.environ.get("WARPBOOK", os.path.join(ROOT, "build", "warpbook"))
    return {"warpbook": [warpbook, "kernel", "-f"],
            "ipykernel": [sys.executable, "-m", "ipykernel_launcher", "-f"],
            "bare echo": [build_echo()]}


def spawn(command, folder):
    """Starts a kernel; returns its process and connection information."""
    info = connection()
    path = os.path.join(folder, f"{time.monotonic_ns()}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(info, file)
    env = {**os.environ, "WARPBOOK_HISTORY": os.path.join(folder, "history.jsonl"),
           "IPYTHONDIR": folder}
    return subprocess.Popen([*command, path], stdin=subprocess.DEVNULL, env=env,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), info


def wait_for_info(info):
    """Returns when the kernel has answered a kernel_info_request."""
    context = zmq.Context()
    shell = context.socket(zmq.DEALER)
    shell.linger, shell.reconnect_ivl = 0, 1
    shell.connect(f"tcp://127.0.0.1:{info['shell_port']}")
    Session(key=info["key"].encode()).send(shell, "kernel_info_request")
    if not shell.poll(60000):
        raise TimeoutError("no kernel_info_reply in 60 s")
    context.destroy(linger=0)


def start_ms(command, folder):
    """Spawn to kernel_info_reply."""
    begin = time.perf_counter()
    process, info = spawn(command, folder)
    wait_for_info(info)
    took = (time.perf_counter() - begin) * 1000
    process.kill()
    process.wait()
    return took


class Running:
    """A kernel with a jupyter_client that times cells."""

    def __init__(self, command, folder):
        self.process, info = spawn(command, folder)
        wait_for_info(info)  # else the client takes a slow start for a death
        self.client = BlockingKernelClient()
        self.client.load_connection_info(info)
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.to_reply, self.to_idle = [], []

    def run_cells(self, n):
        """Times n cells."""
        for _ in range(n):
            begin = time.perf_counter()
            msg_id = self.client.execute("n = 1")
            self.client.get_shell_msg(timeout=60)
            self.to_reply.append((time.perf_counter() - begin) * 1000)
            while True:
                message = self.client.get_iopub_msg(timeout=60)
                if (message["parent_header"].get("msg_id") == msg_id
                        and message["content"].get("execution_state") == "idle"):
                    break
            self.to_idle.append((time.perf_counter() - begin) * 1000)

    def rss_mb(self):
        """Resident memory now."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

    def end(self):
        """Ends it."""
        self.client.stop_channels()
        self.process.kill()
        self.process.wait()


def main():
    names = commands()
    with tempfile.TemporaryDirectory() as folder:
        starts = {name: [] for name in names}
        for _ in range(STARTS):
            for name, command in names.items():
                starts[name].append(start_ms(command, folder))
        running = {name: Running(command, folder) for name, command in names.items()}
        for one in running.values():
            one.run_cells(20)  # warm
            one.to_reply, one.to_idle = [], []
        for _ in range(ROUNDS):
            for one in running.values():
                one.run_cells(CELLS)
        rss = {name: one.rss_mb() for name, one in running.items()}
        for one in running.values():
            one.end()

    median = {name: (statistics.median(starts[name]), statistics.median(running[name].to_reply),
                     statistics.median(running[name].to_idle)) for name in names}
    print(f"Kernel: medians of {STARTS} starts and {ROUNDS * CELLS} cells")
    print(f"{'':12}{'start ms':>10}{'reply ms':>10}{'idle ms':>10}{'RSS MB':>9}")
    for name in names:
        start, reply, idle = median[name]
        print(f"{name:12}{start:10.1f}{reply:10.2f}{idle:10.2f}{rss[name]:9.1f}")
    ours, python, echo = median["warpbook"], median["ipykernel"], median["bare echo"]
    for text, value, limit in [
            ("start / ipykernel's", ours[0] / python[0], 1 / 20),
            ("reply / ipykernel's", ours[1] / python[1], 1 / 3),
            ("reply / bare echo's", ours[1] / echo[1], 1.5),
            ("idle / ipykernel's", ours[2] / python[2], 1 / 3),
            ("idle / bare echo's", ours[2] / echo[2], 1.5),
            ("RSS in MB", rss["warpbook"], 15)]:
        print(f"{text:22}{value:8.3f}  limit {limit:6.3f}  {'ok' if value <= limit else 'MISSED'}")


main()
