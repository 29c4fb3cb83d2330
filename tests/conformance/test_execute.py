"""execute_request: counters, silence, history, errors and what they abort, outputs and order."""
import pytest

from kernel_client import execute_content, is_status, stream, types

FAILING = "%no_such_magic"


def test_a_cell_is_announced_run_and_answered_in_order(client):
    msg_id = client.send("shell", "execute_request", execute_content("%echo hi"))
    reply = client.reply("shell", msg_id)
    messages = client.iopub_until_idle(msg_id)
    kinds = [m["header"]["msg_type"] for m in messages]
    assert kinds == ["status", "execute_input", "stream", "status"]
    assert messages[1]["content"] == {"code": "%echo hi", "execution_count": 1}
    assert messages[2]["content"] == {"name": "stdout", "text": "hi\n"}
    assert reply["content"] == {"status": "ok", "execution_count": 1, "payload": [],
                                "user_expressions": {}}


def test_the_parent_is_the_request_header_byte_for_byte(client):
    header = (b'{ "msg_id":"abc",  "msg_type":"execute_request","subshell_id":null,'
              b'"x":[1.0,{"y":"\\u00e4"}]}')
    client.send_raw("shell", header, content=b'{"code":"%echo hi"}')
    assert client.reply("shell", "abc")["raw"][1] == header
    assert {m["raw"][1] for m in client.iopub_until_idle("abc")} == {header}


def test_every_message_has_the_same_session_and_an_id_of_its_own(client):
    messages = []
    for channel in ["shell", "control"]:
        for _ in range(20):
            msg_id = client.send(channel, "kernel_info_request")
            messages += [client.reply(channel, msg_id), *client.iopub_until_idle(msg_id)]
    assert len({m["header"]["session"] for m in messages}) == 1
    assert len({m["header"]["msg_id"] for m in messages}) == len(messages)
    assert {m["header"]["version"] for m in messages} == {"5.5"}


def test_only_stored_cells_are_counted(client):
    counts = []
    for content in [{}, {"store_history": False}, {"silent": True}, {},
                    {"silent": True, "store_history": True}, {}]:
        counts.append(client.execute("%echo x", **content)[0]["execution_count"])
    assert counts == [1, 1, 1, 2, 2, 3]


def test_an_error_counts_and_a_blank_cell_does_not(client):
    assert client.execute(FAILING)[0]["execution_count"] == 1
    for blank in ["", " \n\t\r\n"]:
        reply, outputs = client.execute(blank)
        assert (reply["status"], reply["execution_count"]) == ("ok", 1)
        assert types(outputs) == ["execute_input"]
    assert client.execute("%echo x")[0]["execution_count"] == 2


def test_only_stored_cells_are_in_the_history(client):
    client.execute("%echo 1")
    client.execute("%echo 2", store_history=False)
    client.execute("%echo 3", silent=True)
    reply, _ = client.request("history_request", {"hist_access_type": "tail", "n": 10})
    assert [h[2] for h in reply["content"]["history"]] == ["%echo 1"]


def test_a_silent_cell_leaves_nothing_but_its_reply(client):
    reply, outputs = client.execute("%let n = 4\n%echo x\n%score n", silent=True,
                                    user_expressions={"n": "n + 1"})
    assert outputs == []
    assert reply["status"] == "ok"
    assert reply["user_expressions"]["n"]["data"]["text/plain"] == "5"
    reply, outputs = client.execute(FAILING, silent=True)
    assert outputs == []
    assert (reply["status"], reply["ename"]) == ("error", "UnknownMagic")


def test_user_expressions_have_their_own_errors(client):
    reply, outputs = client.execute("%let n = 4", user_expressions={
        "good": "n * 2", "unknown": "no_such_name", "broken": "1 +", "number": 3})
    values = reply["user_expressions"]
    assert reply["status"] == "ok"
    assert values["good"] == {"status": "ok", "data": {"text/plain": "8"}, "metadata": {}}
    for name in ["unknown", "broken", "number"]:
        assert values[name]["status"] == "error"
        assert {"ename", "evalue", "traceback"} <= set(values[name])
    assert values["unknown"]["ename"] == "NameError"
    assert types(outputs) == ["execute_input"]


