"""Model, agent and variant: chosen by name, from a list or by key, and shown in the winbar."""

import re

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.launch import REPOSITORY
from tests.support.script import MODEL, content, expect, handshake, send, text, turn
from tests.ui.talk import say, start_chat, wait_idle, wait_line
from tests.ui.view import CHAT, View, eca_options, open_view

from eca_nvim.chat.vocabulary import ops

pytestmark = pytest.mark.either_nvim

MODELS = ("anthropic/claude-opus", "anthropic/claude-sonnet", "openai/gpt")
AGENTS = ("code", "plan", "review")
VARIANTS = ("", "low", "high")
CHOSEN = {"model": "openai/gpt", "agent": "plan"}
CHOICES = eca_options(MODELS, AGENTS, VARIANTS, **CHOSEN)
SELECT = """
vim.ui.select = function(items, options, done)
  _G.offered = vim.tbl_map(options.format_item or tostring, items)
  _G.choose = function(number) done(items[number]) end
end
"""
SHOWN = re.compile(r"vim\.ui\.select\b(?!`)")
STATUS = {"state": "idle", "model": "openai/gpt", "agent": "plan", "trust": False}


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    view = open_view(start_nvim, init=SELECT)
    view.draw(CHOICES, ops.SetStatus(CHAT, STATUS))
    return view


def chosen(view: View) -> list[tuple[str, object]]:
    return [(it["option"], it["value"]) for it in view.sent("choose")]


def trusted(view: View) -> list[bool]:
    return [it["trusted"] for it in view.sent("trust")]


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        ("model openai/gpt", ("model", "openai/gpt")),
        ("model Opus", ("model", "anthropic/claude-opus")),
        ("model claude", ("model", "claude")),
        ("agent review", ("agent", "review")),
        ("agent!", ("agent", "review")),
        ("variant high", ("variant", "high")),
        ("variant none", ("variant", "")),
    ],
)
def test_a_choice_is_named(view: View, typed: str, choice: tuple[str, object]) -> None:
    view.nvim.keys(f":Eca {typed}<CR>")
    assert chosen(view) == [choice]


def test_trust_is_switched(view: View) -> None:
    view.nvim.keys(":Eca trust<CR>:Eca trust on<CR>:Eca trust off<CR>")
    assert trusted(view) == [True, True, False]


def test_a_slip_trusts_nobody(view: View) -> None:
    view.nvim.keys(":Eca trust of<CR>")
    view.nvim.wait_screen("trust takes 'on' or 'off', not 'of'")
    assert trusted(view) == []


def test_before_the_server_tells_any_name_is_taken(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.nvim.keys(":Eca model some/model<CR>")
    assert chosen(view) == [("model", "some/model")]


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        ("model", ["  anthropic/claude-opus", "  anthropic/claude-sonnet", "● openai/gpt"]),
        ("agent", ["  code", "● plan", "  review"]),
        ("variant", ["● none", "  low", "  high"]),
    ],
)
def test_the_list_marks_what_is_chosen_now(view: View, command: str, offered: list[str]) -> None:
    view.nvim.keys(f":Eca {command}<CR>")
    assert view.nvim.lua("return _G.offered") == offered
    view.nvim.lua("_G.choose(1)")
    assert chosen(view)[0][0] == command


@pytest.mark.parametrize("variants", [(), ("",)])
def test_a_model_without_variants_has_no_list(view: View, variants: tuple[str, ...]) -> None:
    view.draw(eca_options(MODELS, AGENTS, variants, **CHOSEN))
    view.nvim.keys(":Eca variant<CR>")
    view.nvim.wait_screen("no variant to choose from yet")


def test_without_a_model_the_way_to_one_is_said(view: View) -> None:
    view.draw(eca_options((), AGENTS, ()))
    view.nvim.keys(":Eca model<CR>")
    view.nvim.wait_screen("no model to choose from yet; log in with :Eca login")
    view.draw(ops.SetStatus(CHAT, {"state": "idle", "lacks": ["login"]}))
    view.nvim.keys(":Eca model<CR>")
    view.nvim.wait_screen("no model to choose from yet; name one: :Eca model NAME")


def test_names_are_completed_by_any_part(view: View) -> None:
    complete = "getcompletion('Eca %s', 'cmdline')"
    assert view.nvim.eval(complete % "model claude") == [
        "anthropic/claude-opus",
        "anthropic/claude-sonnet",
    ]
    assert view.nvim.eval(complete % "agent! r") == ["review"]
    assert view.nvim.eval(complete % "variant ") == ["high", "low", "none"]
    assert view.nvim.eval(complete % "trust o") == ["off", "on"]


def test_a_key_takes_the_next_agent_and_begins_again(view: View) -> None:
    view.nvim.keys("<S-Tab>")
    view.draw(eca_options(MODELS, AGENTS, agent="review"))
    view.nvim.keys("<C-w>k<S-Tab>")
    assert chosen(view) == [("agent", "review"), ("agent", "code")]


