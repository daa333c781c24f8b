"""Whatever Neovim or a process is busy with while an answer comes: no word, key or request goes."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.processes import command_line
from tests.support.script import Steps, expect, gate, handshake, stream, turn, write
from tests.ui.talk import (
    asks,
    done,
    draft,
    host_of,
    lines_of,
    say,
    start_chat,
    wait_idle,
)

WORDS: Final = 500
"""Messages of an answer that come while Neovim is busy."""
MACRO: Final = """
vim.fn.setreg('b', vim.keycode('amacro <Esc>'))
vim.keymap.set('i', 'Q', function()
  vim.fn.getchar()
  return 'q'
end, { expr = true })
vim.cmd.wincmd('h')
vim.cmd.enew()
"""
LINE: Final = "vim.fn.getline(1)"


class State(NamedTuple):
    """How Neovim gets busy and free again, and what of the keys Lua finds then."""

    begin: str
    end: str = ""
    found: str = "0"
    typed: object = 0


STATES: Final = {
    "getchar": State(":let g:key = getcharstr()<CR>", "x", "vim.g.key", "x"),
    "hit-enter": State(':echo "a\\nb\\nc\\nd"<CR>', "<CR>"),
    "cmdline": State(":let g:typed = 'ty", "ped'<CR>", "vim.g.typed", "typed"),
    "textlock": State("iQ", "x and more<Esc>", LINE, "q and more"),
    "recording": State(
        "qaSkept<Esc>", "Aso<Esc>q", f"vim.fn.getreg('a') .. {LINE}", "Skept\x1bAso\x1bkeptso"
    ),
    "macro": State("S<Esc>200@b", "", LINE, "macro " * 200),
    "sleep": State(":sleep 200m<CR>Stoo<Esc>", "", LINE, "too"),
    "terminal": State(
        ":terminal cat<CR>iwords", "<CR><C-\\><C-n>", "vim.fn.getline(1, 2)", ["words", "words"]
    ),
}


def words(nvim: Neovim) -> list[int]:
    """Return the numbers of the words of all answers, as they are shown."""
    return [int(it) for it in re.findall(r"\bw(\d+)\b", "\n".join(lines_of(nvim)))]


def streaming(folder: Path, number: int, *more: Steps) -> Steps:
    """Return a turn whose words come once a gate is open, and a file when they have."""
    name = str(number)
    opened = gate(folder / f"gate{name}")
    return turn(opened, stream(WORDS, ["w$n\n"]), write(folder / f"done{name}", ""), *more)


def let_stream(nvim: Neovim, folder: Path, number: int) -> None:
    """Open the gate, and wait until the server has written all words."""
    (folder / f"gate{number}").write_text("")
    nvim.wait_for((folder / f"done{number}").exists, "the end of the answer")


def test_nothing_goes_while_neovim_is_busy(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    turns = [
        streaming(tmp_path, number, asks(f"c{number}"), expect("chat/toolCallApprove"),
                  done(f"c{number}"))
        for number in range(len(STATES))
    ]  # fmt: skip
    server = scripted_server(handshake(), *turns)
    nvim = start_chat(start_nvim, server, settings={"approval": {"guard": 0}})
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.lua(MACRO)
    window = nvim.eval("win_getid()")
    for number, (name, state) in enumerate(STATES.items()):
        wanted = json.dumps(state.typed)
        nvim.lua("require('eca').send(...)", f"go {number}")
        nvim.keys(state.begin)
        let_stream(nvim, tmp_path, number)
        nvim.keys(state.end)
        assert not nvim.blocked(), name
        nvim.wait_until(f"vim.deep_equal({state.found}, vim.json.decode([==[{wanted}]==]))")
        nvim.wait_until("#require('eca').pending() == 1")
        nvim.keys(":Eca approve<CR>")
        wait_idle(nvim)
        assert (nvim.mode[0], nvim.eval("win_getid()")) == ("n", window), name
        assert words(nvim) == [*range(WORDS)] * (number + 1), name
    allowed = [it["params"]["toolCallId"] for it in server.received("chat/toolCallApprove")]
    assert allowed == [f"c{number}" for number in range(len(STATES))]
    nvim.command("bwipeout!")


DRAFT: Final = "half a thought"
GOING: Final = {
    "the chat's window": ":EcaChat<CR><C-w>kZZ:EcaChat<CR>",
    "all but the input": "<C-w>o:EcaChat<CR>",
    "all buffers": ":%bd!<CR>:EcaChat<CR>",
    "all buffers for good": ":%bw!<CR>:EcaChat<CR>",
    "all but one row": ":resize 1<CR><C-w>k:resize 1<CR><C-w>j:new<CR>:resize 99<CR>:close<CR>",
    "all but one column": ":vertical resize 1<CR>",
    "other tab pages": ":tab split<CR>:tabonly<CR>:EcaChat<CR>",
}


def test_nothing_goes_with_windows_and_buffers(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    flood = stream(1_000_000, ["w$n ", "on\n"], rate=2000, until="chat/promptStop")
    server = scripted_server(handshake(), turn(flood))
    nvim = start_chat(start_nvim, server, "README.md")
    say(nvim, "go")
    nvim.keys(f"i{DRAFT}<Esc>")
    for what, keys in GOING.items():
        before = len(words(nvim))
        nvim.keys(keys)
        nvim.wait_for(lambda: len(words(nvim)) > before, f"more words without {what}")  # noqa: B023
        assert draft(nvim) == DRAFT, what
    nvim.keys("A and more<Esc>")
    assert draft(nvim) == f"{DRAFT} and more"
    nvim.keys("<C-c>")
    wait_idle(nvim)
    shown = words(nvim)
    assert shown == [*range(0, 2 * len(shown), 2)]


def test_nothing_goes_while_a_process_is_stopped(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    """As by ^Z in the terminal, which stops Neovim alone or all that it has started."""
    turns = [streaming(tmp_path, number) for number in range(4)]
    nvim = start_chat(start_nvim, scripted_server(handshake(), *turns))
    nvim.wait_until("require('eca').status().server == 'ready'")
    host = host_of(nvim)
    [server] = [it for it in nvim.child.family() if "scripted_server" in command_line(it)]
    for number, stopped in enumerate([[nvim.pid], [host], [server], [nvim.pid, host, server]]):
        say(nvim, f"go {number}")
        nvim.wait_until("require('eca').status().state == 'running'")
        for pid in stopped:
            os.kill(pid, signal.SIGTSTP)  # that nobody minds without a terminal
            os.kill(pid, signal.SIGSTOP)
        nvim.wait_for(lambda: all(is_stopped(pid) for pid in stopped), "the stop")  # noqa: B023
        keys = nvim.child.channel.send("nvim_input", f"ityped {number}<Esc>")
        nvim.child.channel.forget(keys)
        if server not in stopped:
            let_stream(nvim, tmp_path, number)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        if server in stopped:
            let_stream(nvim, tmp_path, number)
        wait_idle(nvim)
        nvim.wait_for(lambda: words(nvim) == [*range(WORDS)] * (number + 1), "all words")  # noqa: B023
        nvim.wait_for(lambda: draft(nvim) == f"typed {number}", "the keys")  # noqa: B023
        nvim.keys("S<Esc>")


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
