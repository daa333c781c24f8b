"""`:Eca help`, with tags and without.

The plugin is a copy: Neovim writes the tags beside the help, and another test at the same time
would read half of them.
"""

import re
import shutil
from pathlib import Path

import pytest
from tests.doc import documents
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY


@pytest.fixture
def nvim(start_nvim: StartNeovim, tmp_path: Path) -> Neovim:
    """Start Neovim with a copy of the plugin that has no help tags."""
    copy = tmp_path / "eca"
    for folder in ("lua", "plugin", "doc"):
        shutil.copytree(REPOSITORY / folder, copy / folder, ignore=shutil.ignore_patterns("tags"))
    here, there = str(REPOSITORY), str(copy)
    return start_nvim(init=f"vim.opt.rtp:remove({here!r}) vim.opt.rtp:prepend({there!r})")


def test_the_help_opens_where_nobody_made_tags(nvim: Neovim) -> None:
    nvim.keys(":Eca help<CR>")
    nvim.wait_until("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'eca.txt'")


def test_every_subcommand_is_a_topic_also_where_nobody_made_tags(nvim: Neovim) -> None:
    assert "approve" in nvim.eval("getcompletion('Eca help ap', 'cmdline')")
    for name in documents.things(r":Eca-(\S+)"):
        nvim.command(f"Eca help {name}")
        assert nvim.eval("expand('%:t')") == "eca.txt"
        assert re.search(rf"\*:?eca-{name}\*", nvim.eval("getline('.')"), re.IGNORECASE)


@pytest.mark.parametrize(
    ("topic", "tag"),
    [("events", "eca-events"), ("undo-turn", ":Eca-undo-turn"), ("EcaChatOpened", "EcaChatOpened")],
)
def test_a_topic_is_found(nvim: Neovim, topic: str, tag: str) -> None:
    nvim.keys(f":Eca help {topic}<CR>")
    nvim.wait_until("vim.fs.basename(vim.api.nvim_buf_get_name(0)) == 'eca.txt'")
    assert tag in nvim.lua("return vim.api.nvim_get_current_line()")


def test_what_there_is_no_page_for_is_told_in_a_line(nvim: Neovim) -> None:
    nvim.keys(":Eca help nonsense<CR>")
    nvim.wait_screen("no help on nonsense")
    assert nvim.eval("&filetype") != "help"
