"""A prompt that is edited and sent again takes the place of all that came after it."""

import subprocess
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen, PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import expect, fail, handshake, reply, status, text, turn
from tests.support.servers import ScriptedServer
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, question, sent, wait_sent
from tests.ui.talk import draft, lines_of, prompts, say, start_chat, wait_idle, wait_line
from tests.ui.test_roll_back import ran, said, wrote
from tests.ui.undone import plan, planned

pytestmark = pytest.mark.either_nvim

HOST_GONE = """
local held, seen = require('eca.host.held_intents'), {}
local buffers, drafts = require('eca.chat.buffers'), require('eca.input.drafts')
local source = { ids = buffers.ids, forget = drafts.forget, flush = drafts.flush }
function source.text(id) return drafts.text(buffers.get(id)) end
local function nothing() end
held.listen({ draw = nothing, drafts = source, publish = nothing }, nothing)
held.expect(function() seen.answered = true end)
held.host_gone()
return seen
"""
ANSWER = """
local item = require('eca.state.mirror').pending(...)[1]
require('eca.input.answer_mode').write(item)
"""


@pytest.fixture
def server(scripted_server: PrepareScript, workspace: Path) -> ScriptedServer:
    code = workspace / "code.txt"
    code.write_text("1\n2\n3\n")
    return scripted_server(
        handshake(),
        turn(ran(code, workspace / "made.txt"), status("idle")),
        turn(wrote(code), status("idle")),
        expect("chat/rollback"),
        fail("chat/rollback", -32603, "not now"),
        expect("chat/rollback"),
        reply("chat/rollback", {}),
        turn(said("u3", "tidy less"), text("tidied less"), status("idle")),
    )


def edit(nvim: Neovim, prompt: str) -> None:
    """Press gs on a prompt."""
    nvim.keys("<Esc>:EcaChat<CR><Esc><C-w>k")
    nvim.keys(f"gg/{prompt}<CR>")
    nvim.input("gs")
    nvim.wait_for(lambda: draft(nvim) == prompt, "the prompt in the input")


