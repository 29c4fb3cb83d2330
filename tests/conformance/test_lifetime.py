"""Start, shutdown, restart, ports, registration, and the death of the parent."""
import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import zmq

from kernel_client import CHANNELS, DELIMITER, connection, execute_content, stream


@pytest.mark.parametrize("restart", [True, False])
@pytest.mark.parametrize("channel", ["control", "shell"])
def test_shutdown_is_answered_told_to_all_and_quick(kernel, client, connect, channel, restart):
    witness = connect(kernel)
    start = time.monotonic()
    msg_id = client.send(channel, "shutdown_request", {"restart": restart})
    reply = client.reply(channel, msg_id)
    assert reply["content"] == {"status": "ok", "restart": restart}
    told = [m for m in witness.iopub_until_idle(msg_id)
            if m["header"]["msg_type"] == "shutdown_reply"]
    assert [m["content"] for m in told] == [{"status": "ok", "restart": restart}]
    status, log = kernel.finish()
    assert time.monotonic() - start < 1
    assert (status, log) == (0, "")


def test_shutdown_does_not_wait_for_a_cell(kernel, client):
    msg_id = client.send("shell", "execute_request", execute_content("%sleep 60"))
    client.wait_until_busy(msg_id)
    start = time.monotonic()
    client.reply("control", client.send("control", "shutdown_request", {"restart": False}))
    assert kernel.finish()[0] == 0
    assert time.monotonic() - start < 1


def test_shutdown_does_not_wait_for_a_client_that_reads_nothing(kernel, connect):
    lazy = connect(kernel)
    lazy.execute("%%for i in 1..20000\n%clear", timeout=60)
    lazy.send("shell", "execute_request", execute_content("%%for i in 1..20000\n%clear"))
    start = time.monotonic()
    lazy.send("control", "shutdown_request", {"restart": False})
    assert kernel.finish()[0] == 0
    assert time.monotonic() - start < 2


def test_a_restart_on_the_same_ports_works_at_once_and_has_a_new_session(start, connect):
    info = connection()
    sessions = set()
    for _ in range(5):
        kernel = start(info)
        client = connect(kernel)
        reply, _ = client.request("kernel_info_request")
        sessions.add(reply["header"]["session"])
        client.send("control", "shutdown_request", {"restart": True})
        assert kernel.finish()[0] == 0
    assert len(sessions) == 5


def test_sigterm_ends_it_cleanly(kernel, client):
    client.execute("%echo x")
    kernel.process.send_signal(signal.SIGTERM)
    assert kernel.finish() == (0, "")


def test_ports_left_open_are_chosen_and_written(start, connect):
    info = connection(foreign="kept")
    info["shell_port"] = 0
    del info["iopub_port"]
    info["control_port"] = info["stdin_port"] = 0
    kernel = start(info)
    kernel.wait_for_info()
    assert all(kernel.info[f"{name}_port"] > 0 for name in CHANNELS)
    assert kernel.info["hb_port"] == info["hb_port"] and kernel.info["foreign"] == "kept"
    assert os.stat(kernel.path).st_mode & 0o777 == 0o600
    assert stream(connect(kernel).execute("%echo x")[1]) == "x\n"


def test_an_address_in_use_is_said_and_ends_it(start, kernel):
    status, log = start(kernel.info, wait=False).finish()
    assert status == 1
    assert "shell channel: cannot bind" in log and str(kernel.info["shell_port"]) in log
    assert "in use" in log


@pytest.mark.parametrize("text", ["", "{", "[]", '{"shell_port":"x"}', '{"transport":"udp"}',
                                  '{"key":5}', '{"ip":"999.1.1.1","key":""}',
                                  '{"curve_publickey":"x"}', '{"curve_secretkey":"' + "~" * 40 + '"}'])
