"""Hostile and broken messages: none is answered that is not signed, none ends the kernel."""
import json
import os
import random

import pytest

from kernel_client import DELIMITER, connection, execute_content, stream


def alive(client):
    assert stream(client.execute("%echo alive")[1]) == "alive\n"


def parts_of(client, msg_type="kernel_info_request", content=b"{}"):
    return [json.dumps(client.header(msg_type)).encode(), b"{}", b"{}", content]


@pytest.mark.parametrize("signature", [b"", b"x", b"0" * 64, b"0" * 65, b"\xff" * 64, b"0" * 10**6])
def test_what_is_not_signed_gets_no_answer(client, signature):
    client.send_frames("shell", DELIMITER, signature, *parts_of(client))
    client.send_frames("control", DELIMITER, signature, *parts_of(client, "shutdown_request"))
    assert client.none_comes("shell") and client.none_comes("iopub", 0)
    alive(client)


def test_upper_case_signatures_and_other_parts_do_not_pass(client):
    parts = parts_of(client)
    client.send_frames("shell", DELIMITER, client.sign(parts).upper(), *parts)
    client.send_frames("shell", DELIMITER, client.sign(parts), *parts[:3], b'{"a":1}')
    assert client.none_comes("shell")
    alive(client)


def test_a_message_is_answered_once(client):
    parts = parts_of(client)
    for _ in range(3):
        client.send_frames("shell", DELIMITER, client.sign(parts), *parts)
    client.recv("shell")
    assert client.none_comes("shell")
    client.sockets["iopub"].poll(100)
    client.close()


def test_buffers_are_not_signed_and_do_no_harm(client):
    header = json.dumps(client.header("comm_msg", msg_id="b")).encode()
    client.send_raw("shell", header, content=b'{"comm_id":"x","data":{}}',
                    buffers=[os.urandom(100), b""])
    client.iopub_until_idle("b")
    alive(client)


@pytest.mark.parametrize("frames", [
    [], [b""], [DELIMITER], [DELIMITER, b""], [DELIMITER] * 3, [b"a"] * 10, [b"x"] * 2000,
    [DELIMITER, b"", b"{}", b"{}", b"{}"], [b"id", b"id2", DELIMITER, b"sig"]])
def test_frames_that_are_no_message_are_dropped(client, frames):
    for channel in ["shell", "control", "stdin"]:
        client.send_frames(channel, *(frames or [b""]))
    alive(client)


@pytest.mark.parametrize("header", [
    b"", b"{", b"[]", b"null", b'"x"', b"{}", b'{"msg_id":1,"msg_type":"x"}',
    b'{"msg_id":"1","msg_type":null}', b"\xff\xfe", b"[" * 100000])
def test_signed_headers_that_are_none_are_dropped(client, header):
    for channel in ["shell", "control", "stdin"]:
        client.send_raw(channel, header)
    alive(client)


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"null", b"3", b'{"code":"\\ud83d"}', b'{"code":NaN}', b'{"n":1e999}',
    b'{"code":"\xc3\x28"}', b'{"a":' * 5000 + b"1" + b"}" * 5000, b'{"code":"x"} trailing',
    b'{"a\\u0000b":1}'])
@pytest.mark.parametrize("msg_type", ["execute_request", "complete_request", "history_request"])
def test_signed_content_that_cannot_be_read_is_answered_with_an_error(client, content, msg_type):
    header = client.header(msg_type)
    client.send_raw("shell", json.dumps(header).encode(), content=content)
    reply = client.reply("shell", header["msg_id"])
    assert reply["header"]["msg_type"] == msg_type.replace("request", "reply")
    assert reply["content"]["status"] == "error"
    assert "content" in reply["content"]["evalue"]
    assert isinstance(reply["content"]["traceback"], list)
    if msg_type == "execute_request":
        assert reply["content"]["execution_count"] == 0
    assert len(client.iopub_until_idle(header["msg_id"])) == 2
    alive(client)


def test_unreadable_metadata_is_answered_with_an_error(client):
    header = client.header("execute_request")
    client.send_raw("shell", json.dumps(header).encode(), metadata=b"{",
                    content=b'{"code":"%echo x"}')
    assert client.reply("shell", header["msg_id"])["content"]["status"] == "error"
    alive(client)


def test_an_unreadable_parent_does_not_matter(client):
    header = client.header("kernel_info_request")
    client.send_raw("shell", json.dumps(header).encode(), parent=b"{")
    assert client.reply("shell", header["msg_id"])["content"]["status"] == "ok"


def test_zeros_in_the_code_come_back(client):
    code = "%echo a\x00b"
    _, outputs = client.execute(code)
    assert outputs[0][1]["code"] == code


def test_numbers_beyond_64_bits_are_read(client):
    for number in [2**63, -2**63 - 1, 2**64, 10**300]:
        reply, _ = client.request("complete_request", {"code": "%ech", "cursor_pos": number})
        assert reply["content"]["status"] == "ok"
        reply, _ = client.request("history_request", {"hist_access_type": "tail", "n": number})
        assert reply["content"]["history"] == []


def test_unknown_fields_and_types_are_tolerated(client):
    reply, _ = client.request("kernel_info_request", {"x": [1]}, future={"a": None})
    assert reply["content"]["status"] == "ok"
    for channel in ["shell", "control"]:
        for kind in ["no_such_request", "create_subshell_request", "debug_request", "a" * 10**5,
                     "", "x\n\"\\"]:
            msg_id = client.send(channel, kind)
            assert len(client.iopub_until_idle(msg_id)) == 2
    alive(client)


def test_random_bytes_do_not_end_the_kernel(client):
    chance = random.Random(1)
    for _ in range(500):
        frames = [chance.randbytes(chance.randrange(40)) for _ in range(chance.randrange(1, 12))]
        if chance.random() < 0.7:
            frames.insert(chance.randrange(len(frames) + 1), DELIMITER)
        client.send_frames(chance.choice(["shell", "control", "stdin"]), *frames)
    alive(client)


def test_raw_tcp_garbage_does_not_end_the_kernel(kernel, client):
    import socket
    for name in ["shell", "control", "stdin", "iopub", "hb"]:
        with socket.create_connection(("127.0.0.1", kernel.info[f"{name}_port"])) as s:
            s.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(range(256)))
    alive(client)


def test_an_empty_key_turns_signing_off(start, connect):
    kernel = start(connection(key=""))
    client = connect(kernel)
    parts = parts_of(client, "execute_request", json.dumps(execute_content("%echo x")).encode())
    client.send_frames("shell", DELIMITER, b"whatever", *parts)
    assert client.recv("shell")["content"]["status"] == "ok"


@pytest.mark.parametrize("scheme", ["hmac-md5", "hmac-sha512", "none"])
def test_other_schemes_are_refused_at_start(start, scheme):
    status, log = start(connection(signature_scheme=scheme), wait=False).finish()
    assert status == 1
    assert f"signature_scheme={scheme}: only hmac-sha256 is supported" in log


def test_a_log_that_nobody_reads_does_not_stop_the_kernel(client):
    for _ in range(5000):  # 300 KB of log into a pipe of 64 KB
        client.send_frames("shell", DELIMITER, b"x", *parts_of(client))
    client.reply("shell", client.send("shell", "kernel_info_request"), 30)
    alive(client)
