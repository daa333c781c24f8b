"""What a Neovim user would see, kept from the `redraw` events of an attached UI.

Every event changes a `ScreenModel`, which makes a `Screen`, a snapshot, at each `flush`; so nobody
sees half a redraw. Neovim composes windows and floats onto grid 1 (only `ext_linegrid` and
`ext_hlstate` are on). Rows and columns are 0-based cells;
a character of two cells has its text in the first and "" in the second.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

Value: TypeAlias = Any
"""Any value that msgpack can encode."""


class Cell(NamedTuple):
    """One cell: its text ("" in the second half of a wide character) and highlight id."""

    text: str
    highlight: int


class Position(NamedTuple):
    """A cell's place, 0-based."""

    row: int
    column: int


@dataclass(frozen=True)
class Highlight:
    """The look of cells with one highlight id, and the highlight groups it comes from."""

    attributes: Mapping[str, Value]
    groups: tuple[str, ...]


BLANK = Cell(" ", 0)
TOP_LEFT = Position(0, 0)
PLAIN = Highlight({}, ())


@dataclass(frozen=True)
class Screen:
    """The screen as of one `flush`."""

    rows: tuple[tuple[Cell, ...], ...] = ()
    cursor: Position = TOP_LEFT
    mode: str = "normal"
    highlights: Mapping[int, Highlight] = field(default_factory=dict)
    colors: Mapping[str, int] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """The columns of the screen."""
        return len(self.rows[0]) if self.rows else 0

    @property
    def height(self) -> int:
        """The rows of the screen, including the command line."""
        return len(self.rows)

    def lines(self) -> list[str]:
        """Every row as text, without blanks at its end."""
        return self._text.split("\n") if self.rows else []

    def text(self) -> str:
        """All rows, joined by newlines."""
        return self._text

    @cached_property
    def _text(self) -> str:
        """Waits look at the same screen again and again."""
        rows = ("".join([text for text, _ in row]).rstrip() for row in self.rows)
        return "\n".join(rows)

    def __contains__(self, text: str) -> bool:
        return text in self.text()

    def find(self, text: str) -> Position:
        """Return where `text` first begins, in one row. Raises AssertionError if it does not."""
        for row, line in enumerate(self.lines()):
            index = line.find(text)
            if index >= 0:
                return Position(row, self._column(row, index))
        raise AssertionError(f"{text!r} is not on the screen:\n{self.bordered()}")

    def _column(self, row: int, index: int) -> int:
        """Return the cell of the `index`-th character: they differ after wide characters."""
        for column, cell in enumerate(self.rows[row]):
            if index < len(cell.text):
                return column
            index -= len(cell.text)
        raise IndexError(index)

    def highlight_at(self, row: int, column: int) -> dict[str, Value]:
        """Return a cell's attributes; the three default colours are filled in."""
        return {**self.colors, **self._highlight(row, column).attributes}

    def groups_at(self, row: int, column: int) -> tuple[str, ...]:
        """Return the highlight groups of a cell, with links followed, lowest priority first."""
        return self._highlight(row, column).groups

    def _highlight(self, row: int, column: int) -> Highlight:
        return self.highlights.get(self.rows[row][column].highlight, PLAIN)

    def bordered(self) -> str:
        """Return the screen in a frame, with its size, mode and cursor, for people to read."""
        bar = "─" * self.width
        rows = ["".join(cell.text for cell in row) for row in self.rows]
        body = "\n".join(f"│{row}│" for row in rows)
        title = f"{self.width}x{self.height}, {self.mode} mode, cursor at {tuple(self.cursor)}"
        return f"{title}\n┌{bar}┐\n{body}\n└{bar}┘"


class ScreenModel:
    """Applies `redraw` events and ignores unknown ones."""

    def __init__(self) -> None:
        self._rows: list[list[Cell]] = []
        self._cursor = TOP_LEFT
        self._mode = "normal"
        self._highlights: Mapping[int, Highlight] = {}
        self._colors: dict[str, int] = {}
        self._handlers: dict[str, Callable[..., None]] = {
            "default_colors_set": self._default_colors_set,
            "flush": self._flush,
            "grid_clear": self._grid_clear,
            "grid_cursor_goto": self._grid_cursor_goto,
            "grid_line": self._grid_line,
            "grid_resize": self._grid_resize,
            "grid_scroll": self._grid_scroll,
            "hl_attr_define": self._hl_attr_define,
            "mode_change": self._mode_change,
        }
        self.screen = Screen()
        self.flushes = 0
        self.drawn: set[str] = set()
        """All texts that a cell has ever shown."""

    def apply(self, batches: list[list[Value]]) -> None:
        """Apply the parameters of one `redraw`: lists of an event's name and its calls."""
        for name, *calls in batches:
            handler = self._handlers.get(name)
            if handler is not None:
                for arguments in calls:
                    handler(*arguments)

    def _flush(self) -> None:
        rows = tuple(map(tuple, self._rows))
        colors = dict(self._colors)
        self.screen = Screen(rows, self._cursor, self._mode, self._highlights, colors)
        self.flushes += 1

    def _grid_resize(self, _grid: int, width: int, height: int) -> None:
        kept = [row[:width] + [BLANK] * (width - len(row)) for row in self._rows[:height]]
        self._rows = kept + [[BLANK] * width for _ in range(height - len(kept))]

    def _grid_clear(self, _grid: int) -> None:
        self._rows = [[BLANK] * len(row) for row in self._rows]

    def _grid_line(
        self, _grid: int, row: int, column: int, cells: list[list[Value]], *_wrap: bool
    ) -> None:
        target, highlight = self._rows[row], 0
        for text, *rest in cells:
            highlight = rest[0] if rest else highlight
            repeat = rest[1] if len(rest) > 1 else 1
            self.drawn.add(text)
            target[column : column + repeat] = [Cell(text, highlight)] * repeat
            column += repeat

    def _grid_scroll(
        self, _grid: int, top: int, bottom: int, left: int, right: int, rows: int, _columns: int
    ) -> None:
        """Move a region up by `rows` (down if negative); uncovered cells stay as they were."""
        moved = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in moved:
            self._rows[row][left:right] = self._rows[row + rows][left:right]

    def _grid_cursor_goto(self, _grid: int, row: int, column: int) -> None:
        self._cursor = Position(row, column)

    def _mode_change(self, name: str, _index: int) -> None:
        self._mode = name

    def _hl_attr_define(
        self, number: int, rgb: dict[str, Value], _cterm: Value, info: list[dict[str, Value]]
    ) -> None:
        groups = tuple(part["hi_name"] for part in info if part.get("hi_name"))
        self._highlights = {**self._highlights, number: Highlight(rgb, groups)}

    def _default_colors_set(
        self, foreground: int, background: int, special: int, *_cterm: int
    ) -> None:
        names = ("foreground", "background", "special")
        self._colors = dict(zip(names, (foreground, background, special), strict=True))
