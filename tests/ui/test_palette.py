"""The palette: all that can be done now, most used first, on one screen."""

import re

from tests.support.factories import StartNeovim
from tests.ui.view import CHAT, View, assistant, eca_options, open_view, start_view, tool, user

from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.options import Ability

WAITING = {"chat": CHAT, "id": "call", "digest": "call", "kind": "approval", "title": "edit a"}
QUESTION = {**WAITING, "id": "asked", "kind": "question", "title": "which?", "block": 4}
IDLE = {"state": "idle", "trust": False, "pending": 0}

CAPTURE = """
vim.ui.select = function(items, options, done)
  _G.lines = vim.tbl_map(options.format_item, items)
  _G.choose = function(text)
    for index, line in ipairs(_G.lines) do
      if line:find(text, 1, true) then
        return done(items[index])
      end
    end
  end
end
"""


def lines(view: View, keys: str = ":Eca<CR>") -> list[str]:
    """Open the palette by some keys and give its rows."""
    view.nvim.keys(keys)
    found: list[str] = view.nvim.lua("return _G.lines")
    return found


def names(view: View) -> list[str]:
    return [line.split()[1] for line in lines(view)]


def keys_listed(view: View) -> str:
    """Open the list of keys, close it and give its text."""
    view.nvim.keys("g?")
    text = "\n".join(view.nvim.buffer_lines())
    view.nvim.keys("q")
    return text


def test_every_subcommand_has_an_action_and_a_place(start_nvim: StartNeovim) -> None:
    code = """
    local actions, now = require('eca.keymaps.actions'), require('eca.commands.palette').look()
    return vim.tbl_filter(function(it)
      local action = it.action or it.key
      return now[it.on] == nil or action and not actions[action]
    end, require('eca.commands.subcommands').list)
    """
    assert start_view(start_nvim).nvim.lua(code) == []


def test_only_what_applies_is_offered(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, init=CAPTURE)
    view.nvim.command("enew")
    view.draw(ops.SetServer("stopped"))
    last = ["demo", "log", "report", "health", "help"]
    panels = view.nvim.lua("return require('eca.state.panel_names')")
    own = ["trust", "template", "paste", "hide", "delete", *(name for name, _ in panels)]
    assert names(view) == [
        "add",
        "rewrite",
        "ask",
        "act",
        "complete",
        "commit",
        "new",
        "resume",
        *own,
        "start",
        "login",
        "logout",
        *last,
    ]
    view.nvim.command("EcaChat")
    view.draw(ops.SetServer("ready", "eca"), *user(1, "first"))
    view.draw(ops.SetTaskList(CHAT, {"block": 2, "done": 0, "total": 1, "doing": ""}))
    view.draw(eca_options(["a", "b"], ["code"]))
    found = names(view)
    assert found[:5] == ["changes", "review", "undo-turn", "new", "resume"]
    assert {"tasks", "rollback", "rename", "restart", "quit"} <= set(found)
    assert not {"agent", "variant", "chats", "stop", "approve", "answer", "add"} & set(found)
    assert not {"start", "install", "toggle", "conflicts", "unqueue", "older"} & set(found)
    view.draw(ops.OpenBlock(CHAT, 3, ops.BlockKind.OLDER, (("older messages", ""),), 0))
    assert "older" in names(view)


def test_what_the_server_cannot_do_is_not_offered_and_the_command_says_why(
    start_nvim: StartNeovim,
) -> None:
    view = open_view(start_nvim, "README.md", init=CAPTURE)
    view.draw(*user(1, "first"), ops.SetStatus(CHAT, IDLE))
    needing = {"fork", "flag", "clear", "rename", "delete", "resume"}
    assert needing <= set(names(view))
    view.nvim.keys("<C-w>k")
    assert "continue from here in a new chat" in keys_listed(view)
    view.draw(ops.SetStatus(CHAT, {**IDLE, "lacks": sorted(Ability)}))
    assert not needing & set(names(view))
    listed = keys_listed(view)
    assert "next prompt" in listed
    assert "continue from here" not in listed
    assert "roll back" in listed  # else a new session goes on
    assert "flag here" not in listed
    for command in (*needing, "flag!", "rename a", "clear!", "delete!", "login"):
        view.nvim.command("messages clear")
        view.nvim.command(f"Eca {command}")
        assert re.match("eca: this server (cannot|has no) ", view.nvim.messages())
    view.nvim.command("messages clear")
    view.nvim.keys("gb")
    assert "this server cannot fork chats" in view.nvim.messages()
    sent = {name for name in ("rollback", "fork", "add_flag", "clear", "delete") if view.sent(name)}
    assert sent == set()
    sentences = "return vim.tbl_keys(require('eca.state.abilities').CANNOT)"
    assert sorted(view.nvim.lua(sentences)) == sorted(Ability)


