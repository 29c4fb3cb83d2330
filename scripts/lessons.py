"""
Fills in the column `cells` of docs/lessons.md: which files check a claim.

    scripts/lessons.py           rewrites docs/lessons.md
    scripts/lessons.py --check   says whether that would change it

A file of cells names its claims in the first line of each cell (tests/claims/test_claims.py), a unit test in a
comment: `LESSONS.md F7, F10`.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAP = os.path.join(ROOT, "docs", "lessons.md")
WHERE = [("tests/claims/*.cells", re.compile(r"^# ((?:F\d+(?:, )?)+): ", re.M)),
         ("tests/unit/test_*.c", re.compile(r"LESSONS\.md ((?:F\d+(?:,\s+(?:\* )?)?)+)"))]


def mentions():
    """The names of the files that check a claim, by its number."""
    found = {}
    for pattern, heads in WHERE:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            with open(path, encoding="utf-8") as file:
                numbers = {int(n) for head in heads.findall(file.read()) for n in re.findall(r"\d+", head)}
            for number in numbers:
                found.setdefault(number, []).append(os.path.splitext(os.path.basename(path))[0])
    return found


def rows(text):
    """The rows of the map: claim, what it says, how, shown by, cells, notebook."""
    return [[cell.strip() for cell in row.split("|")[1:-1]]
            for row in re.findall(r"^\| F\d+ \|(?:[^|\n]*\|){5}$", text, re.M)]


def filled(text):
    """The map with the column `cells` as it should be."""
    found = mentions()

    def fill(match):
        names = found.get(int(match[2]), [])
        return f"{match[1]} {', '.join(names) or '-'} {match[4]}"

    return re.sub(r"^(\| F(\d+) \|(?:[^|\n]*\|){3})([^|\n]*)(\|[^|\n]*\|)$", fill, text, flags=re.M)


def main():
    with open(MAP, encoding="utf-8") as file:
        before = file.read()
    after = filled(before)
    if "--check" in sys.argv:
        return 0 if after == before else "docs/lessons.md is out of date: scripts/lessons.py rewrites it"
    with open(MAP, "w", encoding="utf-8") as file:
        file.write(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
