"""Text that comes back into the input is never sent as an answer, nor an answer as a prompt."""

from collections.abc import Callable, Mapping

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, answer_to, draw, question, sent, wait_sent
from tests.ui.test_answering import ask, field
from tests.ui.test_edit_prompt import ANSWER, DO, input_text
from tests.ui.test_guard import CLOCK, HALF_A_SECOND

pytestmark = pytest.mark.either_nvim


def start(start_nvim: StartNeovim, init: str = "", guard: int = 0) -> Neovim:
    """Open a chat without a host."""
    settings = {"approval": {"guard": guard}}
    nvim = start_nvim(init=init + WITHOUT_HOST, settings=settings, columns=80, lines=30)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    return nvim


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    return start(start_nvim)


def asked(nvim: Neovim) -> None:
    ask(nvim, question())
    nvim.wait_screen("Answer>")


def half_answered(nvim: Neovim) -> None:
    asked(nvim)
    nvim.keys("imau<Esc>")


def asked_with_a_draft(nvim: Neovim) -> None:
    nvim.keys("ihalf a thought<Esc>")
    ask(nvim, question())
    nvim.wait_until("#require('eca').pending() == 1")
    nvim.lua(ANSWER, CHAT)
    nvim.wait_screen("Answer>")
    nvim.keys("<Esc>")


def asked_by_a_form(nvim: Neovim) -> None:
    ask(nvim, field("1", empty="skip"))
    nvim.wait_screen("Answer>")


def asked_for_a_secret(nvim: Neovim) -> None:
    asked_by_a_form(nvim)
    ask(nvim, field("2", secret=True))
    nvim.wait_screen("type the secret")


def asked_in_an_edit(nvim: Neovim) -> None:
    nvim.lua(DO, "edit", 1)
    asked_with_a_draft(nvim)


USES: Mapping[str, Callable[[Neovim], None]] = {
    it.__name__: it
    for it in (
        asked,
        half_answered,
        asked_with_a_draft,
        asked_by_a_form,
        asked_for_a_secret,
        asked_in_an_edit,
    )
}
"""What the input can take besides prompts."""


def refused(nvim: Neovim, text: str) -> None:
    """Let the host give a text back: a refused prompt, one of the queue, a late reason."""
    draw(nvim, ["input", CHAT, text])


def adopted(nvim: Neovim, text: str) -> None:
    draw(nvim, ["draft", CHAT, text, True])


def typed_too_late(nvim: Neovim, text: str) -> None:
    nvim.lua("require('eca.input.decide').keep(...)", CHAT, text, "this is no longer pending")


def chosen_again(nvim: Neovim, text: str) -> None:
    draw(nvim, ["prompts", [text]])
    nvim.keys(":Eca prompts<CR>")
    nvim.wait_screen(text.replace("\n", " ⏎ "))
    nvim.keys("1<CR>")


def held_by_its_size(nvim: Neovim, text: str) -> None:
    nvim.lua("require('eca.context').held = function() return '9 MiB' end")
    nvim.lua("require('eca.actions.prompts').send(..., {})", text)


def filled_in(nvim: Neovim, text: str) -> None:
    nvim.lua("require('eca.actions.templates').run('mine', true, { range = 0 })")
    found = {"questions": [], "kinds": [], "digest": "1"}
    draw(nvim, ["answer", wait_sent(nvim, "prepare_template")[-1]["request"], found])
    wanted = wait_sent(nvim, "expand_template")[-1]
    draw(nvim, ["answer", wanted["request"], {"text": text, "own": text}])


WAYS = (refused, adopted, typed_too_late, chosen_again, held_by_its_size, filled_in)
"""How a text comes into the input that is not typed there now."""


@pytest.mark.parametrize("use", USES)
def test_what_comes_back_waits_until_the_input_takes_prompts(stage: Neovim, use: str) -> None:
    USES[use](stage)
    before, texts = input_text(stage), [f"delete\n{way.__name__}" for way in WAYS]
    for way, text in zip(WAYS, texts, strict=True):
        stage.command("messages clear")
        way(stage, text)
        wait_said(stage, "your text comes back after it")
        assert input_text(stage) == before
        stage.wait_for(lambda: text in saved(stage), "it to be saved")  # noqa: B023
    is_secret = USES[use] is asked_for_a_secret
    stage.keys("<Esc>:EcaChat<CR>")
    stage.keys("i<C-s>s3c<CR><Esc>" if is_secret else "A mauve<C-s><Esc>")
    [answer] = wait_sent(stage, "answer")
    assert answer["text"] == ("s3c" if is_secret else f"{before} mauve")
    ask(stage)
    stage.wait_for(lambda: all(it in input_text(stage) for it in texts), "all to be back")
    assert sent(stage, "prompt") == []


