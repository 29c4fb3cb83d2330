"""
Runs every test and sums them to one closing line: `N passed, N failed, N skipped`.

Builds twice (plain; AddressSanitizer and UBSan), then runs the C unit tests in both builds, the
fuzzers, and pytest: as many at a time as there are processors, but reported in order. Whatever lacks
what it needs skips by name; whatever cannot be built, or dies without a word, counts as failed.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Sanitizers that see nothing to free at exit of a killed child, and stop at the first finding.
SANITIZERS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1:abort_on_error=0",
              "UBSAN_OPTIONS": "print_stacktrace=1"}


# Mostly NVRTC, which is not ours and is not watched: under the sanitizers in the long form only.
COMPILES = {"test_classics_sums", "test_classics_grids", "test_classics_mixed", "test_cuda_headers"}


class Tally:
    """What passed, failed and skipped so far, and what is to be printed about it."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []
        self.lines = []

    def say(self, text):
        self.lines.append("   " + text)

    def show(self, output):
        self.lines.append("    " + "\n    ".join(output.rstrip().splitlines()[-60:]))

    def add(self, passed=0, failed=(), skipped=()):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped


def heading(text):
    print(f"== {text}", flush=True)


def run(command, env=None, timeout=600):
    """Runs a command without standard input; returns its status and its output."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, **(env or {})},
                              timeout=timeout, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return -1, (late.stdout or b"").decode(errors="replace") + f"\nno end within {timeout} s\n"


def show(output):
    print("    " + "\n    ".join(output.rstrip().splitlines()[-60:]), flush=True)


def build(tally, what, targets):
    heading(f"build: {what}")
    start = time.monotonic()
    status, output = run(["make", f"-j{os.cpu_count() or 2}", *targets], timeout=1500)
    if status or "warning:" in output:
        show(output)
        tally.add(failed=[f"build of {what}" + ("" if status else ": warnings")])
    print(f"   {time.monotonic() - start:.0f} s", flush=True)
    return status == 0


def together(tally, jobs, more=0):
    """
    Runs (function, arguments...) side by side, each with a tally of its own; sums them in order. As many
    as there are processors, and so many more of jobs that wait for most of their time.
    """
    def one(job):
        own = Tally()
        job[0](own, *job[1:])
        return own

    with ThreadPoolExecutor((os.cpu_count() or 2) + more) as pool:
        for own in pool.map(one, jobs):
            print("\n".join(own.lines), flush=True)
            tally.add(own.passed, own.failed, own.skipped)


def unit(tally, program, env, label):
    """One cmocka program, whose report is in TAP."""
    name = os.path.basename(program) + label
    status, output = run([program], {"CMOCKA_MESSAGE_OUTPUT": "TAP", **env})
    skipped = re.findall(r"^ok \d+(?: -)? ([^\n]*?) *# (?:SKIP|skip)", output, re.M)
    passed = len(re.findall(r"^ok \d+", output, re.M)) - len(skipped)
    failed = re.findall(r"^not ok \d+(?: -)? ([^\n]*)", output, re.M)
    if not failed and (status or not passed + len(skipped)):
        failed = [f"(status {status}, no test failed by name)"]
    tally.say(f"{name}: {passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    if failed:
        tally.show(output)
    tally.add(passed, [f"{name}: {f}" for f in failed], [f"{name}: {s}" for s in skipped])


def fuzz(tally, program, seconds):
    status, output = run([program, str(seconds)], SANITIZERS, timeout=seconds + 120)
    tally.say((output.strip().splitlines() or ["(silent)"])[-1])
    if status:
        tally.show(output)
        tally.add(failed=[os.path.basename(program)])
    else:
        tally.add(passed=1)


def python_tests(tally, folder, env, label=""):
    report = os.path.join("build", f"pytest-{folder.replace('/', '-')}{label.replace(' ', '-')}.xml")
    if os.path.exists(report):
        os.remove(report)
    status, output = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder,
                          f"--junitxml={report}", "--timeout=180", "--tb=short"], env, timeout=1500)
    if status == 5:  # an empty folder
        return
    tally.say(f"{folder}{label}: {output.strip().splitlines()[-1]}")
    failed, skipped, passed = [], [], 0
    if os.path.exists(report):
        for case in ET.parse(report).iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}{label}"
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            elif case.find("skipped") is not None:
                skipped.append(f"{name}: {case.find('skipped').get('message')}")
            else:
                passed += 1
    if status and not failed:
        failed = [f"{folder}{label} (pytest status {status})"]
    if failed:
        tally.show(output)
    tally.add(passed, failed, skipped)


def names(kind):
    """The programs of a folder of C tests, by name."""
    prefix = {"unit": "test", "fuzz": "fuzz"}[kind]
    return sorted(os.path.basename(path)[:-2] for path in glob.glob(f"tests/{kind}/{prefix}_*.c"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true",
                        help="fuzzers 60 s each, kernel and compilations under ASan, every lesson in the browser")
    parser.add_argument("--only", choices=["unit", "asan", "fuzz", "python"], action="append",
                        help="just these parts")
    options = parser.parse_args()
    parts = options.only or ["unit", "asan", "fuzz", "python"]
    os.chdir(ROOT)
    os.environ["VIRTUAL_ENV"] = os.path.join(ROOT, ".venv")
    os.environ["PATH"] = os.path.join(ROOT, ".venv", "bin") + os.pathsep + os.environ["PATH"]
    if options.long:
        os.environ["WARPBOOK_LONG"] = "1"
    tally = Tally()
    start = time.monotonic()

    plain = build(tally, "warpbook and its unit tests", ["binaries"])
    asan = not {"asan", "fuzz"}.isdisjoint(parts) and build(
        tally, "the same under AddressSanitizer and UBSan", ["asan-binaries"])
    if plain and "unit" in parts:
        heading("unit tests")
        together(tally, [(unit, f"build/tests/{name}", {}, "") for name in names("unit")])
    if asan and "asan" in parts:
        heading("unit tests under AddressSanitizer and UBSan")
        together(tally, [(unit, f"build/asan/tests/{name}", SANITIZERS, " (asan)")
                         for name in names("unit") if options.long or name not in COMPILES])
    if asan and "fuzz" in parts:
        heading("fuzzers")
        together(tally, [(fuzz, f"build/asan/fuzz/{name}", 60 if options.long else 5)
                         for name in names("fuzz")])
    if plain and "python" in parts:
        heading("Python tests")
        together(tally, [(python_tests, folder, {})
                         for folder in sorted({os.path.dirname(p) for p in glob.glob("tests/*/test_*.py")})], more=1)
        if options.long and asan:
            heading("tests/conformance under AddressSanitizer and UBSan")
            together(tally, [(python_tests, "tests/conformance",
                              {"WARPBOOK": os.path.abspath("build/asan/warpbook"), **SANITIZERS},
                              " (asan)")])

    if options.long and "unit" in parts:
        heading("blocks on several host threads under ThreadSanitizer")
        status, output = run(["make", "tsan"], timeout=1500)
        if status:
            show(output)
        tally.add(passed=not status, failed=["make tsan"] if status else [])

    heading(f"{time.monotonic() - start:.0f} s")
    for name in tally.skipped:
        print(f"skipped: {name}")
    for name in tally.failed:
        print(f"failed: {name}")
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
