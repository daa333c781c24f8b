"""All rows of the documents' tables, by name."""

from collections.abc import Mapping
from itertools import chain

from tests.generations import (
    rows_choices,
    rows_content,
    rows_draft,
    rows_editor,
    rows_life,
    rows_prompt,
    rows_tools,
    rows_turn,
)
from tests.generations.row import Row

TABLES = (
    rows_life.ROWS,
    rows_prompt.ROWS,
    rows_content.ROWS,
    rows_tools.ROWS,
    rows_turn.ROWS,
    rows_editor.ROWS,
    rows_choices.ROWS,
    rows_draft.ROWS,
)
COUNTS = {"000": 99, "001": 101, "002": 44}
"""The number of rows of each document."""


def named() -> Mapping[str, Row]:
    """Return the rows by name; a second row of a name gets a letter."""
    rows: dict[str, Row] = {}
    for row in chain(*TABLES):
        for name in row.names.split():
            free = (f"{name}{letter}" for letter in ("", *"bcdef"))
            rows[next(it for it in free if it not in rows)] = row
    return rows


ROWS = named()
