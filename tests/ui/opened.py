"""All that the plugin opens a window for: how, by which files, and when it is there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.support.editor import Neovim
from tests.support.launch import REPOSITORY
from tests.ui.staged import (
    CHAT,
    approval,
    chat_text,
    draw,
    offered,
    question,
    request,
    wait_sent,
)

Value: TypeAlias = Any
Open: TypeAlias = Callable[[Neovim, int], object]

FLOATS = "vim.api.nvim_win_get_config(0).relative ~= ''"
LEAVE = "<C-\\><C-n>"


@dataclass(frozen=True)
class Opened:
    """Something that the plugin opens: how, by which files, and when it is there."""

    open: Open
    files: Iterable[str]
    there: str = FLOATS
    settings: dict[str, Value] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    """The keys to press; () are those of its buffer."""


def asks(item: Callable[..., object], **fields: object) -> Open:
    """Show a request and enter its float; the number makes it another request."""

    def show(nvim: Neovim, number: int) -> None:
        draw(nvim, ["pending", [item(f"t{number}", **fields), item(f"u{number}", **fields)]])
        nvim.command("Eca approval")

    return show


@dataclass(frozen=True)
class Answered:
    """Runs a command, and answers the request that it sends to the host."""

    command: str
    intent: str
    value: Value

    def __call__(self, nvim: Neovim, _: int) -> None:
        self.answer(nvim, self.ask(nvim))

    def ask(self, nvim: Neovim) -> Value:
        """Run the command; return the number of its request."""
        sent = f"return #vim.tbl_filter(function(it) return it[1] == {self.intent!r} end, ...)"
        before = nvim.lua(sent.replace("...", "require('eca.host').sent"))
        nvim.command(self.command)
        return wait_sent(nvim, self.intent, before + 1)[-1]["request"]

    def answer(self, nvim: Neovim, asked: Value) -> None:
        """Answer the request."""
        draw(nvim, ["answer", asked, self.value])


def template(nvim: Neovim, number: int) -> None:
    """Use a template of the project on which the user has not decided."""
    Answered("Eca template review", "prepare_template", PREPARED)(nvim, number)
    asked = wait_sent(nvim, "expand_template", number + 1)[-1]["request"]
    draw(nvim, ["answer", asked, PROMPT])


def answer(nvim: Neovim, number: int) -> None:
    """Ask about a line, and go into the answer."""
    nvim.keys(":enew!<CR>:Eca ask why?<CR>")
    place = wait_sent(nvim, "ask_in_place", number + 1)[-1]["id"]
    draw(nvim, ["place_answer", place, "ready", "It is:\n\n```lua\nx\n```\n"])
    nvim.wait_until("require('eca').previews()[1].state == 'ready'")
    nvim.lua("require('eca.actions.ask').enter()")


def drawn(*op: Value) -> Open:
    """Draw an op."""
    return lambda nvim, _: draw(nvim, [*op])


def typed(keys: str) -> Open:
    """Type keys in the transcript."""

    def type_there(nvim: Neovim, _: int) -> None:
        nvim.lua("vim.api.nvim_set_current_win((require('eca.window').shown()))")
        nvim.keys(keys)

    return type_there


def usage(nvim: Neovim, _: int) -> None:
    draw(nvim, ["usage", CHAT, [[["12k tokens", ""]]]])
    nvim.command("Eca usage")


def diff(nvim: Neovim, number: int) -> None:
    """Show the diff of a request, the first of two files, with a part to leave out."""
    call, shown = f"t{number}", [f"t{number}", "/w/a", "one\n", "two", "new"]
    file = {"block": 900, "place": 0, "count": 2}
    nvim.lua("require('eca.diff').ask('diff', { chat = ..., block = 900, file = 0 })", CHAT)
    draw(
        nvim,
        ["pending", [approval(call, remember=["ls"]), approval(f"u{number}")]],
        ["diff", CHAT, *shown, request(call), None, "new", file, [], True],
    )


TERMINAL = "vim.bo.buftype == 'terminal' and vim.fn.search([[\\S]], 'nw') > 0"
"""Its program has written something. Until it runs it is a copy of Neovim, and what a terminal that
is closed tells it ends Neovim (SIGHUP)."""


def login(nvim: Neovim, number: int) -> None:
    draw(nvim, ["run_login", number, "an agent", ["sh", "-c", "echo ready; read x"], {}, "/"])


def command(nvim: Neovim, number: int) -> None:
    """Put a command of an answer into a terminal, another one each time."""
    nvim.keys(LEAVE)
    nvim.lua(
        "for _, buf in ipairs(vim.api.nvim_list_bufs()) do "
        "  if vim.bo[buf].buftype == 'terminal' then "
        "    vim.api.nvim_buf_delete(buf, { force = true }) "
        "  end "
        "end"
    )
    draw(nvim, *chat_text("```sh\nread x\n```\n", number + 2))
    typed("G?read x<CR>gp")(nvim, number)


def log(nvim: Neovim, _: int) -> None:
    nvim.lua("require('eca.host.log').path = function() return 'README.md' end")
    nvim.command("Eca log")


def followed(nvim: Neovim, _: int) -> None:
    """Show a file that the agent changes, where only the chat has windows."""
    nvim.keys(f"{LEAVE}<C-w>k:only<CR>")
    draw(nvim, ["place", CHAT, nvim.eval("getcwd()") + "/README.md", [[1, 1]], False])
    nvim.wait_until("vim.fn.winnr('$') > 1")
    nvim.keys("<C-w>t")


def edited(nvim: Neovim, _: int) -> None:
    """Open a file in the chat's window, where only the chat has windows."""
    nvim.keys(f"{LEAVE}<C-w>k:only<CR>:edit README.md<CR>")


