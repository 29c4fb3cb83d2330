"""The GPU process: started when needed, given up when idle, replaced when a kernel broke it."""
import glob
import importlib
import json
import os
import re
import signal
import time

import pytest

from gpu_cells import KERNELS

LIMIT_S = 1.0  # ten times the 100 ms that an interrupt may take

# A kernel, its error, and words of the report. Each leaves the buffer as it was.
FAULTS = {
    "illegal": ("MemoryFault", ["outside its memory", "device=model"]),
    "misaligned": ("MemoryFault", ["no multiple of its size", "device=model"]),
    "trapped": ("AssertFault", ["device=model"]),
    "refuted": ("AssertFault", ["assertion `n < 0` failed (In[1] line 13, 64 threads)",
                                "of block (0,0,0)", "device=model"]),
    "spin": ("Timeout", ["did not end within 1 s"]),
}
FAKE_FAULTS = {
    "crash": ("DeviceError", ["ended with SEGV", "a fresh process is started; variables are kept"]),
    "greedy": ("LaunchError", ["more registers or shared memory", "fewer threads"]),
}


def launch(kernel, more=None):
    """Only the kernel that never ends is given so little time that a loaded machine could miss it."""
    more = more if more is not None else "timeout=1" if kernel == "spin" else "timeout=30"
    return f"%launch {kernel}<<<1, 64>>>(64, x) device=gpu {more}"


def one_process_after_the_other(driver):
    """No process's line stands behind another one's; each had one context. Returns them in order."""
    # NVRTC asks the driver, too, and has no context.
    owners = {p for p, what, _ in driver.lines() if what == "context"}
    order = []
    for process, what, _ in driver.lines():
        if process in owners and process not in order:
            order.append(process)
        assert process not in owners or process == order[-1]
    assert len(driver.lines("context")) == len(order)
    return order


def test_every_fault_is_told_leaves_the_buffers_and_costs_no_more_than_its_launch(driver):
    faults = {**FAULTS, **(FAKE_FAULTS if driver.is_fake else {})}
    texts = []
    for i, name in enumerate(faults):
        texts += [launch(name), f"%check x[0] == {i}\n%check x[63] == {63 + i}", launch("add_one")]
    answers = driver.cells(KERNELS + "%buffer total = (7)", *texts, "%check total == 7")
    answers.pop(0).ok()
    for i, (name, (error, words)) in enumerate(faults.items()):
        fault, check, again = answers[3 * i:3 * i + 3]
        assert fault.error == error, (name, fault.report)
        for word in words:
            assert word in " ".join(fault.report.split()), (name, fault.report)
        if error not in ("DeviceError", "LaunchError"):
            assert "x is as before the launch" in fault.report
        check.ok()
        again.ok()
    answers[-1].ok()
    if driver.is_fake:  # a launch that is refused breaks nothing
        assert len(one_process_after_the_other(driver)) == len(faults)


def test_what_a_lost_process_cannot_give_back_is_named(driver):
    answers = driver.cells(KERNELS, launch("hungry"), launch("illegal"), launch("add_one"), launch("hungry"))
    assert "what kernels took with malloc on the GPU is gone" in " ".join(answers[2].report.split())
    assert "malloc" not in answers[3].ok().text + answers[4].ok().text


def test_a_process_that_crashed_takes_the_heap_along_and_the_next_launch_says_so(fake):
    answers = fake.cells(KERNELS, launch("hungry"), launch("crash"), launch("add_one"), launch("add_one"))
    assert "A new GPU process runs add_one: what kernels took with malloc" in answers[3].ok().text
    assert "malloc" not in answers[4].ok().text


def test_what_a_kernel_prints_arrives(driver):
    spoken, = driver.cells(KERNELS + launch("speak").replace("(64,", "(3,"))
    for i in range(3):
        assert f"thread {i} says {i}\n" in spoken.ok().text


def test_an_idle_process_gives_the_card_back(fake):
    kept = KERNELS + "%buffer total = (7)\n" + launch("add_one")
    answers = fake.cells(kept, "%sleep 1.6", launch("add_one"), "%check x[5] == 7\n%check total == 7",
                         WARPBOOK_GPU_IDLE_S="1")
    for answer in answers:
        answer.ok()
    assert len(one_process_after_the_other(fake)) == 2


