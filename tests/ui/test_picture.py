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

PICTURE = REPOSITORY / "doc" / "screen.svg"
DESCRIPTION = "Neovim with code on the left and the chat on the right, which asks before an edit"
TIMES = (re.compile(r"waiting (\d)s"), re.compile(r"thought (\d)\.(\d)s"))
"""What differs from run to run; the picture has 2 for each digit."""


def timeless(screen: Screen) -> Screen:
    """Return the screen with the same times each time it is drawn."""
    rows = []
    for row in screen.rows:
        cells, text = list(row), "".join(cell.text or " " for cell in row)
        for found in (it for pattern in TIMES for it in pattern.finditer(text)):
            for group in range(1, (found.lastindex or 0) + 1):
                cells[found.start(group)] = Cell("2", cells[found.start(group)].highlight)
        rows.append(tuple(cells))
    return replace(screen, rows=tuple(rows))


def test_the_picture_is_what_is_drawn(
    start_nvim: StartNeovim, tmp_path: Path, nvim_version: str
) -> None:
    if nvim_version != VERSIONS[-1]:
        pytest.skip("the picture is of the newest Neovim")
    folder = tmp_path / "eca-demo-hello"
    folder.mkdir()
    nvim = start_nvim(
        settings={"server": "demo"},
        cwd=folder,
        environment={"ECA_DEMO_FOLDER": str(folder)},
        init="vim.o.laststatus, vim.o.wrap, vim.o.number = 3, false, true",
        columns=110,
        lines=30,
    )
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.command("wincmd h | edit greet.py | wincmd p")
    nvim.keys("ifix the greeting<C-s><Esc>")
    for words in ("allow this?", "Waiting for tool call approval"):
        nvim.wait_screen(words)
    drawn = svg(timeless(nvim.wait_screen(TIMES[0])), DESCRIPTION)
    if updating():
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn, "make picture draws it again"
