"""`:EcaChat` and `:Eca`: prompts as typed, completion, and messages for unknown names."""

from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.ui.staged import offered
from tests.ui.view import CHAT, View, eca_options, open_view, start_view

from eca_nvim.chat.vocabulary import ops

pytestmark = pytest.mark.either_nvim

CONTRACT = [
    "toggle",
    "hide",
    "new",
    "chats",
    "choose",
    "resume",
    "rename",
    "delete",
    "clear",
    "fork",
    "rollback",
    "flag",
    "stop",
    "steer",
    "put",
    "queue",
    "approve",
    "approve-all",
    "reject",
    "approval",
    "answer",
    "diff",
    "changes",
    "review",
    "files",
    "add",
    "contexts",
    "model",
    "agent",
    "variant",
    "trust",
    "tools",
    "mcp",
    "providers",
    "memory",
    "login",
    "logout",
    "dashboard",
    "jobs",
    "tasks",
    "plan",
    "history",
    "edit",
    "export",
    "log",
    "report",
    "server",
    "start",
    "restart",
    "quit",
    "install",
    "update",
    "rewrite",
    "ask",
    "act",
    "commit",
    "retry",
    "complete",
    "demo",
    "health",
    "help",
]
BEYOND = ["conflicts", "grep", "options", "paste", "prompts", "template", "undo-turn", "unqueue"]
BEYOND += ["checkpoints", "folder", "older", "trace", "uninstall", "usage"]
"""Subcommands that the contract does not name."""


def approvals(*ids: str) -> ops.SetPending:
    items = [
        {"chat": CHAT, "id": it, "digest": it, "block": 1, "kind": "approval", "title": it}
        for it in ids
    ]
    return ops.SetPending([{**item, "choices": offered("x")} for item in items])


def answer(digest: str, **fields: object) -> dict[str, object]:
    return {"chat": CHAT, "block": 1, "digest": digest, **fields}


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    return open_view(start_nvim, "README.md", settings={"approval": {"float": False}})


@pytest.mark.parametrize(
    "prompt", ["plain", "a | b", 'say "no" | quit', "% # <cword> `ls` $HOME", "tab\\n | !rm"]
)
def test_a_prompt_is_passed_on_as_typed(start_nvim: StartNeovim, prompt: str) -> None:
    view = start_view(start_nvim, "README.md")
    view.nvim.keys(":EcaChat " + prompt.replace("<", "<LT>") + "<CR>")
    assert [sent["text"] for sent in view.sent("prompt")] == [prompt]
    assert view.current() == "input"


def test_a_range_goes_along(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim, "src/calc.py", settings={"contexts": {"cursor": False}})
    view.nvim.keys("ggVj:EcaChat explain<CR>")
    context = view.sent("prompt")[0]["contexts"][0]
    assert (context["first"], context["last"]) == (1, 2)
    assert context["path"].endswith("src/calc.py")


def test_a_bang_starts_a_new_chat(view: View) -> None:
    view.nvim.keys(":EcaChat! hi<CR>")
    chat = view.sent("prompt")[0]["chat"]
    assert chat != CHAT
    assert len(view.nvim.lua("return require('eca').chats()")) == 2


def test_completion_offers_what_works(view: View) -> None:
    completed = view.nvim.eval("getcompletion('Eca ', 'cmdline')")
    assert sorted(completed) == sorted([*CONTRACT, *BEYOND])
    assert view.nvim.eval("getcompletion('Eca appr', 'cmdline')") == [
        "approval",
        "approve",
        "approve-all",
    ]
    view.draw(eca_options(["openai/gpt", "anthropic/claude"]))
    assert view.nvim.eval("getcompletion('Eca model a', 'cmdline')") == ["anthropic/claude"]


def test_completion_of_chats_and_contexts(view: View, workspace: Path) -> None:
    (workspace / "my notes").mkdir()
    (workspace / "my notes" / "`touch owned`").write_text("x")

    def completed(line: str) -> list[str]:
        found: list[str] = view.nvim.lua("return vim.fn.getcompletion(..., 'cmdline')", line)
        return found

    view.draw(ops.SetStatus(CHAT, {"state": "idle", "title": "fix | it"}))
    assert completed("Eca chats ") == ["1 fix | it"]
    assert completed("Eca chats fix") == ["1 fix | it"]
    view.nvim.keys(":Eca new<CR>:Eca chats 1 fix | it<CR>")
    assert view.nvim.lua("return require('eca.window').current_chat()") == CHAT
    assert completed("EcaChat see @my") == ["@my\\ notes/"]
    assert completed("EcaChat see #my\\ notes/") == ["#my\\ notes/`touch\\ owned`"]
    assert completed("EcaChat see @cur") == ["@cursor"]
    assert completed("EcaChat see my") == []
    assert completed("Eca add my") == ["my\\ notes/"]
    assert completed("Eca add ./my\\ notes/`t") == ["./my\\ notes/`touch\\ owned`"]
    assert "/tmp/" in completed("EcaChat @/tm")[0][1:]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("appr", ":Eca appr is ambiguous: approval, approve, approve-all"),
        ("aprove", "unknown command :Eca aprove; did you mean :Eca approve?"),
        ("xyzzyxyzzy", "unknown command :Eca xyzzyxyzzy"),
    ],
)
def test_what_is_not_there_is_told(view: View, typed: str, answer: str) -> None:
    view.nvim.keys(f":Eca {typed}<CR>")
    told = view.nvim.wait_until("vim.fn.execute('messages'):match('eca: [^\\n]+')")
    assert told == f"eca: {answer}"