def test_a_running_turn_that_cannot_be_steered_takes_only_queued_prompts(
    start_nvim: StartNeovim,
) -> None:
    view = open_view(start_nvim, "README.md", init=CAPTURE)
    running = {**IDLE, "state": "running"}
    view.draw(*user(1, "first"), ops.SetStatus(CHAT, running))
    view.nvim.keys("ilater<Esc>")
    assert {"steer", "queue"} <= set(names(view))
    view.draw(ops.SetStatus(CHAT, {**running, "lacks": ["steer"]}))
    assert {"steer", "queue"} & set(names(view)) == {"queue"}


def test_what_waits_comes_first(start_nvim: StartNeovim) -> None:
    settings = {"approval": {"float": False}}
    view = open_view(start_nvim, "README.md", init=CAPTURE, settings=settings)
    view.draw(*user(1, "first"), tool(3, "edit a"), tool(4, "ask"))
    view.draw(ops.SetStatus(CHAT, {**IDLE, "state": "waiting"}))
    view.draw(ops.SetPending([{**WAITING, "block": 3}, QUESTION]))
    view.draw(ops.SetQueue(CHAT, [("queue", "later")]))
    view.nvim.keys("ilater<Esc>")
    asked = ["approval", "approve", "reject", "diff", "answer", "stop"]
    assert names(view)[:10] == [*asked, "steer", "queue", "unqueue", "add"]
    assert not {"rollback", "fork", "clear"} & set(names(view))


def test_a_row_has_the_command_its_key_here_and_what_it_does(start_nvim: StartNeovim) -> None:
    init = f"{CAPTURE} vim.keymap.set('n', '<F5>', '<Plug>(EcaStop)')"
    view = open_view(start_nvim, "README.md", init=init)
    view.draw(*user(1, "first"), ops.SetStatus(CHAT, {**IDLE, "state": "running"}))
    found = {line.split()[1]: line for line in lines(view, "ga")}
    assert re.fullmatch(r":Eca stop +<F5> +stop the turn", found["stop"])
    assert re.fullmatch(r":Eca contexts +gC +show or remove context", found["contexts"])
    assert re.fullmatch(r":Eca hide +gQ +hide the chat", found["hide"])
    view.nvim.lua("_G.choose('stop')")
    assert view.sent("stop") == [{"chat": CHAT}]
    lines(view, "ga")
    view.nvim.lua("_G.choose('grep')")
    view.nvim.wait_screen(":Eca grep")
    view.nvim.keys("nowhere<CR>")
    assert view.sent("grep")[0]["pattern"] == "nowhere"


def test_without_a_picker_it_fits_the_screen(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", columns=80, lines=24)
    view.draw(*user(1, "first"), *assistant(2, "an answer"), ops.SetServer("ready", "eca"))
    view.draw(eca_options(["a", "b"], ["code", "plan"], ["", "low"]))
    view.draw(ops.SetUsage(CHAT, [[("1 token", "")]]))
    view.draw(ops.SetTaskList(CHAT, {"block": 2, "done": 0, "total": 1, "doing": ""}))
    view.nvim.keys("ga")
    screen = view.nvim.wait_screen("Type number and <Enter>")
    assert "-- More --" not in screen
    rows = re.findall(r"^(\d+): (.*\S)", screen.text(), re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert rows[0][1].startswith(":Eca add ")
    assert all(row.startswith(":Eca ") and not row.endswith("…") for _, row in rows[:-1])
    assert rows[-1][1] == "more …"
    view.nvim.keys(f"{len(rows)}<CR>")
    screen = view.nvim.wait_screen(re.compile(r"1: :Eca (?!add)"))
    assert "-- More --" not in screen
    [number] = re.findall(r"^(\d+): :Eca rename", screen.text(), re.MULTILINE)
    view.nvim.input(f"{number}<CR>")
    view.nvim.wait_screen("Title:")
