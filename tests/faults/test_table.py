"""Each row of the table of faults names tests that exist and are run; the page has the rows."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from tests.doc import documents
from tests.faults.table import FAULTS, KILLS, Row
from tests.support.golden import updating
from tests.support.launch import REPOSITORY

WANTED: Final = (
    *("killed at any message", "inside of one", "one at a time", "50 MB", "200 KB", "JSON"),
    *("UTF-8", "lengths", "100,000", "Ids", "chats that are gone", "getchar()", "Press ENTER"),
    *("command line", "locked text", "macro", "terminal", ":sleep", ":%bd!", "<C-w>o", "one row"),
    *("host", "disk is full", "state folder", "Two", "suspended", "64 file handles", "clock"),
)
"""Faults that must have a row, by their words."""
SECTIONS: Final = {"## Faults": FAULTS, "## Kills": KILLS}
MAY_BE_SKIPPED: Final = "skip", "xfail"


@cache
def functions_of(path: str) -> dict[str, str]:
    """Return the tests of a file by their names, each with what could keep it from being run."""
    tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
    marks = [ast.unparse(it) for it in tree.body if isinstance(it, ast.Assign)]
    whole = "".join(it for it in marks if it.startswith("pytestmark"))
    return {
        node.name: whole + "".join(map(ast.unparse, (*node.decorator_list, *node.body)))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_fault_has_a_row() -> None:
    said = "\n".join(row.fault for row in FAULTS)
    assert [it for it in WANTED if it not in said] == []
    rows = [*FAULTS, *KILLS]
    assert len({row.fault for row in rows}) == len(rows)


@pytest.mark.parametrize("row", [*FAULTS, *KILLS], ids=lambda row: row.fault)
def test_its_tests_exist_and_are_run(row: Row) -> None:
    """One that may be skipped on some machines is not the only one."""
    assert len({*row.tests}) == len(row.tests)
    named = [it.split("::") for it in row.tests]
    assert [(path, name) for path, name in named if name not in functions_of(path)] == []
    bodies = [functions_of(path)[name] for path, name in named]
    assert any(not any(word in body for word in MAY_BE_SKIPPED) for body in bodies)


def listed(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a list of rows."""
    for row in rows:
        tests = ",\n".join(f"  `{it}`" for it in row.tests)
        text = f"- {row.fault}: {row.counted}"
        lines = textwrap.wrap(f"{text}.", 100, subsequent_indent="  ", break_on_hyphens=False)
        yield "\n".join([*lines, f"{tests}."])


def test_the_page_has_the_rows() -> None:
    """UPDATE_GOLDEN=1 writes them."""
    page = documents.RELIABILITY
    for heading, rows in SECTIONS.items():
        wanted = "\n".join(listed(rows))
        before, _, rest = page.read_text(encoding="utf-8").partition(f"{heading}\n")
        head, _, list_and_more = rest.partition("\n- ")
        _, _, more = list_and_more.partition("\n## ")
        if updating():
            page.write_text(f"{before}{heading}\n{head}\n{wanted}\n\n## {more}", encoding="utf-8")
        assert wanted in documents.section(heading, page)


def test_what_keeps_a_test_from_running_is_found(tmp_path: Path) -> None:
    text = "@pytest.mark.skipif(True)\ndef one(): pass\ndef two():\n    pytest.skip('no')\n"
    (tmp_path / "test_it.py").write_text(text + "def three(): pass\n")
    found = functions_of(str(tmp_path / "test_it.py"))
    assert [name for name, body in found.items() if "skip" in body] == ["one", "two"]
