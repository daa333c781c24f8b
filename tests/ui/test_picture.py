"""The pictures in README are what the plugin draws: `make picture` draws them again.

One Neovim goes through a day's work, so that all of them cost one start: a change is proposed, a
hunk of it left out, what was made of it reviewed, other lines rewritten, other chats looked after.
"""

import difflib
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from tests.support import acp_script as acp
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.golden import settle, updating
from tests.support.launch import REPOSITORY, VERSIONS
from tests.support.picture import svg
from tests.support.screen import Cell
from tests.support.script import (
    Steps,
    content,
    expect,
    handshake,
    reply,
    rewriting,
    text,
    turn,
    write,
)
from tests.support.servers import ScriptedServer, scripted_acp
from tests.ui.talk import done, say, tool, wait_idle

Value: TypeAlias = Any

PICTURES: Final = {
    "screen": "Code on the left, and on the right the chat, in which a window asks before an edit",
    "hunks": "A proposed change as a diff in which one of its three hunks is left out",
    "review": "What the agent has changed, marked in the file itself, with a comment for the agent",
    "rewrite": "A rewrite of a function, shown where it stands, with the keys that accept hunks",
    "dashboard": "The chats of four agents in one list, with what each does or waits for",
}
TIMES = (
    (re.compile(r"waiting \d+s$"), "waiting 2s"),
    (re.compile(r"(?<=^  \d (?:waiting|running)  )(?:\d+s)? +"), "2s     "),
    (re.compile(r"(?<=callers of save) \d+s"), ""),
)
"""What differs from run to run, and what the pictures have in its place."""
COLUMNS = 110
BEFORE = '''\
"""Fetch pages, politely."""

import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

TIMEOUT = 10
RETRIES = 3


def fetch(url: str) -> bytes:
    """Return the body of a page."""
    for attempt in range(RETRIES):
        try:
            page = urlopen(url)
        except URLError:
            time.sleep(1)
        else:
            return page.read()
    raise TimeoutError(url)


def save(url: str, path: str) -> None:
    """Fetch a page into a file."""
    file = open(path, "wb")
    file.write(fetch(url))
    file.close()
'''
AFTER = BEFORE.replace("urlopen(url)", "urlopen(url, timeout=TIMEOUT)").replace(
    "time.sleep(1)", "time.sleep(2**attempt)"
)
PROPOSED = AFTER.replace("RETRIES = 3", "RETRIES = 5")
SAVED = '''\
def save(url: str, path: Path) -> None:
    """Fetch a page into a file."""
    path.write_bytes(fetch(url))
'''
MODEL = "openai/gpt-5"
CHAT = {"models": [MODEL], "selectModel": MODEL, "agents": ["code"], "selectAgent": "code"}
TESTS = "pytest -q tests/test_fetch.py"
OTHERS = (
    ("gemini", "do we need both fetch and save in the interface?", "idle"),
    ("codex", "who calls save with a string?", "running"),
    ("claude", "test the retries without a network", "waiting"),
)
LOOKS = """
vim.o.laststatus, vim.o.showtabline, vim.o.ruler = 3, 0, false
vim.o.wrap, vim.o.number, vim.o.fillchars = false, true, 'eob: '
"""
PROMPT = "time out, and wait longer before each retry"


def edits(path: Path) -> Steps:
    """Read the file, ask to change it, and write all of it, of which a hunk is taken back then."""
    hunks = [*difflib.unified_diff(BEFORE.splitlines(), PROPOSED.splitlines(), lineterm="", n=0)]
    change = {"type": "fileChange", "path": str(path), "linesAdded": 3, "linesRemoved": 3}
    change["diff"] = "\n".join(hunks[2:])
    fields = {"arguments": {"path": str(path)}, "details": change, "summary": "Editing"}
    return [
        *content({"type": "metadata", "title": "Retries with a limit"}, "system"),
        *content({"type": "reasonStarted", "id": "r"}),
        *content({"type": "reasonText", "id": "r", "text": "urlopen() waits for ever."}),
        *content({"type": "reasonFinished", "id": "r", "totalTimeMs": 2200}),
        *tool("Run", "read", "read_file", manualApproval=False, arguments={"path": str(path)}),
        *done("read", BEFORE, "read_file", arguments={"path": str(path)}),
        *text("`urlopen` has no time limit, and each retry waits one second. Here is the change:"),
        *tool("Run", "edit", "edit_file", manualApproval=True, **fields),
        *expect("chat/toolCallApprove"),
        *tool("Running", "edit", "edit_file", **fields),
        *write(path, PROPOSED),
        *done("edit", "written", "edit_file", **fields),
        *text("Done."),
    ]


def rewrites() -> Steps:
    answer = reply("rewrite/prompt", {"status": "prompting", "model": MODEL})
    finished = {"type": "finished", "totalTimeMs": 1}
    return [*expect("rewrite/prompt"), *answer, *rewriting(SAVED, finished)]