def panel(nvim: Neovim, number: int) -> None:
    """Show a panel with a row that can be acted on."""
    nvim.keys(f"{LEAVE}:Eca jobs<CR>")
    action = {"name": "kill", "key": "x", "text": "end it", "asks": [], "sure": ""}
    row = {"id": "1", "line": [], "actions": ["kill"], "values": {}}
    draw(
        nvim,
        ["panel", "jobs", 1, "jobs", [{**action, "everywhere": False}]],
        ["panel_rows", "jobs", 1, 0, 0, [row]],
    )


PLAN = {
    "turns": [1],
    "title": "undo turn 1?",
    "verb": "undo",
    "rows": [
        {"path": "/w/a", "seen": "x", "taken": [["restored", ""]]},
        {"path": "/w/b", "seen": "y", "kept": [["stays", ""]], "taken": [["restored", ""]]},
    ],
    "why": "",
}
CHANGE = {"key": "k", "turn": 1, "prompt": "p", "path": str(REPOSITORY / "README.md")}
CHANGE |= {"kind": "lines", "line": 1, "count": 1, "added": 1, "removed": 1, "text": "x"}
USES = {"head": [["2 files", ""]], "files": [], "more": 0}
USES["files"] = [{"path": str(REPOSITORY / "LICENSE"), "heat": [["#", ""]], "use": [["read", ""]]}]
PREPARED = {"digest": "d", "kinds": [], "questions": []}
PROMPT = {"text": "Review.", "own": "Review.", "title": "review", "lines": ["Review."]}
HUNKS = [{"n": number, "rows": [number, number], "taken": True} for number in (1, 2)]
PARTED = {"paths": ["/w/a"], "language": "diff", "hunks": HUNKS}
LISTED = {"choices": offered("ls"), "listed": True}
YES_NO = {"yes_no": True, "options": [["yes", ""], ["no", ""]], "freeform": False}
HITS = {"hits": [{"block": 1, "shown": 1, "text": "hello", "row": 0}], "more": 0}
HELP = ("actions/help", "ui/keys", "ui/panel")
A_FILE = "vim.bo.buftype == '' and vim.fn.expand('%:t') == 'README.md'"
FLOATING = {"layout": "float"}

