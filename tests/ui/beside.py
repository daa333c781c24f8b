"""A chat beside a file of code, and the contexts that a prompt would have."""

from collections.abc import Mapping
from pathlib import Path

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import CHAT, WITHOUT_HOST

from eca_nvim.chat.vocabulary.contexts import parse_context

CODE = "first line\nsecond línea 😀 end\nthird line\nfourth\n"


def open_beside(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Start in a file of code with a chat beside it and no host; the code window is current."""
    (workspace / "code.txt").write_text(CODE)
    (workspace / "my notes").mkdir()
    (workspace / "my notes" / "to do.txt").write_text("x")
    nvim = start_nvim("code.txt", init=WITHOUT_HOST, columns=120)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.keys("<C-w>h")
    return nvim


def collected(nvim: Neovim, text: str = "") -> list[Mapping[str, Value]]:
    """Return the contexts that a prompt would have; the host must understand all of them."""
    found: list[Mapping[str, Value]] = nvim.lua(
        "return require('eca.context').collect(...)", CHAT, text
    )
    assert all(parse_context(item) for item in found)
    return found
