"""A chat on a screen without a host (`staged`), drawn by the model's own ops."""

from collections.abc import Iterable, Mapping

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import WITHOUT_HOST, sent

from eca_nvim.chat.render.status import option_rows
from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.ops import BlockKind, ViewOp
from eca_nvim.chat.vocabulary.options import (
    MODE,
    MODEL,
    THOUGHT_LEVEL,
    ChatOption,
    OptionOffer,
    SetOptions,
)
from eca_nvim.nvim.frames import plain, wire

CHAT = "one"


class View:
    """A chat on the screen of `nvim`, with no host behind it."""

    def __init__(self, nvim: Neovim) -> None:
        self.nvim = nvim

    def open(self, chat: str = CHAT) -> None:
        """Open a chat as `require('eca').open` does."""
        self.nvim.lua("require('eca').open({ chat = ... })", chat)

    def draw(self, *drawn: ViewOp) -> None:
        """Draw ops as the host would send them, and wait until they are settled."""
        wired = [plain(wire(op)) for op in drawn]
        code = "for _, op in ipairs(...) do require('eca.view.ops').draw({ op }) end"
        self.nvim.lua(f"{code} require('eca.view.ops').settle()", wired)

    def sent(self, name: str) -> list[Mapping[str, Value]]:
        """Return the payloads of all intents of a name that were sent so far."""
        return sent(self.nvim, name)

    def buffer(self, chat: str = CHAT) -> int:
        """Return a chat's transcript buffer."""
        return int(self.nvim.lua("return require('eca.chat.buffers').ensure(...).buf", chat))

    def lines(self, chat: str = CHAT) -> list[str]:
        """Return the text of a chat's transcript buffer."""
        lines: list[str] = self.nvim.request("nvim_buf_get_lines", self.buffer(chat), 0, -1, True)
        return lines

    def draft(self, chat: str = CHAT) -> str:
        """Return the text of a chat's input."""
        code = """
        local buf = require('eca.chat.buffers').get(...).input
        return vim.api.nvim_buf_get_lines(buf, 0, -1, true)
        """
        return "\n".join(self.nvim.lua(code, chat))

    def windows(self) -> list[str]:
        """Return what the windows of this tab page show: chat, input, or the name of a file."""
        code = """
        return vim.tbl_map(function(win)
          local buf = vim.api.nvim_win_get_buf(win)
          local _, kind = require('eca.chat.buffers').of_buffer(buf)
          return kind or vim.fs.basename(vim.api.nvim_buf_get_name(buf))
        end, vim.api.nvim_tabpage_list_wins(0))
        """
        found: list[str] = self.nvim.lua(code)
        return found

    def current(self) -> str:
        """Return what the current window shows, as `windows` does."""
        code = """
        local _, kind = require('eca.chat.buffers').of_buffer(vim.api.nvim_get_current_buf())
        return kind or vim.fs.basename(vim.api.nvim_buf_get_name(0))
        """
        return str(self.nvim.lua(code))


def start_view(
    start_nvim: StartNeovim, *arguments: str, columns: int = 160, lines: int = 40, **more: Value
) -> View:
    """Start a Neovim without a host; nothing is open yet."""
    init = WITHOUT_HOST + more.pop("init", "")
    return View(start_nvim(*arguments, init=init, columns=columns, lines=lines, **more))


def open_view(start_nvim: StartNeovim, *arguments: str, **more: Value) -> View:
    """Start a Neovim without a host and open a chat in it."""
    view = start_view(start_nvim, *arguments, **more)
    view.open()
    return view


def user(block: int, text: str, chat: str = CHAT) -> tuple[ViewOp, ...]:
    """Return the ops of a finished user message."""
    return (
        ops.OpenBlock(chat, block, BlockKind.USER),
        ops.SetBody(chat, block, text.split("\n")),
        ops.CloseBlock(chat, block),
    )


def assistant(block: int, text: str, chat: str = CHAT) -> tuple[ViewOp, ...]:
    """Return the ops of assistant text that may still grow."""
    return (ops.OpenBlock(chat, block, BlockKind.ASSISTANT), ops.AppendText(chat, block, text))


def tool(block: int, header: str, chat: str = CHAT, **more: Value) -> ViewOp:
    """Return the op that opens a tool call's block."""
    segments = [("✓", "EcaToolDone"), (f" {header}", "EcaToolName")]
    return ops.OpenBlock(chat, block, BlockKind.TOOL, segments, **more)


def numbered(first: int, last: int) -> str:
    """Return numbered lines of text."""
    return "".join(f"line {number}\n" for number in range(first, last + 1))


def eca_options(
    models: Iterable[str] = (),
    agents: Iterable[str] = (),
    variants: Iterable[str] = (),
    **selected: str,
) -> SetOptions:
    """Return the options of a chat of ECA; selected: the model, the agent and the variant."""
    listed = {
        "model": (MODEL, models),
        "agent": (MODE, agents),
        "variant": (THOUGHT_LEVEL, variants),
    }
    options = [
        ChatOption(
            what,
            what,
            category=category,
            value=selected.get(what, ""),
            offers=tuple(OptionOffer(name, name or "none") for name in names),
        )
        for what, (category, names) in listed.items()
    ]
    return SetOptions(CHAT, option_rows(options))