def test_the_beginning_of_one_name_is_enough(view: View) -> None:
    view.nvim.keys(":Eca undo-t<CR>")
    assert view.sent("plan_undo")


@pytest.mark.parametrize(
    ("typed", "intent", "payloads"),
    [
        ("stop", "stop", [{"chat": CHAT}]),
        ("approve", "decide", [answer("a", choice="allow")]),
        ("approve!", "decide", [answer("a", choice="always")]),
        ("approve b", "decide", [answer("b", choice="allow")]),
        ("reject", "decide", [answer("a", choice="reject")]),
        ("reject use | sed", "decide", [answer("a", choice="reject", reason="use | sed")]),
        ("choose 2", "decide", [answer("a", choice="always")]),
        ("model openai/gpt", "choose", [{"chat": CHAT, "option": "model", "value": "openai/gpt"}]),
        ("trust", "trust", [{"chat": CHAT, "trusted": True}]),
        ("restart", "start", [{"restart": True}]),
        ("restart demo", "start", [{"restart": True, "server": "demo"}]),
        ("start", "start", [[]]),
        ("quit demo", "quit", [{"server": "demo"}]),
        ("demo", "start", [{"server": "demo"}]),
        ("server demo", "open_chat", [{"chat": CHAT}, {"chat": CHAT, "server": "demo"}]),
        ("diff", "diff", [{"chat": CHAT, "block": 1}]),
    ],
)
def test_subcommands_send_intents(
    view: View, typed: str, intent: str, payloads: list[dict[str, object]]
) -> None:
    view.draw(approvals("a", "b"))
    view.nvim.keys(f":Eca {typed}<CR>")
    assert view.sent(intent) == payloads


def test_steering_and_queueing_take_text_or_the_draft(view: View) -> None:
    view.nvim.keys(":Eca steer left<CR>:Eca queue later<CR>idraft<Esc>:Eca queue<CR>")
    sent = [(prompt["text"], prompt["queue"]) for prompt in view.sent("prompt")]
    assert sent == [("left", False), ("later", True), ("draft", True)]


def test_every_subcommand_completes_its_argument(view: View) -> None:
    code = """
    local wrong = {}
    for name, subcommand in pairs(require('eca.commands.subcommands').by_name) do
      local choices = require('eca.commands').complete('', 'Eca ' .. name .. ' ')
      if not vim.islist(choices) or not (subcommand.action or subcommand.run) then
        table.insert(wrong, name)
      end
    end
    return wrong
    """
    assert view.nvim.lua(code) == []


def test_a_model_is_chosen_from_those_offered(view: View) -> None:
    view.nvim.lua("vim.ui.select = function(items, _, done) done(items[2]) end")
    view.draw(eca_options(["one", "two"]))
    view.nvim.keys(":Eca model<CR>")
    assert view.sent("choose") == [{"chat": CHAT, "option": "model", "value": "two"}]


def test_files_and_lines_are_added(view: View) -> None:
    view.nvim.keys("<C-w>h:Eca add src/calc.py<CR>:1Eca add<CR>")
    contexts = view.nvim.lua("return require('eca').contexts()")
    assert [context.get("first") for context in contexts] == [None, 1, None]
    view.nvim.lua("vim.ui.select = function(items) _G.shown = #items end")
    view.nvim.keys(":Eca contexts<CR>")
    assert view.nvim.lua("return _G.shown") == 3


def test_chats_are_chosen_by_title(view: View) -> None:
    view.draw(ops.SetStatus(CHAT, {"state": "running", "title": "One"}))
    view.open("two")
    view.nvim.lua("""
    vim.ui.select = function(items, options, done)
      _G.shown = vim.tbl_map(options.format_item, items)
      done(items[1])
    end
    """)
    view.nvim.keys(":Eca chats<CR>")
    shown = view.nvim.lua("return _G.shown")
    assert [line.split()[:5] for line in shown] == [
        ["chat", "1", "●", "One", "running"],
        ["chat", "2", "New", "chat", "idle"],
    ]
    assert view.nvim.lua("return require('eca').status().chat") == CHAT


def test_the_chat_is_exported_as_markdown(view: View) -> None:
    view.nvim.keys("<C-w>h:Eca export<CR>")
    assert view.sent("transcript") == [{"chat": CHAT, "request": 1}]
    view.draw(ops.Answer(1, "# Chat\n\ntext"))
    assert view.nvim.eval("[&filetype, &modified, getline(1, '$')]") == [
        "markdown",
        0,
        ["# Chat", "", "text"],
    ]
