"""Commands and keys that can do nothing, or have a wrong argument, say so in one line."""

from collections.abc import Callable

import pytest
from tests.support.factories import StartNeovim
from tests.ui.staged import offered
from tests.ui.view import CHAT, View, assistant, numbered, open_view, start_view

from eca_nvim.chat.vocabulary import ops

Told = Callable[[str], str]

ALONE = [
    "toggle",
    "hide",
    "new",
    "clear",
    "delete",
    "history",
    "rollback",
    "fork",
    "stop",
    "approve-all",
    "approval",
    "diff",
    "files",
    "conflicts",
    "tasks",
    "usage",
    "contexts",
    "prompts",
    "log",
    "demo",
    "health",
]
"""Subcommands without an argument."""


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    view = open_view(start_nvim, "README.md", settings={"approval": {"float": False}})
    view.nvim.lua("""
    _G.told = {}
    vim.notify = function(line) table.insert(_G.told, line) end
    """)
    return view


@pytest.fixture
def told(view: View) -> Told:
    """Type keys, and give the line that they draw."""

    def type_keys(keys: str) -> str:
        view.nvim.lua("_G.told = {}")
        view.nvim.keys(keys)
        view.nvim.wait_until("#_G.told > 0")
        (line,) = view.nvim.lua("return _G.told")
        return str(line)

    return type_keys


def everything_sent(view: View) -> list[str]:
    code = "return vim.tbl_map(function(it) return it[1] end, require('eca.host').sent)"
    names: list[str] = view.nvim.lua(code)
    return names


@pytest.mark.either_nvim
def test_an_argument_where_none_belongs_is_told_and_nothing_done(view: View, told: Told) -> None:
    item = {"chat": CHAT, "id": "a", "digest": "a", "block": 1, "kind": "approval", "title": "a"}
    item["choices"] = offered()
    view.draw(ops.SetPending([item]))
    before, windows = everything_sent(view), view.windows()
    for name in ALONE:
        assert told(f":Eca {name} foo<CR>") == f"eca: {name} takes no argument, not 'foo'"
    for name in ("flag!", "agent!"):
        assert told(f":Eca {name} foo<CR>") == f"eca: {name} takes no argument, not 'foo'"
    assert everything_sent(view) == before
    assert view.windows() == windows


NOT_UNDERSTOOD = {
    "changes foo": "changes takes the number of a turn, not 'foo'",
    "changes keep all": "changes takes the number of a turn, not 'keep all'",
    "review foo": "review takes 'hide', not 'foo'",
    "undo-turn last": "undo-turn takes the number of a turn, not 'last'",
    "undo-turn 1.5": "undo-turn takes the number of a turn, not '1.5'",
    "chats foo": "chats takes the number of a chat, not 'foo'",
    "chats -1": "chats takes the number of a chat, not '-1'",
    "unqueue foo": "unqueue takes the number of a queued prompt, not 'foo'",
    "trust maybe": "trust takes 'on' or 'off', not 'maybe'",
    "approve b": "no pending request with the id 'b'",
}


def test_an_argument_that_is_not_understood_does_nothing(view: View, told: Told) -> None:
    item = {"chat": CHAT, "id": "a", "digest": "a", "block": 1, "kind": "approval", "title": "a"}
    item["choices"] = offered()
    view.draw(ops.SetPending([item]))
    before = everything_sent(view)
    for typed, line in NOT_UNDERSTOOD.items():
        assert told(f":Eca {typed}<CR>") == f"eca: {line}"
    assert everything_sent(view) == before


def test_numbers_and_words_that_are_understood_are_taken(view: View) -> None:
    view.nvim.keys(":Eca changes 2<CR>:Eca undo-turn 3<CR>")
    assert [it["turn"] for it in view.sent("changes")] == [2]
    assert [it["turn"] for it in view.sent("plan_undo")] == [3]


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("]f", "no flag below"),
        ("[f", "no flag above"),
        ("]a", "no pending request below"),
        ("[a", "no pending request above"),
        (":Eca steer<CR>", "nothing to send: the input is empty"),
        (":Eca queue<CR>", "nothing to send: the input is empty"),
    ],
)
def test_what_finds_nothing_to_do_says_so(view: View, told: Told, keys: str, line: str) -> None:
    view.draw(*assistant(1, numbered(1, 3)))
    view.nvim.keys("<C-w>k")
    assert told(keys) == f"eca: {line}"
    assert view.sent("prompt") == []


@pytest.mark.parametrize(
    ("command", "line"),
    [("stop", "no chat yet"), ("queue", "nothing to send: the input is empty")],
)
def test_without_a_chat_none_is_made_for_nothing(
    start_nvim: StartNeovim, command: str, line: str
) -> None:
    view = start_view(start_nvim)
    view.nvim.keys(f":Eca {command}<CR>")
    view.nvim.wait_screen(f"eca: {line}")
    assert view.nvim.lua("return require('eca').chats()") == []


def test_the_host_says_that_nothing_runs_and_nothing_was_changed(
    start_nvim: StartNeovim, quick_demo: list[str]
) -> None:
    nvim = start_nvim(settings={"server": {"command": quick_demo}}, columns=160, lines=40)
    nvim.keys(":EcaChat hello<CR>")
    nvim.wait_screen("Hello!")
    windows = nvim.eval("winnr('$')")
    nvim.wait_until("require('eca').status().state == 'idle'")
    nvim.keys(":Eca stop<CR>")
    nvim.wait_screen("eca: no turn is running")
    nvim.keys(":Eca changes<CR>")
    nvim.wait_screen("eca: no changes in this chat")
    assert nvim.eval("winnr('$')") == windows