def test_a_notebook_holds_one_card_at_a_time(fake):
    on = [launch("add_one").replace("gpu", f"gpu:{i}") for i in (0, 1, 1, 0)]
    *answers, missing = fake.cells(KERNELS + "%device gpu:1", *on, "%device gpu:2", FAKE_CUDA_CARDS="2")
    for answer in answers:
        answer.ok()
    assert answers[0].results[-1]["name"] == "Fake 1"
    assert missing.error == "DeviceError" and "gpu:2: this machine has 2 GPUs" in missing.report
    held = []
    for _, what, card in fake.lines():
        if what == "context":
            held.append(card)
        elif what == "release":
            held.remove(card)
        assert len(held) <= 1
    assert held == [0]


def test_notebooks_share_a_card(driver):
    processes = [driver.start(KERNELS, launch("add_one"), "%sleep 0.5", launch("add_one"), "%check x[9] == 11")
                 for _ in range(3)]
    for process in processes:
        for answer in driver.finish(process):
            answer.ok()


# ---- interrupted and killed ----

def started_by(pid):
    """The processes that pid started, from whichever thread."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path, encoding="ascii") as file:
            found += [int(p) for p in file.read().split()]
    return found


def is_living(pid):
    """Whether it still runs, and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def spinning(driver):
    """A process whose second cell runs a kernel without end."""
    process = driver.start(KERNELS + launch("add_one"), launch("spin", ""))
    assert json.loads(process.stdout.readline())["status"] == "ok"
    time.sleep(0.7)
    return process


def test_a_signal_stops_the_wait_for_a_kernel_that_spins(driver):
    process = spinning(driver)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    answer = json.loads(process.stdout.readline())
    took = time.monotonic() - begin
    print(f"{took * 1000:.1f} ms")
    assert answer["outputs"][-1]["ename"] == "Interrupted"
    assert took < LIMIT_S
    process.communicate(timeout=60)


def test_no_process_outlives_a_front_that_was_killed(driver):
    process = spinning(driver)
    started = started_by(process.pid)
    assert len(started) >= 2  # the compiler and the GPU's
    process.kill()
    process.communicate(timeout=60)
    end = time.monotonic() + 10
    while any(map(is_living, started)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(is_living, started))


# ---- in a notebook ----

@pytest.fixture
def start_notebook(tmp_path):
    """Starts kernels of Jupyter's that end with the test; gives each one's client."""
    pytest.importorskip("zmq", reason="needs pyzmq")
    client_module = importlib.import_module("kernel_client")
    started = []

    def start(driver, **env):
        kernel = client_module.Kernel(driver.warpbook, tmp_path, env={**driver.env, **env})
        client = client_module.Client(kernel.info)
        started.append((kernel, client))
        assert client_module.is_status(client.recv("iopub"), "starting")
        return client

    yield start
    for kernel, client in started:
        client.close()
        kernel.kill()


def seconds_to_stop(client, text, after_s):
    """Interrupts a cell that ran for so long; how long the front takes to be idle."""
    content = importlib.import_module("kernel_client").execute_content(text)
    msg_id = client.send("shell", "execute_request", content)
    client.wait_until_busy(msg_id)
    time.sleep(after_s)
    begin = time.monotonic()
    client.send("control", "interrupt_request")
    reply = client.reply("shell", msg_id, 30)["content"]
    client.iopub_until_idle(msg_id)
    assert reply["ename"] == "Interrupted", reply
    return time.monotonic() - begin


def test_an_interrupt_is_heard_while_a_kernel_spins_and_the_next_launch_runs(driver, start_notebook):
    client = start_notebook(driver)
    assert client.execute(KERNELS + launch("add_one"), timeout=120)[0]["status"] == "ok"
    took = []
    for _ in range(3):
        took.append(seconds_to_stop(client, launch("spin", ""), 0.7))
        reply, _ = client.execute(launch("add_one") + f"\n%check x[0] == 1 + {len(took)}", timeout=60)
        assert reply["status"] == "ok", reply
    print(f"{min(took) * 1000:.1f} ms")
    assert min(took) < LIMIT_S
    if driver.is_fake:
        assert len(one_process_after_the_other(driver)) == 4


def test_a_kernel_that_ends_soon_after_the_interrupt_costs_no_process(fake, start_notebook):
    client = start_notebook(fake)
    client.execute(KERNELS + launch("add_one"), timeout=120)
    for _ in range(3):
        seconds_to_stop(client, launch("brief", ""), 0.05)
        reply, _ = client.execute(launch("add_one"), timeout=60)
        assert reply["status"] == "ok", reply
    assert client.execute("%check x[0] == 4")[0]["status"] == "ok"
    assert len(one_process_after_the_other(fake)) == 1


