"""A kernel process and a client that speaks its sockets directly.

jupyter_client hides what these tests are about (identities, signatures, order,
malformed frames), so messages are put together here; only the HMAC is the library's.
"""
import datetime
import hashlib
import hmac
import json
import os
import random
import signal
import socket
import subprocess
import time
import uuid

import zmq

CHANNELS = ["shell", "control", "stdin", "iopub", "hb"]
DELIMITER = b"<IDS|MSG>"


def free_ports(n):
    """
    n ports that nobody listens on. They are below those that the system gives to outgoing
    connections, one of which could take a port before the kernel does.
    """
    sockets = []
    while len(sockets) < n:
        s = socket.socket()
        try:
            s.bind(("127.0.0.1", random.randrange(10240, 32768)))
            sockets.append(s)
        except OSError:
            s.close()
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def connection(key="a-key-of-the-tests", **extra):
    """What a client writes into a connection file."""
    ports = free_ports(5)
    info = {f"{name}_port": port for name, port in zip(CHANNELS, ports)}
    return {**info, "ip": "127.0.0.1", "transport": "tcp", "key": key,
            "signature_scheme": "hmac-sha256", **extra}


class Kernel:
    """`warpbook kernel`, started with a connection file in folder."""

    def __init__(self, warpbook, folder, info=None, arguments=(), env=None, wait=True):
        self.path = str(folder / f"kernel-{uuid.uuid4()}.json")
        self.info = info or connection()
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.info, file)
        base = {k: v for k, v in os.environ.items() if not k.startswith("JPY_")}
        base["WARPBOOK_HISTORY"] = str(folder / "history.jsonl")
        self.process = subprocess.Popen(
            [warpbook, "kernel", "-f", self.path, *arguments], stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True, env={**base, **(env or {})})
        if wait and self.info.get("shell_port"):
            self.wait_for_ports()

    def wait_for_ports(self):
        """Returns once the kernel listens; clients are told of a start by that alone."""
        end = time.monotonic() + 20
        while time.monotonic() < end and self.process.poll() is None:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.info["hb_port"])) == 0:
                    return
            time.sleep(0.005)
        raise AssertionError(f"the kernel does not listen: {self.finish()}")

    def wait_for_info(self):
        """Reads the ports that the kernel chose from its connection file, once they are there."""
        end = time.monotonic() + 10
        while time.monotonic() < end and not all(self.info.get(f"{c}_port") for c in CHANNELS):
            time.sleep(0.01)
            with open(self.path, encoding="utf-8") as file:
                self.info = json.load(file)

    def interrupt(self):
        """SIGINT to the whole group, as Ctrl-C and jupyter_client do it."""
        os.killpg(self.process.pid, signal.SIGINT)

    def finish(self, timeout=10):
        """Waits for the end; returns exit status and what was logged."""
        try:
            _, log = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, log = self.process.communicate()
            log += b"(killed by the test)"
        return self.process.returncode, log.decode(errors="replace")

    def kill(self):
        """Ends the process however it is."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Client:
    """One client: DEALERs with one identity, and a subscriber that saw its welcome."""

    def __init__(self, info, identity=None, curve=None, welcome=True):
        self.info = info
        self.key = info["key"].encode()
        self.session = uuid.uuid4().hex
        self.context = zmq.Context()
        self.sockets = {}
        self.pending = []  # iopub messages read while looking for others
        # One identity on all channels: a question comes back to who sent the cell.
        identity = identity or self.session.encode()
        for name in ["shell", "control", "stdin"]:
            self.sockets[name] = self._socket(zmq.DEALER, name, identity, curve)
        self.sockets["iopub"] = self._socket(zmq.SUB, "iopub", None, curve)
        self.sockets["iopub"].subscribe(b"")
        if welcome:
            self.wait_for_welcome()

    def _socket(self, kind, name, identity, curve):
        s = self.context.socket(kind)
        s.linger = 0
        s.rcvhwm = s.sndhwm = 0
        if kind == zmq.DEALER:
            s.identity = identity
        if curve:
            s.curve_serverkey, (s.curve_publickey, s.curve_secretkey) = curve, zmq.curve_keypair()
        s.connect(f"tcp://{self.info['ip']}:{self.info[name + '_port']}")
        return s

    def wait_for_welcome(self):
        """From now on nothing is lost. Other messages are kept for later calls."""
        while True:
            message = self.recv("iopub")
            if message["header"]["msg_type"] == "iopub_welcome":
                return
            self.pending.append(message)

    def close(self):
        """Drops all connections at once."""
        self.context.destroy(linger=0)

    def sign(self, parts):
        """The signature frame of four JSON frames."""
        if not self.key:
            return b""
        return hmac.new(self.key, b"".join(parts), hashlib.sha256).hexdigest().encode()

    def header(self, msg_type, **extra):
        """A header as jupyter_client would write it."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()
        return {"msg_id": uuid.uuid4().hex, "msg_type": msg_type, "username": "tester",
                "session": self.session, "date": now, "version": "5.4", **extra}

    def send_frames(self, channel, *frames):
        """Any frames."""
        self.sockets[channel].send_multipart(frames)

    def send_raw(self, channel, header, parent=b"{}", metadata=b"{}", content=b"{}", buffers=()):
        """JSON frames as bytes, rightly signed."""
        parts = [header, parent, metadata, content]
        self.send_frames(channel, DELIMITER, self.sign(parts), *parts, *buffers)

    def send(self, channel, msg_type, content=None, metadata=None, parent=None, **header):
        """A whole message; returns its msg_id."""
        head = self.header(msg_type, **header)
        dump = [json.dumps(x).encode() for x in (head, parent or {}, metadata or {}, content or {})]
        self.send_raw(channel, *dump)
        return head["msg_id"]

    def recv(self, channel, timeout=10):
        """The next message, its signature checked; TimeoutError without one."""
        s = self.sockets[channel]
        if not s.poll(timeout * 1000):
            raise TimeoutError(f"no message on {channel} in {timeout} s")
        frames = s.recv_multipart()
        at = frames.index(DELIMITER)
        parts = frames[at + 2:at + 6]
        assert frames[at + 1] == self.sign(parts), "a wrong signature from the kernel"
        header, parent, metadata, content = map(json.loads, parts)
        return {"header": header, "parent": parent, "metadata": metadata, "content": content,
                "raw": parts, "topic": frames[:at]}

    def none_comes(self, channel, seconds=0.2):
        """True when nothing arrives for so long."""
        return not self.sockets[channel].poll(seconds * 1000)

    def reply(self, channel, msg_id, timeout=10):
        """The reply to a message; others on the channel are dropped."""
        end = time.monotonic() + timeout
        while True:
            message = self.recv(channel, max(0, end - time.monotonic()))
            if message["parent"].get("msg_id") == msg_id:
                return message

    def iopub_until_idle(self, msg_id, timeout=10):
        """Every iopub message of a parent, busy to idle; others are kept for later calls."""
        end = time.monotonic() + timeout
        mine, others = [], []
        while not (mine and is_status(mine[-1], "idle")):
            message = self.pending.pop(0) if self.pending else self.recv(
                "iopub", max(0, end - time.monotonic()))
            (mine if message["parent"].get("msg_id") == msg_id else others).append(message)
        self.pending = others + self.pending
        assert is_status(mine[0], "busy"), mine[0]
        return mine

    def request(self, msg_type, content=None, channel="shell", timeout=10, **header):
        """A request, its reply, and its iopub messages between busy and idle."""
        msg_id = self.send(channel, msg_type, content, **header)
        reply = self.reply(channel, msg_id, timeout)
        return reply, self.iopub_until_idle(msg_id, timeout)[1:-1]

    def execute(self, code, timeout=10, **content):
        """Runs a cell; returns the reply's content and [(msg_type, content)] of its outputs."""
        reply, outputs = self.request("execute_request", execute_content(code, **content),
                                      timeout=timeout)
        return reply["content"], [(m["header"]["msg_type"], m["content"]) for m in outputs]

    def wait_until_busy(self, msg_id, timeout=10):
        """Returns when the kernel works on a request; its messages stay readable."""
        end = time.monotonic() + timeout
        seen = []
        while True:
            message = self.recv("iopub", max(0, end - time.monotonic()))
            seen.append(message)
            if is_status(message, "busy") and message["parent"].get("msg_id") == msg_id:
                self.pending += seen
                return


def execute_content(code, **content):
    """The content of an execute_request."""
    return {"code": code, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": False, "stop_on_error": True, **content}


def is_status(message, state):
    """True for a status message that says so."""
    return (message["header"]["msg_type"] == "status"
            and message["content"]["execution_state"] == state)


def types(outputs):
    """The message types of what execute() returned."""
    return [kind for kind, _ in outputs]


def stream(outputs, name="stdout"):
    """All text of a stream."""
    return "".join(c["text"] for kind, c in outputs if kind == "stream" and c["name"] == name)
