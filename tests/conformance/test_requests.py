"""Requests other than execute: kernel_info, completion, inspection, history, comms, usage."""
import os
import re

import pytest


def test_kernel_info_has_what_front_ends_read(client):
    for channel in ["shell", "control"]:
        info = client.request("kernel_info_request", channel=channel)[0]["content"]
        assert info["status"] == "ok"
        assert info["protocol_version"] == "5.5"
        assert re.fullmatch(r"\d+\.\d+\.\d+", info["implementation_version"])
        language = info["language_info"]
        assert language["name"] == "cuda-cpp" and language["file_extension"] == ".cu"
        assert language["mimetype"] == "text/x-c++src" and language["pygments_lexer"] == "cuda"
        assert "nbconvert_exporter" not in language
        assert info["supported_features"] == [] and info["debugger"] is False
        assert all(set(link) == {"text", "url"} for link in info["help_links"])


def test_pygments_has_the_lexer(client):
    from pygments.lexers import get_lexer_by_name
    info = client.request("kernel_info_request")[0]["content"]
    assert get_lexer_by_name(info["language_info"]["pygments_lexer"])


def complete(client, code, cursor=None):
    content = {"code": code, "cursor_pos": len(code) if cursor is None else cursor}
    return client.request("complete_request", content)[0]["content"]


def test_completion_offsets_count_code_points(client):
    prefix = "// \U0001F600 äöü \U0001F468\u200D\U0001F469 한글\n"
    for before in ["", prefix, prefix * 3]:
        code = before + "%occ"
        reply = complete(client, code)
        assert reply["status"] == "ok"
        assert "%occupancy" in reply["matches"]
        assert code[reply["cursor_start"]:reply["cursor_end"]] == "%occ"
        assert isinstance(reply["metadata"], dict)


def test_completion_says_of_which_kind_a_match_is(client):
    reply = complete(client, "%occ")
    kinds = reply["metadata"]["_jupyter_types_experimental"]
    assert [k["text"] for k in kinds] == reply["matches"]
    assert all((k["start"], k["end"]) == (reply["cursor_start"], reply["cursor_end"])
               for k in kinds)
    assert {"magic"} <= {k["type"] for k in kinds}


@pytest.mark.parametrize("cursor", [None, -1, 0, 1, 3, 4, 5, 99, 10**30, "4", 2.0, [], True])
@pytest.mark.parametrize("code", ["", "%occ", "\U0001F600\U0001F600", "%o\U0001F600cc", "äöü"])
def test_any_cursor_is_answered(client, code, cursor):
    for kind in ["complete_request", "inspect_request"]:
        reply = client.request(kind, {"code": code, "cursor_pos": cursor})[0]["content"]
        assert reply["status"] == "ok"
        if kind == "complete_request":
            assert 0 <= reply["cursor_start"] <= reply["cursor_end"] <= len(code)


def test_a_cursor_that_is_missing_means_the_end(client):
    reply = client.request("complete_request", {"code": "%occ"})[0]["content"]
    assert "%occupancy" in reply["matches"]


def test_inspection_finds_magics_at_any_offset(client):
    code = "// \U0001F600\U0001F600\n%occupancy regs=42"
    for cursor in range(code.index("%occ") + 1, code.index(" regs")):
        reply = client.request("inspect_request", {"code": code, "cursor_pos": cursor,
                                                   "detail_level": 0})[0]["content"]
        assert reply["status"] == "ok" and reply["found"]
        assert "occupancy" in reply["data"]["text/plain"]
    deep = client.request("inspect_request", {"code": code, "cursor_pos": len(code) - 8,
                                              "detail_level": 1})[0]["content"]
    assert deep["status"] == "ok"


def test_inspection_of_nothing_is_not_found(client):
    reply = client.request("inspect_request", {"code": "   ", "cursor_pos": 1})[0]["content"]
    assert reply == {"status": "ok", "found": False, "data": {}, "metadata": {}}


@pytest.mark.parametrize("code,status", [
    ("", "complete"), ("%occupancy regs=42", "complete"), ("%echo x", "complete"),
    ("__global__ void k(int *x) {", "incomplete"), ("%occupancy regs=[1,", "incomplete"),
    ("%occupancy \\", "incomplete")])
