#!/usr/bin/env python3
"""
Keeps measured experiments: what `warpbook cell --format json` printed on a card becomes a line in
tests/bench/results/CARD-EXPERIMENT.jsonl, with the command, the date and the driver.

    scripts/record.py --card h200 --date 2026-11-30 --driver 580.159.04 OUTPUT.jsonl...

A sweep with the keys of one that is kept takes its place, so that each is there once, in its newest run. What was not
measured is left out.
"""
import argparse
import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "tests", "bench", "results")
KIND = "application/vnd.warpbook.v1+json"


def results(path):
    """The measured experiments among the outputs of cells."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            for output in json.loads(line).get("outputs", []):
                result = output.get("data", {}).get(KIND, {})
                if any(p["measured"] for p in result.get("points", []) + result.get("variants", [])
                       if result.get("kind") in ("experiment", "run")):
                    yield result


def command(result):
    """The line that runs the same sweep again."""
    if "variants" in result:
        return f"%run {result['lesson']}"
    names = [key["name"] for key in (result["axis"], result["curves"]) if key]
    given = {key: value for key, value in result["input"].items() if key in names}
    keys = "".join(f" {key}={json.dumps(value, separators=(',', ':'))}" for key, value in given.items())
    return f"%run {result['experiment']}{keys}"


def keep(record, card):
    name = record["result"].get("experiment") or record["result"]["lesson"]
    path = os.path.join(RESULTS, f"{card}-{name}.jsonl")
    kept = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            kept = [json.loads(line) for line in lines]
    kept = [other for other in kept if other["command"] != record["command"]] + [record]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(one, separators=(",", ":")) + "\n" for one in kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("card", "date", "driver"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("output", nargs="+")
    options = parser.parse_args()
    for path in options.output:
        for result in results(path):
            keep({"command": command(result), "date": options.date, "driver": options.driver, "result": result},
                 options.card)


if __name__ == "__main__":
    main()