@pytest.mark.parametrize("way", WAYS, ids=lambda it: str(it.__name__))
def test_what_comes_back_is_in_an_input_that_is_locked(
    stage: Neovim, way: Callable[[Neovim, str], None]
) -> None:
    stage.keys("ihalf a thought<Esc>:set nomodifiable<CR>")
    way(stage, "later\non")
    stage.wait_for(lambda: "later\non\nhalf" in input_text(stage), "it to be back")
    stage.lua("require('eca.context').held = function() end")
    stage.keys(":EcaChat<CR><Esc>:set nomodifiable<CR><CR>")
    assert wait_sent(stage, "prompt")[0]["text"] == "later\non\nhalf a thought"
    assert input_text(stage) == ""


def wait_said(nvim: Neovim, words: str) -> None:
    nvim.wait_until(f"vim.fn.execute('messages'):find('{words}')")


def saved(nvim: Neovim) -> str:
    """Return the draft that the host has got last."""
    return "".join(str(it["text"]) for it in sent(nvim, "keep_draft")[-1:])


def test_what_comes_back_as_the_question_goes_is_a_draft_at_once(stage: Neovim) -> None:
    half_answered(stage)
    draw(stage, ["pending", []], ["input", CHAT, "later on"])  # as when the host has ended
    stage.wait_for(lambda: input_text(stage) == "later on\nmau", "the text to be back")
    wait_said(stage, "what you typed is a prompt now")
    stage.keys("<Esc>")
    assert "comes back after it" not in str(stage.eval("execute('messages')"))


# --- keys that were pressed before ----------------------------------------------------------------


@pytest.fixture
def timed(start_nvim: StartNeovim) -> Neovim:
    """Open a chat with guard time; the test has the clock."""
    return start(start_nvim, CLOCK, 300)


def test_a_key_that_sent_a_prompt_sends_no_answer(timed: Neovim) -> None:
    ask(timed, field("1", empty="skip"))
    timed.wait_screen("Answer>")
    timed.keys("i<C-s>y<C-s><Esc>")
    wait_said(timed, "what the input takes has just changed")
    assert sent(timed, "answer") == []
    timed.lua(HALF_A_SECOND)
    timed.keys("<CR>")
    assert wait_sent(timed, "answer") == [answer_to("1", text="y")]
    ask(timed, field("2", empty="skip"))
    timed.wait_until("require('eca').pending()[1].digest == '2'")
    timed.keys("<CR>in<C-s>")
    assert len(sent(timed, "answer")) == 1
    timed.keys("<M-CR>")  # this key is for a prompt in any case
    assert wait_sent(timed, "prompt")[0]["text"] == "n"


def test_a_prompt_typed_after_an_answer_is_sent_at_once(timed: Neovim) -> None:
    ask(timed, question())
    timed.wait_screen("Answer>")
    timed.lua("require('eca').answer('by a script')")
    ask(timed)
    timed.wait_screen(lambda screen: "Answer>" not in screen)
    timed.keys("igo on<C-s><Esc>")
    assert wait_sent(timed, "prompt")[0]["text"] == "go on"


def test_a_key_that_sent_an_answer_sends_no_prompt(timed: Neovim) -> None:
    ask(timed, question())
    timed.wait_screen("Answer>")
    timed.keys("iyes, all")
    ask(timed)
    timed.wait_screen("> yes, all")
    timed.keys("<C-s><Esc>")
    wait_said(timed, "what you typed is a prompt now")
    assert sent(timed, "prompt") == sent(timed, "answer") == []
    timed.lua(HALF_A_SECOND)
    timed.keys("<CR>")
    assert wait_sent(timed, "prompt")[0]["text"] == "yes, all"


def test_no_answer_takes_the_place_of_a_prompt_that_is_being_sent(stage: Neovim) -> None:
    stage.lua(DO, "edit", 1)
    stage.lua("require('eca.chat.buffers').get(...).edit.sending = true", CHAT)
    ask(stage, question())
    stage.wait_screen("the agent asks")
    stage.lua(ANSWER, CHAT)
    wait_said(stage, "the prompt is being sent: answer after that")
    stage.lua(DO, "empty", "")
    ask(stage, question(digest="2"))
    stage.wait_until("require('eca').pending()[1].digest == '2'")
    assert "Answer>" not in stage.screen