def test_consoles_learn_whether_a_cell_goes_on(client, code, status):
    reply = client.request("is_complete_request", {"code": code})[0]["content"]
    assert reply["status"] == status
    assert ("indent" in reply) == (status == "incomplete")


def test_history_answers_every_kind_of_question(client):
    for i in range(5):
        client.execute(f"%let n = {i}")
    client.execute("%let n = 0")

    def ask(**content):
        return client.request("history_request", content)[0]["content"]["history"]

    tail = ask(hist_access_type="tail", n=2, output=False, raw=True, rangestr="x")
    assert [h[1:] for h in tail] == [[5, "%let n = 4"], [6, "%let n = 0"]]
    session = tail[0][0]
    assert ask(hist_access_type="range", session=0, start=2, stop=4) == [
        [session, 2, "%let n = 1"], [session, 3, "%let n = 2"]]
    assert ask(hist_access_type="range", session=session, start=6, output=True) == [
        [session, 6, ["%let n = 0", None]]]
    assert len(ask(hist_access_type="search", pattern="%let n = ?")) == 6
    assert len(ask(hist_access_type="search", pattern="%let*", unique=True)) == 5
    assert [h[1] for h in ask(hist_access_type="search", pattern="%let*", n=2)] == [5, 6]
    assert ask() == ask(hist_access_type="tail", n=10)
    reply = client.request("history_request", {"hist_access_type": "nonsense"})[0]["content"]
    assert (reply["status"], reply["ename"]) == ("error", "UsageError")


def test_history_goes_on_in_the_next_session(start, connect):
    first, second = start(), start()
    connect(first).execute("%echo one")
    client = connect(second)
    client.execute("%echo two")
    tail = client.request("history_request", {"hist_access_type": "tail", "n": 9})[0]
    assert [h[2] for h in tail["content"]["history"]] == ["%echo one", "%echo two"]


@pytest.mark.parametrize("off", [{"arguments": ["--no-history"]},
                                 {"env": {"WARPBOOK_HISTORY": "off"}}])
def test_history_can_be_off(start, connect, tmp_path, off):
    client = connect(start(**off))
    client.execute("%echo secret")
    assert not (tmp_path / "history.jsonl").exists()
    tail = client.request("history_request", {"hist_access_type": "tail", "n": 9})[0]
    assert [h[2] for h in tail["content"]["history"]] == ["%echo secret"]


def test_a_comm_with_an_unknown_target_is_closed(client):
    msg_id = client.send("shell", "comm_open",
                         {"comm_id": "c-1", "target_name": "no.such.target", "data": {}})
    messages = client.iopub_until_idle(msg_id)
    assert [m["header"]["msg_type"] for m in messages] == ["status", "comm_close", "status"]
    assert messages[1]["content"]["comm_id"] == "c-1"
    assert client.none_comes("shell")


@pytest.mark.parametrize("kind", ["comm_open", "comm_msg", "comm_close"])
@pytest.mark.parametrize("content", [{}, {"comm_id": None}, {"comm_id": 4, "data": 3},
                                     {"comm_id": "x", "data": {"method": "update"}}])
def test_comm_messages_are_framed_whatever_they_hold(client, kind, content):
    messages = client.iopub_until_idle(client.send("shell", kind, content))
    assert messages[-1]["content"] == {"execution_state": "idle"}
    reply, _ = client.request("comm_info_request", {"target_name": "x"})
    assert reply["content"] == {"status": "ok", "comms": {}}


def test_usage_tells_of_kernel_and_machine(kernel, client):
    client.request("usage_request", channel="control")
    usage = client.request("usage_request", channel="control")[0]["content"]
    assert usage["pid"] == kernel.process.pid and usage["hostname"]
    assert 0 < usage["kernel_memory"] < 2**40 and usage["kernel_cpu"] >= 0
    assert usage["cpu_count"] == os.cpu_count()
    memory = usage["host_virtual_memory"]
    assert 0 < memory["available"] <= memory["total"] and 0 <= memory["percent"] <= 100


def test_connect_tells_the_ports(kernel, client):
    ports = client.request("connect_request")[0]["content"]
    assert ports["shell_port"] == kernel.info["shell_port"]
    assert ports["hb_port"] == kernel.info["hb_port"]
