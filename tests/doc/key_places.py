"""The places where the plugin maps keys, and where the help names the keys of each.

What `tests/ui/opened.py` opens is shared with the test of every key; here is what opens no window.
In the second after an answer every key is mapped in the float, to leave it: that is no place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import to_builtins
from tests.support.editor import Neovim
from tests.ui import completed, previewed
from tests.ui.opened import OPENED, Opened
from tests.ui.staged import draw, wait_sent

from eca_nvim.session.requests.panel_kinds import KINDS


@dataclass(frozen=True)
class Place:
    """Buffers of one kind, and where the help names their keys.

    opened: names of what the test opens; the keys of all count. tags: the parts of the help that
    name these keys. others: parts that name keys of other places, too. mentioned: keys that the
    parts of `tags` name and that are not mapped here, with the reason.
    """

    opened: Sequence[str]
    tags: Sequence[str] = ()
    others: Sequence[str] = ()
    mentioned: Mapping[str, str] = field(default_factory=dict)


def panel(name: str) -> Opened:
    """Open a panel with all its actions."""
    actions = [to_builtins(action) for action in KINDS[name].ACTIONS]

    def show(nvim: Neovim, number: int) -> None:
        nvim.command(f"Eca {name}")
        draw(nvim, ["panel", name, 1, name, actions], ["panel_rows", name, 1, 0, 0, []])

    keys = "#vim.api.nvim_buf_get_keymap(0, 'n')"
    there = f"vim.bo.filetype == 'eca-panel' and {keys} > {len(actions)}"
    return Opened(show, ["panels/init"], there)


def preview(nvim: Neovim, number: int) -> None:
    """Have a line of the file rewritten."""
    nvim.keys(":enew!<CR>:Eca rewrite louder<CR>")
    asked = wait_sent(nvim, "rewrite", number + 1)[-1]
    hunks = previewed.tables(asked["lines"], ["new"])
    draw(nvim, ["preview", asked["id"], "ready", hunks, 0, "", False])
    nvim.wait_until("require('eca').previews()[1].state == 'ready'")


def preview_diff(nvim: Neovim, number: int) -> None:
    preview(nvim, number)
    nvim.keys("dD")


def menu(nvim: Neovim, number: int) -> None:
    """Open the menu of completion in the input."""
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0 }) > 0")
    nvim.keys("i@")
    completed.answer(nvim, "@", "", completed.item("README.md"))


MAPPING = {
    "approval/buffer",
    "approval/float",
    "approval/pause",
    "approval/plan",
    "chat/output",
    "completion/menu",
    "diff/init",
    "keymaps/init",
    "panels/keys",
    "ui/panel",
}
"""Files that map keys: what they map them in is below."""

WHERE: Mapping[str, Opened] = {
    **OPENED,
    "file with a preview": Opened(preview, [], "vim.fn.maparg('do', 'n') ~= ''"),
    "diff of a preview": Opened(preview_diff, [], "vim.fn.tabpagenr('$') > 1"),
    "menu of the input": Opened(menu, [], "vim.fn.maparg('<CR>', 'i') ~= ''"),
    **{f"panel {name}": panel(name) for name in KINDS},
}

GO_TO_FLOAT = {"g<CR>": "goes to the float"}
IN_ANSWER = dict.fromkeys(("q", "gy", "gp", "gf", "gx"), "in the float of an answer")
CLOSING = ["eca-closing"]
PLACES: Mapping[str, Place] = {
    "transcript": Place(["chat that floats"], ["eca-transcript"]),
    "input": Place(
        ["input that floats", "chat in a tab page"],
        ["eca-input"],
        mentioned={"<Esc>": "begins <M-CR> in a terminal", "q": "records a macro, as ever"},
    ),
    "menu of the input": Place(["menu of the input"], others=["eca-completion", "eca-input"]),
    "list of keys": Place(["keys of the chat", "keys of the input"], CLOSING),
    "approval": Place(
        ["approval", "approval with a diff", "approval with a list"],
        ["eca-approval", "eca-choices", "eca-hunks"],
        mentioned=GO_TO_FLOAT,
    ),
    "question": Place(["question"], ["eca-questions"], mentioned=GO_TO_FLOAT),
    "form": Place(["form", "question of yes or no"], ["eca-forms"], ["eca-questions"]),
    "secret": Place(["question for a secret"], others=["eca-forms", "eca-questions"]),
    "plan": Place(["plan"], ["eca-plans"], mentioned={"d": "in the float", "gd": "on an answer"}),
    "diff": Place(["diff"], ["eca-diff"], mentioned={"d": "in the float", "gd": "on a block"}),
    "changes": Place(["changes"], ["eca-changes"], mentioned={"<CR>": "goes there, as ever"}),
    "undo": Place(["undo"], ["eca-undo"], CLOSING),
    "files": Place(["files"], [":Eca-files"], CLOSING),
    "usage": Place(["usage"], [":Eca-usage"], CLOSING),
    "template": Place(["template"], ["eca-project-templates"], CLOSING),
    "preview": Place(
        ["file with a preview"],
        ["eca-rewrite", "eca-ask"],
        mentioned={"dp": "in a diff, as ever", **dict.fromkeys("ar", "in the diff"), **IN_ANSWER},
    ),
    "diff of a preview": Place(["diff of a preview"], others=["eca-rewrite"]),
    "answer": Place(["answer"], ["eca-ask"], ["eca-rewrite"]),
    "whole output": Place(["whole output"], ["ft-eca-output"]),
    **{f"panel {it}": Place([f"panel {it}"], [f"eca-panel-{it}"], ["eca-panels"]) for it in KINDS},
    "all panels": Place(["panel"], ["eca-panels"], ["eca-panel-jobs"]),
    "without keys of ours": Place(
        [
            "commit",
            "export",
            "file beside a chat",
            "file that the agent changes",
            "help",
            "hits",
            "log",
            "login",
            "terminal of a command",
        ]
    ),
}
