"""Sockets: what is answered while a cell runs, floods, reconnection, welcomes, encryption."""
import time

import zmq

from kernel_client import Client, connection, execute_content, is_status, stream


def test_control_answers_while_a_cell_runs(client):
    msg_id = client.send("shell", "execute_request", execute_content("%sleep 2"))
    client.wait_until_busy(msg_id)
    for kind in ["kernel_info_request", "usage_request", "connect_request"]:
        start = time.monotonic()
        reply = client.reply("control", client.send("control", kind), 1)
        assert reply["content"]["status"] == "ok"
        assert time.monotonic() - start < 1
    client.send("control", "interrupt_request")
    client.reply("shell", msg_id)


def test_other_requests_on_control_are_answered_too(client):
    reply, _ = client.request("execute_request", execute_content("%echo x"), channel="control")
    assert reply["content"]["status"] == "ok"
    reply, _ = client.request("is_complete_request", {"code": "%echo"}, channel="control")
    assert reply["content"]["status"] == "complete"


def test_the_heartbeat_echoes_while_a_cell_runs(kernel, client):
    msg_id = client.send("shell", "execute_request", execute_content("%sleep 2"))
    client.wait_until_busy(msg_id)
    beat = client.context.socket(zmq.REQ)
    beat.linger = 0
    beat.connect(f"tcp://127.0.0.1:{kernel.info['hb_port']}")
    for i in range(10):
        beat.send(b"ping %d" % i)
        assert beat.poll(1000) and beat.recv() == b"ping %d" % i
    client.send("control", "interrupt_request")
    client.reply("shell", msg_id)


def test_a_flood_of_requests_loses_no_idle_with_a_slow_reader(client):
    ids = [client.send("shell", "comm_msg", {"comm_id": "x", "data": {}}) for _ in range(10000)]
    client.reply("shell", client.send("shell", "kernel_info_request"), 60)
    time.sleep(1)
    idle = [client.recv("iopub", 30)["parent"]["msg_id"] for _ in range(20000)]
    assert idle[1::2] == ids and idle[::2] == ids


def test_a_cell_that_displays_much_loses_nothing(client):
    msg_id = client.send("shell", "execute_request",
                         execute_content("%%for i in 1..20000\n%clear"))
    assert client.reply("shell", msg_id, 60)["content"]["status"] == "ok"
    time.sleep(0.5)
    messages = client.iopub_until_idle(msg_id, 60)
    assert sum(m["header"]["msg_type"] == "clear_output" for m in messages) == 20000
    assert is_status(messages[-1], "idle")


def test_a_client_that_reconnects_with_its_identity_is_answered(kernel, connect):
    first = connect(kernel, identity=b"the-session")
    msg_id = first.send("shell", "execute_request", execute_content("%sleep 0.5\n%echo done"))
    first.wait_until_busy(msg_id)
    again = connect(kernel, identity=b"the-session")  # the first is still connected
    for channel in ["shell", "control"]:
        reply, _ = again.request("kernel_info_request", channel=channel)
        assert reply["content"]["status"] == "ok"
    assert again.execute("%echo x")[0]["status"] == "ok"


def test_each_subscriber_is_welcomed(kernel, connect):
    for _ in range(12):
        connect(kernel)  # fails without a welcome
    one = connect(kernel)
    topical = one.context.socket(zmq.SUB)
    topical.linger = 0
    topical.connect(f"tcp://127.0.0.1:{kernel.info['iopub_port']}")
    topical.subscribe(b"iopub_")
    assert topical.poll(5000)
    frames = topical.recv_multipart()
    assert frames[0] == b"iopub_" and b'"subscription":"iopub_"' in frames[-1]


def test_starting_is_said_once_and_has_no_parent(kernel, connect):
    client = connect(kernel)  # the first
    starting = client.recv("iopub")
    assert is_status(starting, "starting") and starting["parent"] == {}
    later = connect(kernel)
    assert later.none_comes("iopub") and client.recv("iopub")["topic"] == [b""]


def test_a_welcome_has_no_parent(kernel, connect):
    client = connect(kernel, welcome=False)
    welcome = client.recv("iopub")
    assert welcome["header"]["msg_type"] == "iopub_welcome"
    assert welcome["parent"] == {} and welcome["content"] == {"subscription": ""}


def test_topics_that_are_no_text_are_not_welcomed(kernel, client):
    odd = client.context.socket(zmq.SUB)
    odd.linger = 0
    odd.connect(f"tcp://127.0.0.1:{kernel.info['iopub_port']}")
    odd.subscribe(b"\xff\xfe")
    assert stream(client.execute("%echo alive")[1]) == "alive\n"


def test_curve_keys_encrypt_all_channels(start, connect):
    public, secret = zmq.curve_keypair()
    kernel = start(connection(curve_publickey=public.decode(), curve_secretkey=secret.decode()))
    client = connect(kernel, curve=public)
    assert stream(client.execute("%echo secret")[1]) == "secret\n"
    plain = Client(kernel.info, welcome=False)
    plain.send("shell", "kernel_info_request")
    assert plain.none_comes("shell", 0.5)
    plain.close()
    assert stream(client.execute("%echo alive")[1]) == "alive\n"


def test_ten_clients_at_once_are_all_served(kernel, connect):
    clients = [connect(kernel) for _ in range(10)]
    ids = [[c.send("shell", "execute_request", execute_content(f"%echo {n}-{i}"))
            for i in range(10)] for n, c in enumerate(clients)]
    for n, c in enumerate(clients):
        for i in range(10):
            assert c.reply("shell", ids[n][i])["content"]["status"] == "ok"
            mine = [(m["header"]["msg_type"], m["content"])
                    for m in c.iopub_until_idle(ids[n][i])]
            assert stream(mine) == f"{n}-{i}\n"