WATCHING = """vim.iter(vim.api.nvim_get_autocmds({ event = 'User' })):fold(0, function(sum, it)
  return sum + ((it.group_name or ''):find('^eca%.trust') and 1 or 0)
end)"""


def test_trust_is_told_loudly_once_it_is_so(view: View) -> None:
    view.nvim.keys(":Eca trust<CR>")
    view.draw(ops.SetStatus(CHAT, {**STATUS, "title": "another"}))
    assert "is trusted" not in view.nvim.messages()
    view.draw(ops.SetStatus(CHAT, {**STATUS, "trust": True}))
    view.nvim.wait_screen("trust on: tools of this chat run WITHOUT ASKING")
    view.nvim.wait_screen("TRUST · openai/gpt")
    view.nvim.keys(":Eca trust<CR>")
    assert "asks before" not in view.nvim.messages()
    view.draw(ops.SetStatus(CHAT, STATUS))
    view.nvim.wait_screen("this chat asks before tools run")
    assert trusted(view) == [True, False]
    for chat in ("another", "third"):
        view.open(chat)
        view.nvim.keys(":Eca trust<CR>")
        view.draw(ops.ForgetChat(chat))
    view.nvim.keys(":Eca trust<CR>")
    view.draw(ops.SetStatus(CHAT, {**STATUS, "trust": True}))
    view.nvim.wait_screen("trust on: tools of this chat run WITHOUT ASKING")
    assert view.nvim.lua(f"return {WATCHING}") == 2  # not one for each chat that there was


# --- with the whole plugin -----------------------------------------------------------------------


def said(nvim: Neovim, words: str) -> None:
    say(nvim, "go")
    wait_line(nvim, words)
    wait_idle(nvim)


def test_what_is_chosen_before_the_first_prompt_goes_with_it(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn(text("done")))
    nvim = start_chat(start_nvim, server)
    nvim.wait_screen("mock/mock-1 · code")
    nvim.keys(":Eca model mock/mock-22<CR>")
    nvim.wait_screen("unknown model 'mock/mock-22'; did you mean mock/mock-2?")
    nvim.keys(":Eca model mock-2<CR>:Eca agent!<CR>:Eca trust<CR>")
    nvim.wait_screen("TRUST · mock/mock-2 · plan")
    said(nvim, "done")
    [prompt] = server.received("chat/prompt")
    assert {key: prompt["params"][key] for key in ("model", "agent", "trust")} == {
        "model": "mock/mock-2",
        "agent": "plan",
        "trust": True,
    }
    assert server.received("chat/selectedModelChanged") == []


def test_the_winbar_tells_what_the_server_says_of_the_chat(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    chat = {"selectModel": "mock/mock-2", "variants": ["low"], "selectVariant": "low"}
    scoped = send("config/updated", {"chatId": "$chat", "chat": chat})
    later = send("config/updated", {"chat": {"defaultModel": MODEL, "selectAgent": "plan"}})
    other = send("config/updated", {"chatId": "no such chat", "chat": {"selectModel": "x/y"}})
    server = scripted_server(
        handshake(),
        turn(text("one")),
        expect("chat/selectedAgentChanged"),
        scoped,
        later,
        other,
        content({"type": "metadata", "title": "All told"}, "system"),
        turn(text("two")),
    )
    nvim = start_chat(start_nvim, server)
    said(nvim, "one")
    nvim.keys(":Eca agent plan<CR>")
    nvim.wait_screen(re.compile(r"All told +mock/mock-2 · plan/low"))
    said(nvim, "two")
    prompt = server.received("chat/prompt")[1]["params"]
    assert (prompt["model"], prompt["variant"], prompt["agent"]) == ("mock/mock-2", "low", "plan")


def test_the_next_chat_begins_with_what_was_last_chosen(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = start_chat(start_nvim, scripted_server(handshake()))
    nvim.wait_screen("mock/mock-1 · code")
    nvim.keys(":Eca model mock-2<CR>:Eca trust<CR>:Eca new<CR>")
    screen = nvim.wait_screen("mock/mock-2")
    nvim.wait_until("require('eca').status().model == 'mock/mock-2'")
    assert nvim.lua("return require('eca').status().trust") is False, screen


def test_an_interrupt_chooses_nothing(start_nvim: StartNeovim) -> None:
    """Neovim's own list, which raises an error then."""
    view = open_view(start_nvim)
    view.draw(CHOICES, ops.SetStatus(CHAT, STATUS))
    view.nvim.keys(":Eca model<CR>")
    view.nvim.wait_screen("2: ")
    view.nvim.keys("<C-c>")
    view.nvim.keys(":let g:after = mode()<CR>")
    assert view.nvim.eval("g:after") == "n"
    assert chosen(view) == []


def test_lists_are_shown_in_one_place() -> None:
    shown = [path for path in (REPOSITORY / "lua").rglob("*.lua") if SHOWN.search(path.read_text())]
    assert [path.name for path in shown] == ["choose.lua"]