def test_a_prompt_is_sent_again_with_its_files(
    start_nvim: StartNeovim, server: ScriptedServer, workspace: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    code, made = workspace / "code.txt", workspace / "made.txt"
    settings = {"approval": {"guard": 0}}
    nvim = start_chat(start_nvim, server, "code.txt", settings=settings, columns=80)
    for words in ("tidy up", "go on"):
        say(nvim, words)
        nvim.wait_screen("allow this?")
        nvim.command("Eca approve")
        nvim.wait_until("#require('eca').pending() == 0")
        wait_idle(nvim)
    nvim.keys("imy draft<Esc>")

    edit(nvim, "tidy up")
    nvim.wait_screen("edit · empty it to cancel")
    nvim.keys("dd")  # it cancels
    nvim.wait_for(lambda: draft(nvim) == "my draft", "the draft that was set aside")
    assert "empty it" not in nvim.screen

    edit(nvim, "tidy up")
    nvim.keys("cctidy less<Esc>")  # an empty line meanwhile cancels nothing
    nvim.input("<CR>")
    nvim.wait_screen('Send in place of "tidy up"')
    nvim.input("<CR>")  # an empty answer: nothing happens
    nvim.wait_screen(lambda screen: "Send in place of" not in screen)
    nvim.input("<CR>")
    nvim.wait_screen('Send in place of "tidy up"')
    nvim.input("2<CR>")
    nvim.wait_screen("undo turns 1 to 2: tidy up")
    nvim.keys("u")
    nvim.wait_screen("nothing was sent: your text is still in the input")
    assert draft(nvim) == "tidy less"
    assert (code.read_text(), made.exists()) == ("1\n2\n3\n", False)
    assert any("go on" in line for line in lines_of(nvim))

    nvim.keys(":EcaChat<CR><Esc>")
    nvim.input("<CR>")  # the files are back already
    wait_line(nvim, "tidied less")
    wait_idle(nvim)
    assert draft(nvim) == "my draft"
    assert prompts(server) == ["tidy up", "go on", "tidy less"]
    assert [it["params"]["include"] for it in server.received("chat/rollback")] == [
        ["messages"]
    ] * 2
    assert not any("go on" in line for line in lines_of(nvim))


# --- the view alone -------------------------------------------------------------------------------


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim without a host, with two prompts on the screen."""
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim(init=WITHOUT_HOST, settings=settings, columns=80, lines=24)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    for block, words in enumerate(("first", "second"), 1):
        ops = (["open", CHAT, block, "user", [], 0, None], ["append", CHAT, block, words])
        draw(nvim, *ops, ["close", CHAT, block])
    nvim.wait_screen("second")
    return nvim


def begin(nvim: Neovim, block: int, words: str) -> None:
    """Choose a prompt to edit, and answer with its text."""
    asked = len(sent(nvim, "timeline"))
    nvim.keys("<Esc><C-w>kgg")
    nvim.command(f"call search('^{words}', 'cw')")
    nvim.input("gs")
    wanted = wait_sent(nvim, "timeline", asked + 1)[-1]
    moment = {"block": block, "kind": "user", "title": words, "text": words}
    draw(nvim, ["answer", wanted["request"], [moment]])


def input_text(nvim: Neovim) -> str:
    return str(nvim.lua("return require('eca.input.field').of_chat(...)", CHAT))


def kept_text(nvim: Neovim) -> str:
    """Return what is saved, in case that Neovim ends."""
    code = "return require('eca.input.drafts').text(require('eca.chat.buffers').get(...))"
    return str(nvim.lua(code, CHAT))


def test_what_is_set_aside_is_saved_and_a_second_edit_waits(
    stage: Neovim, assert_screen: AssertScreen
) -> None:
    stage.keys("imine<Esc>")
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    assert_screen(stage, "edit_prompt")
    stage.keys("A changed<Esc>")
    assert kept_text(stage) == "mine\nfirst changed"
    begin(stage, 2, "second")
    stage.wait_screen("a prompt is being edited")
    assert input_text(stage) == "first changed"
    stage.lua("require('eca.input.drafts').forget()")  # its host is gone
    assert input_text(stage) == "mine\nfirst changed"
    assert kept_text(stage) == "mine\nfirst changed"


def test_a_prompt_that_is_gone_leaves_its_text(stage: Neovim) -> None:
    stage.keys("imine<Esc>")
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    draw(stage, ["remove", CHAT, 1])
    stage.wait_screen(lambda screen: "▌ first" not in screen)
    stage.keys("<CR>")
    stage.wait_screen("the prompt that you edit is gone: sending adds a new one")
    assert input_text(stage) == "mine\nfirst"
    assert sent(stage, "prompt") == sent(stage, "rollback") == []


def test_a_prompt_that_came_meanwhile_is_not_replaced_unasked(stage: Neovim) -> None:
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    ops = (["open", CHAT, 3, "user", [], 0, None], ["append", CHAT, 3, "third"])
    draw(stage, *ops, ["close", CHAT, 3])
    stage.wait_screen("▌ third")
    stage.keys("<CR>")
    stage.wait_screen("another prompt came after it: send again to replace both")
    assert sent(stage, "plan_undo") == []
    stage.keys("<CR>")
    assert wait_sent(stage, "plan_undo")[0]["since"] == 1


def test_a_question_takes_the_input_and_gives_it_back(stage: Neovim) -> None:
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    draw(stage, ["pending", [question()]])
    stage.wait_until("#require('eca').pending() == 1")
    stage.lua(ANSWER, CHAT)
    stage.wait_for(lambda: input_text(stage) == "", "the input to take an answer")
    stage.keys("<Esc>")
    assert kept_text(stage) == "first"
    draw(stage, ["pending", []])
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt again")
    stage.wait_screen("edit · empty it to cancel")
    draw(stage, ["pending", [question()]])
    stage.wait_until("#require('eca').pending() == 1")
    stage.lua(ANSWER, CHAT)
    stage.wait_for(lambda: input_text(stage) == "", "the input to take an answer")
    stage.keys("<Esc>")
    begin(stage, 2, "second")
    stage.wait_screen("a prompt is being edited")


def test_the_files_are_a_question_and_the_text_is_that_of_the_last_moment(
    stage: Neovim, workspace: Path
) -> None:
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    stage.keys("<CR>")
    wanted = wait_sent(stage, "plan_undo")[-1]
    assert (wanted["since"], wanted["messages"]) == (1, True)
    draw(stage, ["answer", wanted["request"], plan(planned(workspace / "code.txt"), turns=(1,))])
    stage.wait_screen("Send in place of")
    stage.input("1<CR>")
    wanted = wait_sent(stage, "rollback")[-1]
    assert (wanted["block"], wanted["messages"], wanted["tools"]) == (1, True, False)
    assert wanted["give_back"] is False
    stage.keys("<CR>")
    stage.wait_screen("the prompt is being sent")
    stage.keys("A, at last<Esc>")
    draw(stage, ["remove", CHAT, 1], ["answer", wanted["request"], True])
    [prompt] = wait_sent(stage, "prompt")
    assert prompt["text"] == "first, at last"
    assert input_text(stage) == ""


def test_the_question_names_what_runs_in_the_background(stage: Neovim) -> None:
    job = {"id": "j1", "title": "make watch", "state": "running", "background": True, "chat": CHAT}
    draw(stage, ["jobs", [job], "eca"])
    for lacks, does in (([], "leaves"), (["rollback"], "ends")):
        draw(stage, ["status", CHAT, {"state": "idle", "pending": 0, "lacks": lacks}])
        asked = len(sent(stage, "timeline"))
        stage.keys("<Esc><C-w>kgg")
        stage.input("gu")
        wanted = wait_sent(stage, "timeline", asked + 1)[-1]
        moment = {"block": 1, "kind": "user", "title": "first", "text": "first"}
        draw(stage, ["answer", wanted["request"], [moment]])
        jobs = f'Roll back to before "first". It {does} 1 job that runs, see :Eca jobs: make'
        screen = stage.wait_screen(jobs)
        assert ("start a new session with the rest" in screen) == bool(lacks)
        stage.input("<CR>")
        stage.wait_screen(lambda screen: "Roll back" not in screen)
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    stage.keys("<CR>")
    draw(stage, ["answer", wait_sent(stage, "plan_undo")[-1]["request"], plan()])
    screen = stage.wait_screen('Send in place of "first". It ends 1 job that runs')
    assert "both" not in screen
    stage.input("1<CR>")
    assert wait_sent(stage, "rollback")[-1]["messages"]


def test_an_edit_that_is_cancelled_before_the_last_question_undoes_nothing(
    stage: Neovim, workspace: Path
) -> None:
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    stage.keys("<CR>")
    planned_files = plan(planned(workspace / "code.txt"), turns=(1,))
    draw(stage, ["answer", wait_sent(stage, "plan_undo")[-1]["request"], planned_files])
    stage.wait_screen("Send in place of")
    stage.input("2<CR>")
    draw(stage, ["answer", wait_sent(stage, "plan_undo", 2)[-1]["request"], planned_files])
    stage.wait_screen("u undo")
    stage.lua(DO, "empty", "")
    stage.keys("u")
    stage.wait_screen("nothing was undone")
    assert sent(stage, "undo_turn") == sent(stage, "rollback") == []


DO = """
local name, value = ...
local chat = require('eca.chat.buffers').get('c1')
local field, edit = require('eca.input.field'), require('eca.input.edit')
local draft = field.draft(chat.input)
local acts = {
  type = function()
    field.set_draft(chat.input, draft .. ' ' .. value)
  end,
  edit = function()
    edit.begin(chat, value, 'prompt' .. value, function(steps)
      _G.steps = steps.begins() and steps or nil
    end)
  end,
  empty = function()
    field.set_draft(chat.input, '')
    if chat.edit then
      chat.edit.changed()
    end
  end,
  send = function()
    require('eca.input').submit(chat, draft, false)
  end,
  answer = function()
    local steps = _G.steps
    _G.steps = nil
    if steps then
      steps.done(value)
    end
  end,
  look = function()
    require('eca.input').recall(chat, value)
  end,
  back = function()
    field.put_back(chat.input, value)
  end,
  write = function()
    local item = require('eca.state.mirror').pending('c1')[1]
    if item then
      require('eca.input.answer_mode').write(item)
    end
  end,
  gone = function()
    _G.steps = nil
    require('eca.input.drafts').forget()
  end,
}
acts[name]()
return { draft, require('eca.input.drafts').text(chat) }
"""
"""Lua code that does one thing; returns the input before it, and what is saved after it."""
ACTS = st.one_of(
    st.just(("type", "")),
    st.tuples(st.just("edit"), st.sampled_from([1, 2])),
    st.tuples(st.just("answer"), st.booleans()),
    st.tuples(st.just("look"), st.sampled_from([-1, 1])),
    st.tuples(st.just("ask"), st.booleans()),
    *(st.just((name, "")) for name in ("empty", "send", "gone", "back", "write")),
)
NUMBERS = count()


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(acts=st.lists(ACTS, max_size=14))
def test_no_text_is_lost_whatever_is_done_in_which_order(
    stage: Neovim, acts: list[tuple[str, Value]]
) -> None:
    typed: set[str] = set()
    draw(stage, ["pending", []])
    stage.lua(DO, "gone", "")
    stage.lua(DO, "empty", "")
    before = {name: len(sent(stage, name)) for name in ("prompt", "answer")}
    for name, value in acts:
        word = f"word{next(NUMBERS)}"
        if name == "ask":
            draw(stage, ["pending", [question()] if value else []])
            continue
        puts = name in ("type", "back")
        shown, saved = stage.lua(DO, name, word if puts else value)
        if puts:
            typed.add(word)
        elif name == "empty":  # the user has removed them
            typed -= set(shown.split())
        told = [it["text"] for kind, first in before.items() for it in sent(stage, kind)[first:]]
        assert typed <= {*saved.split(), *" ".join(told).split()}


@pytest.mark.parametrize("wiped", [True, False])
def test_an_edit_whose_input_was_wiped_ends_with_its_host(wiped: bool, stage: Neovim) -> None:
    stage.keys("imine<Esc>")
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    if wiped:
        stage.keys(":bwipeout!<CR>")
    held = stage.lua(HOST_GONE)
    assert held == {"answered": True}
    assert input_text(stage) == kept_text(stage) == "mine\nfirst"
    stage.assert_no_errors()


def test_an_input_that_is_wiped_while_its_prompt_is_sent_sends_it(
    stage: Neovim, workspace: Path
) -> None:
    stage.keys("imine<Esc>")
    begin(stage, 1, "first")
    stage.wait_for(lambda: input_text(stage) == "first", "the prompt")
    stage.keys("<CR>")
    files = plan(planned(workspace / "code.txt"), turns=(1,))
    draw(stage, ["answer", wait_sent(stage, "plan_undo")[-1]["request"], files])
    stage.wait_screen("Send in place of")
    stage.input("1<CR>")
    wanted = wait_sent(stage, "rollback")[-1]
    stage.command("bwipeout!")
    draw(stage, ["answer", wanted["request"], True])
    assert wait_sent(stage, "prompt")[0]["text"] == "first"
    assert input_text(stage) == "mine"
