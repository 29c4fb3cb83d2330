"""
Fills in what README.md shows but a program knows better: the outputs of its examples and the table
of magics.

    scripts/readme.py           rewrites README.md
    scripts/readme.py --check   says whether that would change it
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README = os.path.join(ROOT, "README.md")
WARPBOOK = os.environ.get("WARPBOOK", os.path.join(ROOT, "build", "warpbook"))


def outputs_of(cell):
    """The text of what a cell shows; pictures are left to the notebook."""
    done = subprocess.run([WARPBOOK, "cell", "-", "--format", "json"], input=cell.encode(),
                          capture_output=True, timeout=120, check=False)
    texts = []
    for output in json.loads(done.stdout)["outputs"]:
        if output["output_type"] == "error":
            raise RuntimeError("\n".join(output["traceback"]))
        data = output.get("data", {})
        if "image/svg+xml" not in data:
            texts.append(output.get("text") or data["text/plain"])
    return "\n".join(text.strip("\n") for text in texts)


def with_outputs(text):
    """Every block behind <!-- example --> is followed by a block of what it shows."""
    def replace(match):
        return f"<!-- example -->\n```\n{match[1]}```\n```text\n{outputs_of(match[1])}\n```\n"

    return re.sub(r"<!-- example -->\n```\n(.*?)```\n(?:```text\n.*?```\n)?", replace, text,
                  flags=re.S)


def with_magics(text):
    """The list of %help as a table."""
    listed = re.sub(r"\n {10,}", " ", outputs_of("%help"))  # a long line goes on below itself
    rows = re.findall(r"^  (%\S+) +(.+)$", listed, re.M)
    lines = ["| magic | what it does |", "| --- | --- |"]
    lines += [f"| `{name}` | {what.replace('|', chr(92) + '|')} |" for name, what in rows]
    table = "\n".join(lines)
    return re.sub(r"<!-- magics -->\n.*?<!-- /magics -->",
                  lambda _: f"<!-- magics -->\n{table}\n<!-- /magics -->", text, flags=re.S)


def main():
    with open(README, encoding="utf-8") as file:
        before = file.read()
    after = with_magics(with_outputs(before))
    if "--check" in sys.argv:
        return 0 if after == before else "README.md is out of date: scripts/readme.py rewrites it"
    with open(README, "w", encoding="utf-8") as file:
        file.write(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
