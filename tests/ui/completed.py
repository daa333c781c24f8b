"""Completion in an input without a host: the test answers the queries."""

from collections.abc import Mapping

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, sent

PATHS = ("README.md", "src/", "src/calc.py", "src/io.py")


def item(text: str, kind: str = "", **fields: Value) -> Mapping[str, Value]:
    """Return an item as the host sends it."""
    kind = kind or ("folder" if text.endswith("/") else "file")
    return {"text": text, "label": text, "kind": kind, "detail": "", **fields}


def answer(nvim: Neovim, trigger: str, query: str, *items: Value, final: bool = True) -> None:
    """Answer a query as the host does, and wait until it is drawn."""
    draw(nvim, ["completions", CHAT, trigger, query, items, final])
    nvim.keys("")


def start(start_nvim: StartNeovim, *arguments: str, **options: Value) -> Neovim:
    """Open a chat whose input is in insert mode, with completion attached."""
    init = WITHOUT_HOST + options.pop("init", "")
    nvim = start_nvim(*arguments, init=init, columns=80, **options)
    open_input(nvim)
    return nvim


def open_input(nvim: Neovim) -> None:
    """Open a chat and begin to type in its input, once completion is attached."""
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0 }) > 0")
    nvim.keys("i")


def menu(nvim: Neovim) -> list[str]:
    """Return the texts of the items in the open menu."""
    code = """
    local info = vim.fn.complete_info({ 'pum_visible', 'items' })
    local words = vim.tbl_map(function(item) return item.word end, info.items)
    return info.pum_visible == 1 and words or {}"""
    words: list[str] = nvim.lua(code)
    return words


def asked(nvim: Neovim) -> list[tuple[str, str]]:
    """Return triggers and queries that the host was asked."""
    return [(it["trigger"], it["query"]) for it in sent(nvim, "complete")]


def text(nvim: Neovim) -> str:
    """Return the draft."""
    return "\n".join(nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)"))


GREET = item(
    "mock:greet",
    "prompt",
    detail="Greets someone",
    arguments=[
        {"name": "who", "description": "Whom to greet", "required": True},
        {"name": "how", "description": "", "required": True},
        {"name": "also", "description": "", "required": False},
    ],
)
