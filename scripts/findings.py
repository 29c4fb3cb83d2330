#!/usr/bin/env python3
"""
Fills docs/hopper-findings.md and draws its figures from what was measured: tests/bench/results/h200-*.jsonl, each
line of which is a run of an experiment (scripts/record.py). Text between `<!-- data NAME -->` and `<!-- end -->` is
this script's; the rest is written by hand and has no number of a measurement in it.

    scripts/findings.py           rewrites the page and docs/images/finding-*.svg
    scripts/findings.py --check   says whether that would change them
"""
import json
import math
import os
import re
import sys
from html import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "hopper-findings.md")
IMAGES = os.path.join(ROOT, "docs", "images")
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"]


# ---- what was measured


def run_of(experiment):
    """The run of an experiment that has most points."""
    path = os.path.join(ROOT, "tests", "bench", "results", f"h200-{experiment}.jsonl")
    with open(path, encoding="utf-8") as lines:
        return max(map(json.loads, lines), key=lambda run: len(run["result"]["points"]))


def curves(run):
    """{series: [(x, point)]} of the points that were measured."""
    found = {}
    for point in run["result"]["points"]:
        if point["measured"]:
            found.setdefault(str(point["series"]), []).append((point["x"], point))
    return found


def measured(point):
    return point["measured"]["median"]


def source_line(run):
    result = run["result"]
    clocks = [p["measured"]["clock_mhz"] for p in result["points"] if p["measured"]]
    repeats = {p["measured"]["repeat"] for p in result["points"] if p["measured"]}
    return (f"`{run['command']}` on an {result['device']['name']}, {run['date']}, driver {run['driver']}, SM clock "
            f"{min(clocks):,.0f} to {max(clocks):,.0f} MHz, median of {', '.join(map(str, sorted(repeats)))}.")


# ---- text


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"] +
                     ["| " + " | ".join(row) + " |" for row in rows])


def number(value):
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def percent(value):
    return f"{100 * value:.1f} %"


def pivot(run, form, head=str):
    """A row for each x, a column for each curve: what was measured."""
    found = {series: dict(points) for series, points in curves(run).items()}
    xs = sorted({x for points in found.values() for x in points})
    name = run["result"]["axis"]["label"]
    rows = [[str(x), *(form(measured(points[x])) if x in points else "" for points in found.values())] for x in xs]
    return table([name, *(head(series) for series in found)], rows)


def spread(run):
    """How sure the medians are."""
    parts = [p["measured"]["iqr"] / measured(p) for points in curves(run).values() for _, p in points]
    return f"The inter-quartile range of a point is at most {percent(max(parts))} of its median."


def off(guess, points):
    """Mean error of a formula of x, in percent of what was measured."""
    return sum(abs(guess(x) - measured(p)) / measured(p) for x, p in points) / len(points)


# ---- figures


