#!/usr/bin/env python3
"""Draws the mark of Warpbook: the 32 lanes of a warp, four rows of eight, half
of them active. Writes logo-svg.svg, and the two PNGs with a browser:

    python3 jupyter-kernel/logos/make_logos.py [CHROMIUM]
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SIZE = 64
CARD, ACTIVE, IDLE = "#10241a", "#7ed321", "#38533f"
# One bit a lane, lane 0 at the top left: the mask of a branch on a diagonal.
MASK = [0b11111111, 0b01111110, 0b00111100, 0b00011000]


def svg():
    lane_w, lane_h, gap = 5, 10.5, 1.8
    x0 = (SIZE - (8 * lane_w + 7 * gap)) / 2
    y0 = (SIZE - (4 * lane_h + 3 * gap)) / 2
    lanes = []
    for row, mask in enumerate(MASK):
        for lane in range(8):
            colour = ACTIVE if mask >> lane & 1 else IDLE
            x, y = x0 + lane * (lane_w + gap), y0 + row * (lane_h + gap)
            lanes.append(
                f'<rect x="{x:g}" y="{y:g}" width="{lane_w}" height="{lane_h}" rx="1.4" '
                f'fill="{colour}"/>')
    body = "\n  ".join(lanes)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" '
            f'width="{SIZE}" height="{SIZE}">\n  <title>Warpbook</title>\n'
            f'  <rect width="{SIZE}" height="{SIZE}" rx="12" fill="{CARD}"/>\n  {body}\n</svg>\n')


def png(chromium, text, size, out):
    page = (f'<style>html,body{{margin:0;background:transparent}}svg{{display:block;'
            f'width:{size}px;height:{size}px}}</style>{text}')
    with tempfile.NamedTemporaryFile("w", suffix=".html") as f:
        f.write(page)
        f.flush()
        subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        "--default-background-color=00000000", f"--window-size={size},{size}",
                        f"--screenshot={out}", f"file://{f.name}"],
                       check=True, stderr=subprocess.DEVNULL)


def main():
    text = svg()
    (HERE / "logo-svg.svg").write_text(text)
    for size in (32, 64):
        png(sys.argv[1] if len(sys.argv) > 1 else "chromium", text, size,
            HERE / f"logo-{size}x{size}.png")


main()