def test_a_bad_connection_file_is_a_clear_error(warpbook, tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text)
    done = subprocess.run([warpbook, "kernel", "-f", str(path)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=20, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"warpbook kernel: ") and done.stderr.count(b"\n") == 1


def test_a_missing_connection_file_is_named(warpbook):
    done = subprocess.run([warpbook, "kernel", "-f", "/nowhere.json"], capture_output=True,
                          timeout=20, check=False)
    assert done.returncode == 1 and b"/nowhere.json" in done.stderr
    done = subprocess.run([warpbook, "kernel"], capture_output=True, timeout=20, check=False)
    assert done.returncode == 2


def test_unknown_arguments_are_tolerated(start, connect):
    kernel = start(arguments=["--HistoryManager.hist_file=:memory:", "--debug", "x", "--no-stdout"])
    assert stream(connect(kernel).execute("%echo x")[1]) == "x\n"


def test_ipc_sockets_work(start, tmp_path):
    info = connection(transport="ipc")
    info["ip"] = str(tmp_path / "k")
    for i, name in enumerate(CHANNELS):
        info[f"{name}_port"] = 0 if name == "hb" else i + 1
    kernel = start(info, wait=False)
    context = zmq.Context()
    shell = context.socket(zmq.DEALER)
    shell.linger = 0
    shell.connect(f"ipc://{info['ip']}-1")
    header = {"msg_id": "1", "msg_type": "kernel_info_request"}
    parts = [json.dumps(header).encode(), b"{}", b"{}", b"{}"]
    sign = hmac.new(info["key"].encode(), b"".join(parts), hashlib.sha256).hexdigest().encode()
    shell.send_multipart([DELIMITER, sign, *parts])
    assert shell.poll(10000)
    kernel.wait_for_info()
    assert kernel.info["hb_port"] > 0
    context.destroy(linger=0)


def registration(start, key, answer):
    """Starts a kernel by JEP 66; answer(content) makes the frames of the acknowledgement."""
    context = zmq.Context()
    router = context.socket(zmq.ROUTER)
    router.linger = 0
    port = router.bind_to_random_port("tcp://127.0.0.1")
    kernel = start({"kernel_id": "the-id", "transport": "tcp", "registration_ip": "127.0.0.1",
                    "registration_port": port, "signature_scheme": "hmac-sha256", "key": key})
    assert router.poll(10000)
    identity, delimiter, signature, content = router.recv_multipart()
    assert delimiter == DELIMITER
    assert signature == hmac.new(key.encode(), content, hashlib.sha256).hexdigest().encode()
    router.send_multipart([identity, *answer(content)])
    return kernel, json.loads(content), context


def test_a_registration_file_starts_a_handshake(start, connect):
    key = "handshake"
    ack = hmac.new(key.encode(), b"ACK", hashlib.sha256).hexdigest().encode()
    kernel, content, context = registration(start, key, lambda _: [DELIMITER, ack, b"ACK"])
    assert content["kernel_id"] == "the-id"
    kernel.wait_for_info()
    assert {name: str(kernel.info[f"{name}_port"]) for name in CHANNELS} == {
        name: content[f"{name}_port"] for name in CHANNELS}
    assert stream(connect(kernel).execute("%echo x")[1]) == "x\n"
    context.destroy(linger=0)


def test_an_acknowledgement_that_is_not_signed_ends_it(start):
    kernel, _, context = registration(start, "handshake", lambda _: [DELIMITER, b"0" * 64, b"ACK"])
    status, log = kernel.finish()
    assert status == 1 and "acknowledgement" in log
    context.destroy(linger=0)


PARENT = """
import os, subprocess, sys, time
env = dict(os.environ)
for change in sys.argv[3:]:
    name, _, value = change.partition("=")
    env[name] = value.replace("SELF", str(os.getpid()))
kernel = subprocess.Popen(sys.argv[1:2] + ["kernel", "-f", sys.argv[2]], env=env,
                          start_new_session=True, stdin=subprocess.DEVNULL)
print(kernel.pid, flush=True)
time.sleep(3600)
"""


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("watch,ends", [(["JPY_PARENT_PID=SELF"], True), ([], False),
                                        (["JPY_PARENT_PID=1"], False)])
def test_the_parent_is_watched_when_asked_for(warpbook, tmp_path, watch, ends):
    path = tmp_path / "k.json"
    path.write_text(json.dumps(connection()))
    env = {k: v for k, v in os.environ.items() if k != "JPY_PARENT_PID"}
    parent = subprocess.Popen([sys.executable, "-c", PARENT, warpbook, str(path), *watch],
                              stdout=subprocess.PIPE, env=env)
    pid = int(parent.stdout.readline())
    time.sleep(0.5)
    assert is_running(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + (6 if ends else 2.5)
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    try:
        assert is_running(pid) != ends
    finally:
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)


def test_the_kernel_is_small_and_quick(kernel, client):
    for i in range(500):
        client.execute(f"%let n = {i}")
    with open(f"/proc/{kernel.process.pid}/status", encoding="ascii") as file:
        rss = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    print(f"RSS after 500 executes: {rss / 1024:.1f} MB")
    if "asan" not in os.environ.get("WARPBOOK", ""):
        assert rss < 15 * 1024


@pytest.mark.parametrize("arguments,status", [
    ([], 2), (["--help"], 0), (["--version"], 0), (["help"], 0), (["nonsense"], 2),
    (["kernel", "--help"], 0), (["install", "--help"], 0), (["install", "--nonsense"], 2),
    (["install", "--user", "--sys-prefix"], 2)])
def test_the_command_line_says_what_it_takes(warpbook, arguments, status):
    done = subprocess.run([warpbook, *arguments], capture_output=True, timeout=20, check=False)
    assert done.returncode == status
    assert done.stdout if status == 0 else done.stderr