def test_user_expressions_of_a_failed_cell_are_empty(client):
    reply, _ = client.execute(FAILING, user_expressions={"n": "1"})
    assert (reply["status"], reply["user_expressions"]) == ("error", {})


def test_an_error_says_the_same_on_iopub_and_in_the_reply(client):
    reply, outputs = client.execute(FAILING)
    assert types(outputs) == ["execute_input", "error"]
    assert {k: reply[k] for k in ["ename", "evalue", "traceback"]} == outputs[1][1]
    assert reply["ename"] == "UnknownMagic"
    assert reply["traceback"] and all(isinstance(line, str) for line in reply["traceback"])


def queue_behind_a_failing_cell(client, **content):
    """Sends seven requests at once behind one that sleeps and then fails."""
    ids = [client.send("shell", "execute_request",
                       execute_content("%sleep 0.3\n" + FAILING, **content))]
    for i in range(5):
        ids.append(client.send("shell", "execute_request", execute_content(f"%echo {i}")))
    ids.append(client.send("shell", "is_complete_request", {"code": "%echo"}))
    return ids


def test_an_error_aborts_exactly_the_cells_that_are_queued(client):
    ids = queue_behind_a_failing_cell(client)
    replies = [client.reply("shell", i)["content"] for i in ids]
    assert replies[0]["ename"] == "UnknownMagic"
    for reply in replies[1:6]:
        assert (reply["status"], reply["ename"], reply["traceback"]) == ("error", "Aborted", [])
        assert reply["execution_count"] == 1
    assert replies[6]["status"] == "complete"
    for msg_id in ids[1:6]:
        assert len(client.iopub_until_idle(msg_id)) == 2  # busy and idle, no error, no input


def test_what_is_sent_after_the_error_reply_runs(client):
    for i in range(30):
        failed, _ = client.request("execute_request", execute_content(FAILING))
        assert failed["content"]["status"] == "error"
        reply, outputs = client.execute(f"%echo {i}")
        assert (reply["status"], stream(outputs)) == ("ok", f"{i}\n")


@pytest.mark.parametrize("content", [{"stop_on_error": False}, {"silent": True}])
def test_nothing_is_aborted_when_not_asked_for(client, content):
    ids = queue_behind_a_failing_cell(client, **content)
    replies = [client.reply("shell", i)["content"] for i in ids]
    assert replies[0]["status"] == "error"
    assert [r["status"] for r in replies[1:6]] == ["ok"] * 5


def test_missing_fields_have_the_values_of_the_protocol(client):
    reply, outputs = client.request("execute_request", {"code": "%echo x"})
    assert reply["content"]["execution_count"] == 1
    assert len(outputs) == 2
    for content in [{}, {"code": None}, {"code": 7, "silent": "yes", "user_expressions": []}]:
        reply, _ = client.request("execute_request", content)
        assert reply["content"]["status"] == "ok"


def test_stream_text_is_sent_before_errors_and_replies_and_in_order(client):
    reply, outputs = client.execute("%echo a\n%echo -e b\n%echo c\n" + FAILING)
    assert reply["status"] == "error"
    texts = [(c["name"], c["text"]) for kind, c in outputs if kind == "stream"]
    assert texts == [("stdout", "a\n"), ("stderr", "b\n"), ("stdout", "c\n")]
    assert types(outputs)[-1] == "error"


def test_text_of_a_cell_that_computes_is_seen_while_it_computes(client):
    msg_id = client.send("shell", "execute_request", execute_content("%echo now\n%sleep 2"))
    client.wait_until_busy(msg_id)
    while True:
        message = client.recv("iopub", 1.5)
        if message["header"]["msg_type"] == "stream":
            break
    assert message["content"]["text"] == "now\n"
    assert client.none_comes("shell", 0)
    client.reply("shell", msg_id)