def timeless(row: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return a row of the screen with the same times each time it is drawn."""
    for pattern, instead in TIMES:
        words = "".join(cell.text or " " for cell in row)
        found = pattern.search(words)
        if found:
            first, after = found.span()
            cells = [Cell(text, row[first].highlight) for text in instead]
            # What stands at the right edge stays there.
            gap = words.rfind("  ", 0, first) if after == len(row) else len(row) - 1
            spare = [Cell(" ", row[gap].highlight)] * (after - first - len(instead))
            changed = [*row[:first], *cells, *row[after:]]
            row = [*changed[:gap], *spare, *changed[gap:]]
    return tuple(row)


def take(nvim: Neovim, name: str, *words: str) -> None:
    """Draw the screen once all of the words are on it, or wait until it is as it was drawn."""
    path = REPOSITORY / "doc" / f"{name}.svg"
    nvim.wait_screen(lambda it: all(word in it for word in words))
    if updating():
        settle(nvim)
        path.write_text(picture(nvim, name), encoding="utf-8")
    expected = path.read_text(encoding="utf-8")
    with suppress(AssertionError):
        nvim.wait_for(lambda: picture(nvim, name) == expected, name)
    old, new = expected.split("\n"), picture(nvim, name).split("\n")
    other = "\n".join(difflib.unified_diff(old, new, path.name, "drawn", lineterm="", n=0))
    assert not other, f"make picture draws it again:\n{other}"


def picture(nvim: Neovim, name: str) -> str:
    rows = tuple(timeless(row) for row in nvim.screen.rows)
    return svg(replace(nvim.screen, rows=rows), PICTURES[name])


def program(path: Path, server: ScriptedServer) -> list[str]:
    """Return a command with this path: the chat shows its name."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\nexec {shlex.join(server.command)}\n")
    path.chmod(0o755)
    return [str(path)]


def agent(prompt: Steps, folder: Path) -> dict[str, Value]:
    """Return how to start an agent that speaks ACP, and what it does with the first prompt."""
    steps = [*acp.handshake(), *acp.session(), *prompt]
    return {"command": scripted_acp(steps, folder).command, "protocol": "acp"}


@pytest.fixture
def nvim(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path, nvim_version: str
) -> Neovim:
    if nvim_version != VERSIONS[-1]:
        pytest.skip("the pictures are of the newest Neovim")
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "fetch.py").write_text(BEFORE)
    eca = scripted_server(
        handshake({"chat": CHAT}), turn(edits(folder / "fetch.py"), model=MODEL), rewrites()
    )
    runs: dict[str, Value] = {"title": "pytest", "kind": "execute", "rawInput": {"command": TESTS}}
    looks = {"toolCallId": "t", "title": "callers of save", "status": "in_progress"}
    servers = {
        "eca": {"command": program(tmp_path / "bin" / "eca", eca)},
        "claude": agent(acp.turn(acp.permission("p", **runs)), tmp_path / "claude"),
        "codex": agent(
            acp.turn(acp.update("tool_call", **looks, kind="search"), expect("session/cancel")),
            tmp_path / "codex",
        ),
        "gemini": agent(acp.turn(acp.text("Both are public: ", "no.")), tmp_path / "gemini"),
    }
    return start_nvim(
        "fetch.py",
        settings={"server": "eca", "servers": servers, "approval": {"guard": 0}},
        cwd=folder,
        init=LOOKS,
        columns=COLUMNS,
        lines=31,
    )


def test_the_pictures_are_what_is_drawn(nvim: Neovim) -> None:
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    say(nvim, PROMPT)
    take(nvim, "screen", "allow this?", "Retries with")
    nvim.keys("<C-w>k?RETRIES = 5<CR>-d")
    nvim.wait_screen("hunk 1 left out")
    nvim.resize(COLUMNS, 24)
    nvim.keys("6Gzt16G")
    take(nvim, "hunks", "hunk 1 left out")
    nvim.keys("a")
    wait_idle(nvim)
    nvim.keys(":Eca hide<CR>:Eca review<CR>")
    nvim.wait_screen("2 changes in 1 file to review")
    nvim.resize(COLUMNS, 18)
    nvim.keys("12Gzt18G:Eca changes comment<CR>at most 30 seconds, please<CR><C-l>")
    take(nvim, "review", "30 seconds")
    nvim.resize(COLUMNS, 16)
    nvim.keys(":Eca review hide<CR>20Gzt:24,28Eca rewrite take a Path, and be shorter<CR>")
    take(nvim, "rewrite", "do accept")
    nvim.keys("24GdX:Eca review<CR>12Gzt")
    nvim.resize(COLUMNS, 20)
    for server, prompt, state in OTHERS:
        nvim.lua("require('eca').new({ server = ... })", server)
        say(nvim, prompt)
        nvim.wait_until(f"require('eca').status().state == '{state}'")
    nvim.keys(":Eca hide<CR>:Eca dashboard<CR>")
    take(nvim, "dashboard", "chats: ", "+2 -2")
