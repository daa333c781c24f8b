"""A list of changes without a host: its answers, and the rows."""

from collections.abc import Mapping
from pathlib import Path

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, sent, wait_sent
from tests.ui.talk import Value

LINES = [f"line {number}" for number in range(1, 21)]


def change(path: Path, **fields: Value) -> dict[str, Value]:
    """Return a change as the host lists it: line 5 of twenty lines, changed by `fields`."""
    item = {
        "key": "k5",
        "turn": 1,
        "prompt": "shout",
        "path": str(path),
        "kind": "lines",
        "line": 5,
        "count": 1,
        "added": 1,
        "removed": 1,
        "text": "LINE 5",
        "before": ["line 5"],
        "after": ["LINE 5"],
        "above": LINES[1:4],
        "below": LINES[5:8],
        "before_ends": True,
        "after_ends": True,
    }
    return {**item, **fields}


def make_file(folder: Path) -> Path:
    """Write twenty lines, of which a tool has changed the fifth."""
    path = folder / "code.txt"
    path.write_text("\n".join(LINES).replace("line 5", "LINE 5") + "\n")
    return path


def start_stage(start_nvim: StartNeovim, folder: Path) -> Neovim:
    """Start Neovim in a folder, with a hidden chat and no host."""
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=100, lines=30, cwd=folder)
    nvim.lua(f"require('eca.chat.buffers').ensure('{CHAT}')")
    return nvim


def show(
    nvim: Neovim,
    *changes: Mapping[str, Value],
    command: str = "Eca changes",
    listed: bool = False,
) -> None:
    """List changes as the host answers; `listed`: wait for rows even if there are no changes."""
    count, before = len(sent(nvim, "changes")), nvim.eval("getqflist({'id': 0}).id")
    nvim.command(command)
    asked = wait_sent(nvim, "changes", count + 1)[-1]
    assert asked["chat"] == CHAT
    draw(nvim, ["answer", asked["request"], list(changes)])
    if changes or listed:
        nvim.wait_until(f"vim.fn.getqflist({{ id = 0 }}).id ~= {before} and vim.fn.line('.') == 2")


def rows(nvim: Neovim) -> list[str]:
    """Return the texts of the rows."""
    return [str(item["text"]) for item in nvim.eval("getqflist()")]


def wait_row(nvim: Neovim, row: int, text: str) -> None:
    """Wait until a row begins with a text."""
    nvim.wait_for(lambda: rows(nvim)[row].startswith(text), f"{text!r} in row {row}")


def file_lines(nvim: Neovim, path: Path) -> list[str]:
    """Return the lines of a file's buffer."""
    lines: list[str] = nvim.eval(f"getbufline('{path}', 1, '$')")
    return lines
