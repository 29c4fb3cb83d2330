#!/usr/bin/env python3
"""
Fills in the table of docs/accuracy.md: how far the model of an H200 is from what was measured on one
(tests/bench/results/h200-*.jsonl, kept by scripts/record.py). Each sweep is run again on the model,
so that the table is about the model that is here.

    scripts/accuracy.py           rewrites docs/accuracy.md
    scripts/accuracy.py --check   says whether that would change it
"""
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "accuracy.md")
RESULTS = os.path.join(ROOT, "tests", "bench", "results")
WARPBOOK = os.environ.get("WARPBOOK", os.path.join(ROOT, "build", "warpbook"))
KIND = "application/vnd.warpbook.v1+json"
ALL = 10  # percent: what is asked of the mean over all experiments


def records():
    """Of each experiment the kept sweep with its own default keys, or else the first, by name."""
    for path in sorted(glob.glob(os.path.join(RESULTS, "h200-*.jsonl"))):
        with open(path, encoding="utf-8") as lines:
            kept = sorted(map(json.loads, lines), key=lambda record: "=" in record["command"])
        yield kept[0]


def modelled(command):
    """The same sweep on the model of an H200."""
    done = subprocess.run([WARPBOOK, "cell", "-", "--format", "json"],
                          input=f"{command} device=H200".encode(), capture_output=True, timeout=120, check=False)
    for output in json.loads(done.stdout)["outputs"]:
        if output["output_type"] == "error":
            raise RuntimeError("\n".join(output["traceback"]))
        if KIND in output.get("data", {}):
            return output["data"][KIND]
    raise RuntimeError(f"{command}: no result")


def pairs(record, model):
    """(measured, modelled, formula) of every point that was measured."""
    if "variants" in record["result"]:
        now = {v["name"]: v for v in model["variants"]}
        for v in record["result"]["variants"]:
            if v["measured"] and now[v["name"]]["modelled"]:
                yield v["measured"]["median_us"], now[v["name"]]["modelled"]["time_us"], None
        return
    now = {(p["x"], p["series"]): p for p in model["points"]}
    for p in record["result"]["points"]:
        other = now.get((p["x"], p["series"]))
        if p["measured"] and other and other["modelled"]:
            yield p["measured"]["median"], other["modelled"]["value"], other["closed_form"]


def mean_error(measured, others):
    both = [(a, b) for a, b in zip(measured, others) if a and b is not None]
    return 100 * sum(abs(b - a) / abs(a) for a, b in both) / len(both) if both else None


def percent(value):
    return "" if value is None else f"{value:.1f} %"


def row(record):
    model = modelled(record["command"])
    measured, values, formulas = zip(*pairs(record, model))
    error = mean_error(measured, values)
    goal = model.get("goal_percent", 5)
    axis = model["axis"]["label"] if "axis" in model else "variants"
    curves = model.get("curves")
    name = model.get("experiment") or model["lesson"]
    text = (f"| {name} | {axis}{', ' + curves['label'] if curves else ''} | {len(measured)} | {percent(error)} | "
            f"{goal:.0f} % | {'yes' if error <= goal else 'no'} | {model.get('parameters', 'calibrated')} | "
            f"{percent(mean_error(measured, formulas))} | {'' if error <= goal else record['result'].get('left_out') or ''} |")
    return text, error


def table():
    lines = ["| experiment | swept | points | mean error of the model | asked for | within | its numbers | formula | left out |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    errors = []
    for record in records():
        text, error = row(record)
        lines.append(text)
        errors.append(error)
    mean = sum(errors) / len(errors) if errors else None
    lines.append(f"| all | | | {percent(mean)} | {ALL} % | {'yes' if errors and mean <= ALL else 'no'} | | | |")
    return "\n".join(lines)


def main():
    with open(PAGE, encoding="utf-8") as file:
        before = file.read()
    after = re.sub(r"<!-- experiments -->\n.*?<!-- /experiments -->",
                   lambda _: f"<!-- experiments -->\n{table()}\n<!-- /experiments -->", before, flags=re.S)
    if "--check" in sys.argv:
        return 0 if after == before else "docs/accuracy.md is out of date: scripts/accuracy.py rewrites it"
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
