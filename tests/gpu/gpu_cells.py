"""Cells on a GPU, and what they answer."""
import json
import os
import re
import subprocess

import pytest

MIME = "application/vnd.warpbook.v1+json"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HAS_CARD = os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg")

needs_card = pytest.mark.skipif(not HAS_CARD, reason="needs a GPU")

# tests/gpu/fake/cuda.c does in C what these do, by their names; crash and greedy it does alone.
KERNELS = """\
__device__ int total = 5;
__device__ int *kept;
__global__ void add_one(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
    if (n < 0)
        total = 1;
}
__global__ void illegal(int n, int *x) { x[0] = -1; x[(1LL << 40) + n] = 1; }
__global__ void misaligned(int n, int *x) { x[0] = -1; *(int *)((char *)x + n + 1) = 1; }
__global__ void refuted(int n, int *x) { x[0] = -1; assert(n < 0); }
__global__ void trapped(int n, int *x) { x[0] = -1; if (threadIdx.x == 3) __trap(); }
__global__ void speak(int n, int *x)
{
    if (threadIdx.x < n)
        printf("thread %d says %d\\n", threadIdx.x, x[threadIdx.x]);
}
__global__ void spin(int n, volatile int *x) { x[0] = -1; while (x[1] != n) ; }
__global__ void brief(int n, int *x) { x[threadIdx.x] += 1; }
__global__ void crash(int n, int *x) { x[0] = -1; }
__global__ void greedy(int n, int *x) { x[0] = -1; }
__global__ void hungry(int n, int *x) { if (!kept) kept = (int *)malloc(4 * n); x[threadIdx.x] += 1; }
%buffer x int[64] = iota
"""


class Answer:
    """What one cell gave."""

    def __init__(self, outputs):
        self.text, self.results, self.error, self.report, self.svg = "", [], None, "", ""
        for output in outputs:
            if output["output_type"] == "error":
                self.error = output["ename"]
                self.report = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output["traceback"]))
            elif output["output_type"] == "stream":
                self.text += output["text"]
            else:
                self.text += output["data"].get("text/plain", "") + "\n"
                self.svg += output["data"].get("image/svg+xml", "")
                if MIME in output["data"]:
                    self.results.append(output["data"][MIME])

    def ok(self):
        """The answer, of a cell that did not fail."""
        assert self.error is None, self.report
        return self


class Driver:
    """Runs cells on the machine's card, or on the fake one in a folder."""

    def __init__(self, warpbook, folder=None, log=None):
        self.warpbook, self.is_fake, self.log = warpbook, folder is not None, log
        self.env = dict(os.environ)
        if folder:
            self.env["LD_LIBRARY_PATH"] = folder + os.pathsep + os.environ.get("LD_LIBRARY_PATH", "")
            self.env["FAKE_CUDA_LOG"] = log

    def start(self, *texts, **env):
        """A process that runs cells."""
        process = subprocess.Popen([self.warpbook, "cell", "-", "--format", "json"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**self.env, **env})
        process.stdin.write("\n%%\n".join(texts).encode())
        process.stdin.close()
        process.stdin = None
        return process

    @staticmethod
    def finish(process):
        """Its answers, one a cell."""
        out, log = process.communicate(timeout=300)
        assert process.returncode in (0, 1), log.decode()
        return [Answer(json.loads(line)["outputs"]) for line in out.splitlines()]

    def cells(self, *texts, **env):
        """Runs cells; a list of their answers."""
        answers = self.finish(self.start(*texts, **env))
        assert len(answers) == len(texts)
        return answers

    def lines(self, what=None):
        """The fake's log: (process, what, number)."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="ascii") as file:
            rows = [line.split() for line in file]
        return [(int(p), w, int(n)) for p, w, n in rows if what in (None, w)]
