"""The picture at the top of README is what the plugin draws: `make picture` draws it again."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.support.golden import updating
from tests.support.launch import REPOSITORY, VERSIONS
from tests.support.picture import svg
from tests.support.screen import Cell, Screen
from tests.ui.talk import start_chat

PICTURE = REPOSITORY / "doc" / "screen.svg"
DESCRIPTION = "Neovim with code on the left and the chat on the right, which asks before an edit"
SECONDS = re.compile(r"waiting \d+s")


def timeless(screen: Screen) -> Screen:
    """Return the screen with the same time each time it is drawn."""
    rows = []
    for row in screen.rows:
        cells = list(row)
        for found in SECONDS.finditer("".join(cell.text or " " for cell in row)):
            digit = found.end() - 2
            cells[digit] = Cell("2", cells[digit].highlight)
        rows.append(tuple(cells))
    return replace(screen, rows=tuple(rows))


def test_the_picture_is_what_is_drawn(
    start_nvim: StartNeovim, quick_demo: list[str], tmp_path: Path, nvim_version: str
) -> None:
    if nvim_version != VERSIONS[-1]:
        pytest.skip("the picture is of the newest Neovim")
    folder = tmp_path / "eca-demo-hello"
    folder.mkdir()
    nvim = start_chat(
        start_nvim,
        quick_demo,
        cwd=folder,
        environment={"ECA_DEMO_FOLDER": str(folder)},
        init="vim.o.laststatus, vim.o.wrap, vim.o.number = 3, false, true",
        columns=110,
    )
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.command("wincmd h | edit greet.py | wincmd p")
    nvim.keys("ifix the greeting<C-s><Esc>")
    nvim.wait_screen("allow this?")
    drawn = svg(timeless(nvim.wait_screen(SECONDS)), DESCRIPTION)
    if updating():
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn, "make picture draws it again"
