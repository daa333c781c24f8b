"""A screen as a picture: an SVG of the terminal's cells, for README.

Each run of cells with one look is a text of exactly its cells' width, so that columns stay in line
in whatever font the reader has. The picture has its own background and border: it looks the same on
a light and on a dark page.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape

from tests.support.screen import Screen, Value

WIDTH, HEIGHT = 8.4, 18
"""Units of the picture for one cell."""
MARGIN = 14
BORDER = "#30363d"
FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


class Run(NamedTuple):
    """Neighbouring cells with one look."""

    column: int
    cells: int
    text: str
    look: dict[str, Value]


def svg(screen: Screen, description: str) -> str:
    """Return the picture of a screen; `description` is for those who cannot see it."""
    width = screen.width * WIDTH + 2 * MARGIN
    height = screen.height * HEIGHT + 2 * MARGIN
    background = _color(screen.colors["background"])
    cells = "\n".join(line for row in range(screen.height) for line in _row(screen, row))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img"
  font-family="{FONTS}" font-size="14">
<title>{escape(description)}</title>
<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1}" rx="10"
  fill="{background}" stroke="{BORDER}"/>
{cells}
</svg>
"""


def _row(screen: Screen, row: int) -> Iterator[str]:
    y = MARGIN + row * HEIGHT
    for run in _runs(screen, row):
        x, width = MARGIN + run.column * WIDTH, run.cells * WIDTH
        foreground, background = run.look["foreground"], run.look["background"]
        if run.look.get("reverse"):
            foreground, background = background, foreground
        if background != screen.colors["background"]:
            yield (
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT}"'
                f' fill="{_color(background)}"/>'
            )
        if run.text.strip():
            yield (
                f'<text x="{x:.1f}" y="{y + 13}" textLength="{width:.1f}"'
                f' lengthAdjust="spacingAndGlyphs" xml:space="preserve"'
                f' fill="{_color(foreground)}"{_style(run.look)}>{escape(run.text)}</text>'
            )


def _runs(screen: Screen, row: int) -> Iterator[Run]:
    """Yield the runs of a row: Neovim may have several highlights that look the same."""
    looks = [screen.highlight_at(row, column) for column in range(screen.width)]
    for look, group in groupby(range(screen.width), looks.__getitem__):
        columns = [*group]
        text = "".join(screen.rows[row][column].text for column in columns)
        yield Run(columns[0], len(columns), text, look)


def _color(number: int) -> str:
    return f"#{number:06x}"


def _style(look: dict[str, Value]) -> str:
    bold = ' font-weight="bold"' if look.get("bold") else ""
    italic = ' font-style="italic"' if look.get("italic") else ""
    line = ' text-decoration="underline"' if look.get("underline") else ""
    return bold + italic + line