OPENED: dict[str, Opened] = {
    "approval": Opened(asks(approval), ["approval/float"]),
    "approval with a diff": Opened(asks(approval, remember=["ls"], **PARTED), ["approval/float"]),
    "approval with a list": Opened(asks(approval, **LISTED), ["approval/float"]),
    "question": Opened(asks(question), ["approval/float"]),
    "question of yes or no": Opened(asks(question, **YES_NO), ["approval/float"]),
    "question for a secret": Opened(
        asks(question, secret=True, options=[], declines=True), ["approval/float"]
    ),
    "form": Opened(
        asks(question, picks=True, several=True, declines=True, empty="skip", back=True),
        ["approval/float"],
    ),
    "keys of the chat": Opened(typed("g?"), HELP),
    "keys of the input": Opened(lambda nvim, _: nvim.keys("g?"), HELP),
    "usage": Opened(usage, ["actions/chats"]),
    "files": Opened(Answered("Eca files", "files", USES), ["review/files"]),
    "undo": Opened(Answered("Eca undo-turn", "plan_undo", PLAN), ["review/undo"]),
    "commit": Opened(
        Answered("Eca commit", "staged", {"root": "/w", "files": ["a"]}),
        ["commit/editor"],
        "vim.bo.filetype == 'gitcommit'",
    ),
    "answer": Opened(answer, ["preview/answer"], "vim.bo.filetype == 'eca-answer'"),
    "plan": Opened(
        Answered("Eca plan", "plan", {"block": 1, "text": "1. Look"}),
        ["approval/plan"],
        "vim.fn.bufname():find('eca://plan', 1, true)",
    ),
    "template": Opened(template, ["actions/templates"]),
    "changes": Opened(
        Answered("Eca changes", "changes", [CHANGE]),
        ["review/init"],
        "vim.bo.buftype == 'quickfix'",
    ),
    "hits": Opened(
        Answered("Eca grep hello", "grep", HITS), ["chat/search"], "vim.bo.buftype == 'quickfix'"
    ),
    "diff": Opened(diff, ["diff/init", "diff/notice"], "vim.fn.tabpagenr('$') > 1"),
    "whole output": Opened(
        drawn("output", CHAT, 1, "$ ls", ["a", "b"], [], None, 0),
        ["chat/output"],
        "vim.fn.maparg('q', 'n', false, true).buffer == 1",
    ),
    "export": Opened(
        Answered("Eca export", "transcript", "# chat\n"),
        ["chat/output"],
        "vim.bo.filetype == 'markdown' and vim.bo.bufhidden == 'wipe'",
    ),
    "log": Opened(log, ["commands/plugin"], A_FILE),
    "help": Opened(
        lambda nvim, _: nvim.command("Eca help"), ["commands/plugin"], "vim.bo.buftype == 'help'"
    ),
    "panel": Opened(panel, ["panels/init"], "vim.bo.filetype == 'eca-panel'"),
    "login": Opened(
        login,
        ["panels/login_terminal"],
        TERMINAL,
        keys=("<CR>", LEAVE + ":q<CR>", LEAVE + ":tabclose<CR>", LEAVE + ":bwipeout!<CR>"),
    ),
    "terminal of a command": Opened(
        command,
        ["actions/put"],
        TERMINAL,
        keys=(LEAVE + ":q<CR>", LEAVE + ":bwipeout!<CR>", LEAVE + ":tabnew<CR>:tabclose<CR>"),
    ),
    "file that the agent changes": Opened(
        followed, ["editor/follow_agent"], A_FILE, {"follow": True}
    ),
    "file beside a chat": Opened(edited, ["window/code_window"], A_FILE),
    "chat that floats": Opened(typed(""), ["window/layout"], settings=FLOATING),
    "input that floats": Opened(lambda *_: None, ["window/layout"], settings=FLOATING),
    "chat in a tab page": Opened(
        lambda nvim, _: nvim.command("tab EcaChat"),
        ["window/layout"],
        "vim.fn.tabpagenr('$') > 1",
        keys=(":q<CR>", "<C-w>k:q<CR>", ":tabclose<CR>", ":Eca hide<CR>"),
    ),
}