def round_up(step):
    """To 1, 2, 2.5, 4 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(step))
    return next(n * power for n in (1, 2, 2.5, 4, 5, 10) if n * power >= step)


def figure(title, x_label, y_label, lines, is_log=False):
    """
    lines: (name, [(x, y)], is it measured). Measured ones have marks, the others are dashed; names that are equal up
    to a comma share a color.
    """
    keys = list(dict.fromkeys(name.split(",")[0] for name, _, _ in lines))
    place = (lambda x: math.log2(x)) if is_log else (lambda x: x)
    xs = sorted({x for _, points, _ in lines for x, _ in points})
    step = round_up(max(y for _, points, _ in lines for _, y in points) / 4)
    top = 4 * step
    left, width, base, height = 64, 560, 300, 240
    span = (place(xs[-1]) - place(xs[0])) or 1

    def at(x, y):
        return f"{left + width * (place(x) - place(xs[0])) / span:.1f},{base - height * y / top:.1f}"

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {356 + 18 * len(lines)}" font-family="sans-serif" '
           f'font-size="12"><title>{escape(title)}</title><desc>{escape(title)}: {escape(y_label)} by '
           f'{escape(x_label)}</desc><rect width="100%" height="100%" fill="#fdfdfd"/>',
           f'<text x="16" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
           f'<text x="16" y="46">{escape(y_label)}</text>',
           f'<text x="{left + width / 2}" y="340" text-anchor="middle">{escape(x_label)}</text>']
    for k in range(5):
        y = step * k
        x0, y0 = at(xs[0], y).split(",")
        out.append(f'<line x1="{x0}" y1="{y0}" x2="{left + width}" y2="{y0}" stroke="#ddd"/>'
                   f'<text x="{left - 8}" y="{float(y0) + 4:.1f}" text-anchor="end">{number(y) if y else "0"}</text>')
    for x in xs:
        out.append(f'<text x="{at(x, 0).split(",")[0]}" y="318" text-anchor="middle">{x}</text>')
    for i, (name, points, is_measured) in enumerate(lines):
        color = COLORS[keys.index(name.split(",")[0]) % len(COLORS)]
        dash = "" if is_measured else ' stroke-dasharray="6 4"'
        out.append(f'<polyline fill="none" stroke="{color}" stroke-width="2"{dash} points="'
                   + " ".join(at(x, y) for x, y in points) + '"/>')
        for x, y in points if is_measured else []:
            out.append('<circle cx="{}" cy="{}" r="4" fill="{}"/>'.format(*at(x, y).split(","), color))
        y = 362 + 18 * i
        out.append(f'<line x1="{left}" y1="{y}" x2="{left + 32}" y2="{y}" stroke="{color}" stroke-width="2"{dash}/>'
                   f'<text x="{left + 40}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join(out) + "\n</svg>\n"


# ---- the findings


def wait_of(issue, points):
    """W of a warp alone: it is busy I / (I + W)."""
    return issue / measured(dict(points)[1]) - issue


def greedy(issue, n, wait):
    return min(1, n * issue / (issue + wait))


def in_turns(issue, n, wait):
    return min(1, n * issue / ((issue - 1) * n + 1 + wait))


def policy():
    run = run_of("policy")
    lines, rows = [], []
    for series, points in curves(run).items():
        issue, wait = int(series), wait_of(int(series), points)
        lines.append((f"I = {issue}, measured", [(x, 100 * measured(p)) for x, p in points], True))
        lines.append((f"I = {issue}, greedy", [(x, 100 * greedy(issue, x, wait)) for x, _ in points], False))
        rows.append([series, f"{wait:.1f}", percent(off(lambda n, i=issue, w=wait: greedy(i, n, w), points)),
                     percent(off(lambda n, i=issue, w=wait: in_turns(i, n, w), points))])
    head = ["I, instructions", "W, cycles (one warp)", "greedy is off", "in turns is off"]
    text = table(head, rows) + "\n\n" + pivot(run, percent, lambda series: f"I = {series}")
    return run, text, figure("Which warp issues next, on an H200", "warps a scheduler", "issue slots used, %", lines[:6])


def hiding():
    """Text 000's picture with this chip's numbers: how many warps fill the wait of one."""
    run = run_of("policy")
    rows, lines = [], []
    for series, points in curves(run).items():
        issue, wait, most = int(series), wait_of(int(series), points), max(measured(p) for _, p in points)
        full = next(x for x, p in points if measured(p) >= 0.95 * most)
        rows.append([str(issue), f"{wait:.1f}", f"{(issue + wait) / issue:.1f}", percent(most), str(full)])
        lines.append((f"I = {issue}, W = {wait:.0f}", [(x, 100 * measured(p)) for x, p in points], True))
    head = ["I, instructions", "W, cycles (one warp)", "(I + W) / I", "most", "warps for 95 % of the most"]
    return run, table(head, rows), figure("Text 000's curve on a chip: H200", "warps a scheduler",
                                          "issue slots used, %", lines)


def line_through(points):
    """Least squares: (at 0, slope)."""
    n, xs, ys = len(points), [x for x, _ in points], [y for _, y in points]
    slope = ((n * sum(x * y for x, y in points) - sum(xs) * sum(ys)) / (n * sum(x * x for x in xs) - sum(xs) ** 2))
    return (sum(ys) - slope * sum(xs)) / n, slope


def barrier():
    run = run_of("barrier")
    (curve,) = curves(run).values()
    points = [(x, measured(p)) for x, p in curve]
    start, slope = line_through(points)
    worst = max(abs(start + slope * x - y) for x, y in points)
    text = (f"The straight line through the points is {start:.1f} + {slope:.2f} a warp; the point farthest from it is "
            f"{worst:.1f} cycles away.\n\n{pivot(run, number, lambda _: 'cycles a barrier')}")
    line = [(x, start + slope * x) for x, _ in points]
    return run, text, figure("__syncthreads() on an H200", "warps of the block", "cycles a barrier",
                             [("measured", points, True), ("straight line", line, False)])


def shuffle():
    run = run_of("units")
    return run, pivot(run, number), None


SECTOR_WORDS, WARP = 8, 32


def operations(addresses):
    """Of L2 for a warp whose lanes add to `addresses` words in turn: each changes a sector's words once."""
    if addresses <= WARP:
        return max(WARP // addresses, WARP // SECTOR_WORDS)
    return WARP / SECTOR_WORDS + (SECTOR_WORDS - 1) / SECTOR_WORDS  # seven of eight starts are in a sector


def atomics():
    run = run_of("atomics")
    rows = [[str(x), number(measured(p)), number(measured(p) / x), number(operations(x)),
             number(measured(p) * operations(x) / WARP)] for x, p in curves(run)["global"]]
    head = ["addresses", "additions a ns", "of one address", "operations of L2 a warp", "operations of L2 a ns"]
    text = f"{pivot(run, number)}\n\nIn global memory, additions of the whole card:\n\n{table(head, rows)}"
    done = [(x, measured(p) * operations(x) / WARP) for x, p in curves(run)["global"]]
    return run, text, figure("Additions to few addresses of global memory, H200", "addresses",
                             "operations of L2 a nanosecond", [("global", done, True)], is_log=True)


FINDINGS = {"policy": policy, "hiding": hiding, "barrier": barrier, "shuffle": shuffle, "atomics": atomics}


def build():
    """The page and the figures, by file."""
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    files = {}
    for name, finding in FINDINGS.items():
        run, text, svg = finding()
        block = f"{run['result']['conclusion']}\n\n{source_line(run)} {spread(run)}\n\n{text}\n"
        if svg:
            files[os.path.join(IMAGES, f"finding-{name}.svg")] = svg
            block += f"\n![the figure of these numbers](images/finding-{name}.svg)\n"
        page = re.sub(rf"(<!-- data {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + block + m[2], page, flags=re.S)
    files[PAGE] = page
    return files


def main():
    changed = []
    for path, text in build().items():
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old != text:
            changed.append(os.path.relpath(path, ROOT))
            if "--check" not in sys.argv:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    print("\n".join(changed) if changed else "all as measured")
    return 1 if changed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
