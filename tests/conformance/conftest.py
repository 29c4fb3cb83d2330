"""Fixtures: a kernel of its own for each test (it starts in milliseconds), and its clients."""
import pytest

from kernel_client import Client, Kernel, is_status


@pytest.fixture
def start(warpbook, tmp_path):
    """Starts kernels that end with the test."""
    kernels = []

    def start_one(*arguments, **keywords):
        kernels.append(Kernel(warpbook, tmp_path, *arguments, **keywords))
        return kernels[-1]

    yield start_one
    for kernel in kernels:
        kernel.kill()


@pytest.fixture
def kernel(start):
    """A running kernel."""
    return start()


@pytest.fixture
def connect():
    """Connects clients that go with the test."""
    clients = []

    def connect_one(kernel, **keywords):
        clients.append(Client(kernel.info, **keywords))
        return clients[-1]

    yield connect_one
    for one in clients:
        one.close()


@pytest.fixture
def client(kernel, connect):
    """The first client of the running kernel, to which it said that it started."""
    first = connect(kernel)
    assert is_status(first.recv("iopub"), "starting")
    return first