def test_a_driver_that_starts_slowly_does_not_hold_the_front(fake, start_notebook):
    client = start_notebook(fake, FAKE_CUDA_START="2500")
    assert seconds_to_stop(client, "%device gpu", 0.5) < LIMIT_S
    reply, _ = client.execute("%device gpu", timeout=60)
    assert reply["status"] == "ok", reply


def test_the_start_of_the_process_is_no_time_of_the_launch(fake):
    for answer in fake.cells(KERNELS, launch("add_one"), FAKE_CUDA_START="1500"):
        answer.ok()


# ---- what is wrong with this machine ----

SENTENCES = [
    ({"FAKE_CUDA": "no_device"}, "the NVIDIA driver is here, but no GPU that it can use", "device=model"),
    ({"FAKE_CUDA": "no_device", "CUDA_VISIBLE_DEVICES": ""},
     'the NVIDIA driver shows no GPU: CUDA_VISIBLE_DEVICES="" hides them', "device=model"),
    ({"FAKE_CUDA": "version_mismatch"}, "the NVIDIA driver does not start: system has unsupported display driver "
     "(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)", "device=model"),
    ({"FAKE_CUDA_CC": "99"}, "gpu:0: the limits of compute capability 9.9 are not in the table", ""),
    ({"FAKE_CUDA_CC": "70"}, "Fake 0 has compute capability 7.0: the compiler makes no code below 7.5",
     "device=model"),
]


@pytest.mark.parametrize("env, sentence, advice", SENTENCES, ids=[" ".join(s[0].values()) for s in SENTENCES])
def test_a_card_that_cannot_be_used_says_why(fake, env, sentence, advice):
    answer, = fake.cells(KERNELS + launch("add_one"), **env)
    report = " ".join(answer.report.split())
    assert report.startswith(f"DeviceError: {sentence}"), report
    assert advice in report


def test_a_machine_without_a_driver_says_so(warpbook, fake, tmp_path):
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("this machine has a driver")
    fake.env["LD_LIBRARY_PATH"] = str(tmp_path)
    answer, = fake.cells("%device gpu")
    assert "DeviceError: no NVIDIA driver (libcuda.so.1) on this machine" in answer.report
    assert "device=model" in answer.report


def test_a_driver_that_is_older_than_the_compiler_names_the_compiler_for_it(fake, same_compiler):
    answer, = fake.cells(KERNELS + launch("add_one"), FAKE_CUDA_VERSION="12040")
    report = " ".join(answer.report.split())
    assert "DeviceError: the driver is for CUDA 12.4, too old for code of NVRTC 13.0" in report
    assert "pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12" in report


def test_code_for_another_architecture_is_named(fake):
    answer, = fake.cells("%%kernel arch=sm_80\n" + KERNELS.split("__global__ void illegal")[0],
                         "%buffer x int[64]\n" + launch("add_one"))[1:]
    assert "DeviceError: code for sm_80 does not run on capability 9.0" in answer.report
    assert "leave arch= out" in answer.report


@pytest.mark.parametrize("memory, what", [
    ("100", r"x takes 256 bytes, and 100 of its 100 are free"),
    ("300", r"the copy from which a buffer is restored takes 256 bytes, and \d+ of its 300 are free")])
def test_memory_that_is_not_there_is_a_number(fake, memory, what):
    _, answer = fake.cells(KERNELS, "%bench add_one<<<1, 64>>>(64, x) device=gpu repeat=3",
                            FAKE_CUDA_MEMORY=memory)
    assert answer.error == "ResourceError"
    assert re.search("out of memory on the GPU: " + what, " ".join(answer.report.split())), answer.report


def test_too_many_registers_for_a_block_is_refused_with_its_numbers(driver):
    """F121: 1,024 threads of 72 registers are 73,728, and a block has 65,536."""
    wide = "%%kernel\n__global__ void wide(float *x)\n{\n    float a[64];\n" \
           "    for (int i = 0; i < 64; i++) a[i] = x[i * 1024 + threadIdx.x];\n" \
           "    for (int r = 0; r < 4; r++)\n#pragma unroll\n" \
           "        for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i * 7 + 1) % 64] + a[(i * 5 + 3) % 64];\n" \
           "    for (int i = 0; i < 64; i++) x[i * 1024 + threadIdx.x] = a[i];\n}\n"
    _, answer = driver.cells(wide, "%buffer x float[65536]\n%launch wide<<<1, 1024>>>(x) device=gpu")
    assert answer.error == "LaunchError"
    assert "too many resources requested: 1024 threads take" in " ".join(answer.report.split())
    assert "a block has at most 65536" in " ".join(answer.report.split())
