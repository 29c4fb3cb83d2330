"""Input: who is asked, who may answer, and what else ends the waiting."""
from kernel_client import execute_content, stream

ASK = '%input answer "Your answer? "\n%print answer'


def ask(client, code=ASK):
    msg_id = client.send("shell", "execute_request", execute_content(code, allow_stdin=True))
    question = client.recv("stdin")
    return msg_id, question


def test_a_question_reaches_the_one_who_ran_the_cell(kernel, client, connect):
    other = connect(kernel)
    msg_id, question = ask(client)
    assert question["header"]["msg_type"] == "input_request"
    assert question["content"] == {"prompt": "Your answer? ", "password": False}
    assert question["parent"]["msg_id"] == msg_id
    assert other.none_comes("stdin")
    client.send("stdin", "input_reply", {"value": "forty two"}, parent=question["header"])
    assert client.reply("shell", msg_id)["content"]["status"] == "ok"
    outputs = [(m["header"]["msg_type"], m["content"]) for m in client.iopub_until_idle(msg_id)]
    assert "forty two" in stream(outputs)


def test_text_is_sent_before_the_question(client):
    msg_id, question = ask(client, "%echo before\n" + ASK)
    kinds = []
    while "stream" not in kinds:
        kinds.append(client.recv("iopub", 1)["header"]["msg_type"])
    client.send("stdin", "input_reply", {"value": "x"}, parent=question["header"])
    client.reply("shell", msg_id)


def test_without_stdin_the_question_fails_at_once(client):
    reply, _ = client.execute(ASK, allow_stdin=False)
    assert (reply["status"], reply["ename"]) == ("error", "UsageError")
    assert client.none_comes("stdin")


def test_a_stale_answer_is_not_taken_for_the_next_question(client):
    client.send("stdin", "input_reply", {"value": "stale"})
    client.request("kernel_info_request")
    msg_id, _ = ask(client)
    client.send("stdin", "input_reply", {"value": "fresh"})
    client.reply("shell", msg_id)
    outputs = [(m["header"]["msg_type"], m["content"]) for m in client.iopub_until_idle(msg_id)]
    assert "fresh" in stream(outputs) and "stale" not in stream(outputs)


def test_somebody_else_cannot_answer(kernel, client, connect):
    other = connect(kernel)
    msg_id, _ = ask(client)
    other.send("stdin", "input_reply", {"value": "from another"})
    assert client.none_comes("shell", 0.3)
    client.send("stdin", "input_reply", {"value": "mine"})
    client.reply("shell", msg_id)
    outputs = [(m["header"]["msg_type"], m["content"]) for m in client.iopub_until_idle(msg_id)]
    assert "mine" in stream(outputs)


def test_an_interrupt_ends_the_waiting(kernel, client):
    for way in [kernel.interrupt, lambda: client.send("control", "interrupt_request")]:
        msg_id, _ = ask(client)
        way()
        assert client.reply("shell", msg_id, 2)["content"]["ename"] == "Interrupted"
        client.iopub_until_idle(msg_id)
    assert client.execute("%echo alive")[0]["status"] == "ok"


def test_an_end_of_file_is_an_error(client):
    msg_id, _ = ask(client)
    client.send("stdin", "input_reply", {"value": "\x04"})
    assert client.reply("shell", msg_id)["content"]["ename"] == "UsageError"


def test_an_answer_without_text_is_empty(client):
    msg_id, _ = ask(client)
    client.send("stdin", "input_reply", {})
    assert client.reply("shell", msg_id)["content"]["status"] == "ok"


def test_control_is_answered_while_a_cell_asks(client):
    msg_id, _ = ask(client)
    client.reply("control", client.send("control", "kernel_info_request"), 1)
    client.send("stdin", "input_reply", {"value": "x"})
    client.reply("shell", msg_id)
