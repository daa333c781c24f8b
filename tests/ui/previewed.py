"""A file with previews in it, in a Neovim without a host."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import asdict
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen, Value
from tests.ui.staged import WITHOUT_HOST, draw, sent, wait_sent

from eca_nvim.chat.text.rewritten import hunks

FILE = "one\ntwo\nthree\nfour\nfive\n"
SAID = "vim.fn.execute('messages'):find({!r}, 1, true) ~= nil"
CHANGED = (
    "changed = {} vim.api.nvim_create_autocmd('User', { pattern = 'EcaPreviewChanged', "
    "callback = function(event) table.insert(changed, event.data.state) end })"
)


def start(start_nvim: StartNeovim, file: Path, init: str = "", **more: Value) -> Neovim:
    init = WITHOUT_HOST + CHANGED + "vim.g.eca = { approval = { guard = 0 } }" + init
    return start_nvim(str(file), init=init, columns=80, lines=24, **more)


def lines_of(nvim: Neovim, buf: int = 0) -> list[str]:
    lines: list[str] = nvim.request("nvim_buf_get_lines", buf, 0, -1, True)
    return lines


def tables(old: Sequence[str], new: Sequence[str]) -> list[Mapping[str, Value]]:
    found = [asdict(hunk) for hunk in hunks(old, new)]
    return [{**it, "old": it["old_parts"], "new": it["new_parts"]} for it in found]


def answer(nvim: Neovim, *new: str, state: str = "ready", **more: Value) -> str:
    """Answer the last rewrite as the host would."""
    asked = sent(nvim, "rewrite")[-1]
    found = tables(asked["lines"], new)
    draw(nvim, ["preview", asked["id"], state, found, 0, more.get("fault", ""), False])
    nvim.wait_until(f"(changed[#changed] == '{state}' or '{state}' == 'streaming')")
    return str(asked["id"])


def rewrite(nvim: Neovim, lines: str, *new: str) -> str:
    """Ask for a rewrite of lines, and answer it."""
    count = len(sent(nvim, "rewrite"))
    nvim.keys(f":{lines}Eca rewrite louder<CR>")
    wait_sent(nvim, "rewrite", count + 1)
    return answer(nvim, *new)


def ended(nvim: Neovim) -> bool:
    """Return whether nothing of a preview is left: no extmark, key or autocommand."""
    code = """
    local found = vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {})
    local keys = vim.tbl_filter(function(it)
      return vim.startswith(it.desc or '', 'eca: ')
    end, vim.api.nvim_buf_get_keymap(0, 'n'))
    local groups = vim.tbl_filter(function(it)
      return (it.group_name or ''):find('eca.preview', 1, true)
    end, vim.api.nvim_get_autocmds({}))
    return #require('eca').previews() + #found + #keys + #groups
    """
    return bool(nvim.lua(code) == 0)


def text_of(screen: Screen) -> list[str]:
    return [row.rstrip() for row in screen.lines()]