def test_many_small_writes_are_few_messages(client):
    _, outputs = client.execute("%%for i in 1..5000\n%print i")
    streams = [c for kind, c in outputs if kind == "stream"]
    assert stream(outputs) == "".join(f"{i}\n" for i in range(1, 5001))
    assert len(streams) < 100


def test_a_result_is_an_execute_result_and_kept_in_the_history(client):
    reply, outputs = client.execute("%score 2.5")
    assert types(outputs) == ["execute_input", "execute_result"]
    assert outputs[1][1]["data"]["text/plain"] == "2.5"
    assert outputs[1][1]["execution_count"] == reply["execution_count"] == 1
    assert outputs[1][1]["metadata"] == {}
    reply, _ = client.request("history_request",
                              {"hist_access_type": "tail", "n": 1, "output": True})
    assert reply["content"]["history"][0][1:] == [1, ["%score 2.5", "2.5"]]


def test_a_table_and_its_figure_are_display_data_with_plain_text(client):
    _, outputs = client.execute("%occupancy regs=42")
    table, figure = [c for kind, c in outputs if kind == "display_data"]
    assert set(table["data"]) == {"text/plain", "text/html", "application/vnd.warpbook.v1+json"}
    assert set(figure["data"]) == {"text/plain", "image/svg+xml"}
    for content in [table, figure]:
        assert all(isinstance(text, str) for kind, text in content["data"].items()
                   if not kind.endswith("json"))
        assert isinstance(content["metadata"], dict) and isinstance(content["transient"], dict)


def test_clear_output_is_sent(client):
    _, outputs = client.execute("%echo a\n%clear\n%echo b")
    assert types(outputs) == ["execute_input", "stream", "clear_output", "stream"]
    assert outputs[2][1]["wait"] in (True, False)


def test_help_of_a_magic_is_a_page_payload(client):
    reply, outputs = client.execute("%echo?")
    assert types(outputs) == ["execute_input"]
    page, = reply["payload"]
    assert page["source"] == "page" and page["start"] == 0
    assert "echo" in page["data"]["text/plain"]


def test_the_source_of_an_experiment_is_put_in_the_next_cell(client):
    reply, _ = client.execute("%source divergence edit=yes")
    payload, = reply["payload"]
    assert payload["source"] == "set_next_input" and payload["replace"] is False
    assert "__global__" in payload["text"]


def test_ten_megabytes_of_cell_are_a_cell(client):
    big = "// " + "x" * 10_000_000 + "\n%echo end"
    reply, outputs = client.execute(big, timeout=60)
    assert outputs[0][1]["code"] == big
    assert reply["status"] in ("ok", "error")
    assert client.execute("%echo alive")[0]["status"] == "ok"


def test_output_beyond_the_cap_is_cut_and_said_so(client):
    code = '%%for i in 1..100000\n%echo ' + "x" * 100
    reply, outputs = client.execute(code, timeout=120)
    text = stream(outputs)
    assert reply["status"] == "ok"
    assert len(text) <= (8 << 20) + 100
    assert "[output cut: a cell may print 8 MB]" in text
    assert stream(client.execute("%echo again")[1]) == "again\n"


def test_requests_of_all_kinds_are_framed_by_busy_and_idle(client):
    ids = [client.send("shell", kind, content) for kind, content in [
        ("kernel_info_request", {}), ("comm_info_request", {}), ("connect_request", {}),
        ("is_complete_request", {"code": ""}), ("complete_request", {"code": "", "cursor_pos": 0}),
        ("inspect_request", {"code": "", "cursor_pos": 0}), ("no_such_request", {}),
        ("history_request", {}), ("comm_msg", {"comm_id": "x", "data": {}})]]
    for msg_id in ids:
        messages = client.iopub_until_idle(msg_id)
        assert len(messages) == 2 and is_status(messages[0], "busy")
