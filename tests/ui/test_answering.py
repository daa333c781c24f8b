"""The input while a question waits: it takes the answer, and never by accident."""

from collections.abc import Mapping

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, answer_to, approval, draw, question, sent, wait_sent

pytestmark = pytest.mark.either_nvim


@pytest.fixture(params=[80, 160])
def stage(start_nvim: StartNeovim, request: pytest.FixtureRequest) -> Neovim:
    """Open a chat without a host, in a narrow and in a wide Neovim."""
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim(init=WITHOUT_HOST, settings=settings, columns=request.param, lines=40)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    return nvim


def ask(nvim: Neovim, *items: object) -> None:
    draw(nvim, ["pending", list(items)])


def test_an_empty_input_is_for_the_answer(stage: Neovim) -> None:
    ask(stage, question())
    screen = stage.wait_screen("Answer> type an answer · <C-s> sends")
    assert "? Which colour?" in screen
    stage.keys("imauve<C-s>")
    assert wait_sent(stage, "answer") == [answer_to("q1", text="mauve")]
    assert sent(stage, "prompt") == []
    stage.wait_screen(lambda screen: "Answer>" not in screen and "> type here" in screen)


def test_an_answer_of_several_lines_is_aligned(stage: Neovim) -> None:
    ask(stage, question())
    stage.wait_screen("Answer>")
    stage.keys("imauve<CR>or pink")
    screen = stage.wait_screen("Answer> mauve")
    row, column = screen.find("mauve")
    assert screen.find("or pink") == (row + 1, column)


def test_a_prompt_that_is_being_typed_stays_one(stage: Neovim) -> None:
    stage.keys("ihalf a thought")
    ask(stage, question())
    stage.wait_screen("the agent asks")
    assert "Answer>" not in stage.screen
    stage.keys("<C-s>")
    assert [prompt["text"] for prompt in wait_sent(stage, "prompt")] == ["half a thought"]
    assert sent(stage, "answer") == []


def test_a_prompt_that_made_room_for_an_answer_comes_back(stage: Neovim) -> None:
    stage.keys("ihalf a thought<Esc>")
    ask(stage, question())
    stage.wait_screen("the agent asks")
    stage.keys(":Eca approval<CR>imauve")
    stage.wait_screen(lambda screen: "Answer> mauve" in screen and "half a" not in screen)
    stage.keys("<C-s>")
    assert wait_sent(stage, "answer")[0]["text"] == "mauve"
    stage.wait_screen("> half a thought")


def test_a_question_that_goes_leaves_what_was_typed(stage: Neovim) -> None:
    ask(stage, question())
    stage.wait_screen("Answer>")
    stage.keys("imau")
    ask(stage)
    stage.wait_screen(lambda screen: "> mau" in screen and "Answer>" not in screen)
    stage.keys("<Esc>")
    stage.wait_screen("what you typed is a prompt now")
    assert sent(stage, "answer") == []


def test_a_question_with_fixed_answers_takes_no_words(stage: Neovim) -> None:
    ask(stage, question(freeform=False))
    stage.wait_screen("the agent asks")
    assert "Answer>" not in stage.screen


def test_a_queued_prompt_is_no_answer(stage: Neovim) -> None:
    ask(stage, question())
    stage.wait_screen("Answer>")
    stage.keys("ilater<M-CR>")
    assert wait_sent(stage, "prompt")[0]["queue"] is True
    assert sent(stage, "answer") == []


def test_several_questions_are_answered_one_after_the_other(stage: Neovim) -> None:
    both = [question(), approval(), question("q2", title="And size?", detail="And size?")]
    ask(stage, *both)
    stage.wait_screen("the agent asks (1/3)")
    stage.keys("imauve<C-s>")
    wait_sent(stage, "answer")
    stage.wait_screen("allow this? (2/3)")
    ask(stage, *both[1:])
    stage.wait_screen(lambda screen: "allow this? (1/2)" in screen and "? And size?" in screen)
    stage.keys("big<C-s>")
    assert wait_sent(stage, "answer", 2)[1] == answer_to("q2", text="big")


def test_enter_on_the_block_that_asks_offers_its_options(stage: Neovim) -> None:
    header = [["? Which colour?", "EcaQuestion"]]
    draw(stage, ["open", CHAT, 1, "tool", header, 0, None], ["pending", [question(block=1)]])
    stage.wait_screen("Answer>")
    stage.keys("<C-w>kgg<CR>")
    stage.wait_screen("answer in my own words")
    stage.keys("1<CR>")
    assert wait_sent(stage, "answer")[0]["text"] == "red"


def test_enter_on_what_was_left_out_of_a_question_shows_all_of_it(stage: Neovim) -> None:
    header = [["? Which colour?", "EcaQuestion"]]
    body = ["body", CHAT, 1, ["1. red", "… 9 more lines"], [[1, 0, -1, "EcaMore"]], ""]
    draw(stage, ["open", CHAT, 1, "tool", header, 0, None], body)
    draw(stage, ["pending", [question(block=1)]])
    stage.wait_screen("Answer>")
    stage.keys("<C-w>kG<CR>")
    assert wait_sent(stage, "output") == [{"chat": CHAT, "block": 1, "row": 1}]
    assert "answer in my own words" not in stage.screen


def field(digest: str, **more: object) -> Mapping[str, object]:
    """Return a field of a form; each one has a digest of its own."""
    return {**question(digest=digest, picks=True), **more}


def test_the_fields_of_a_form_follow_one_another_and_then_the_draft_is_back(stage: Neovim) -> None:
    stage.keys("ihalf a thought<Esc>")
    ask(stage, field("1", place="1 of 3"))
    stage.wait_screen("the agent asks · 1 of 3")
    stage.keys(":Eca approval<CR>imauve<C-s>")
    assert wait_sent(stage, "answer")[0]["text"] == "mauve"
    ask(stage, field("2", place="2 of 3", fault="no such colour", typed="mauve", empty="skip"))
    stage.wait_screen("! no such colour")
    stage.wait_screen("Answer> mauve")
    stage.keys("<C-u><C-s>")
    assert wait_sent(stage, "answer", 2)[1]["text"] == ""
    ask(stage, field("3", place="3 of 3", secret=True))
    stage.wait_screen("Answer> type the secret, hidden · <C-s> asks")
    stage.keys("s3cret")
    stage.wait_screen("(hidden): ******")
    assert "s3cret" not in stage.screen
    stage.keys("<CR>")
    assert wait_sent(stage, "answer", 3)[2]["text"] == "s3cret"
    ask(stage)
    stage.wait_screen("> half a thought")
    assert sent(stage, "prompt") == []


def test_a_secret_that_is_asked_for_no_more_is_no_prompt(stage: Neovim) -> None:
    ask(stage, field("1", secret=True))
    stage.wait_screen("type the secret")
    stage.keys("is3c")
    stage.wait_screen("(hidden): ***")
    ask(stage)
    stage.wait_until("#require('eca').pending() == 0")
    stage.keys("ret<CR><Esc>")
    stage.wait_screen("no longer pending")
    assert "s3c" not in stage.screen
    assert stage.buffer_lines() == [""]
    assert sent(stage, "prompt") == sent(stage, "answer") == []


def test_a_chat_that_is_deleted_while_it_asks_is_gone(stage: Neovim) -> None:
    ask(stage, field("1", secret=True))
    stage.wait_screen("type the secret")
    draw(stage, ["pending", []], ["forget", CHAT])
    stage.wait_until("#require('eca').pending() == 0")
    assert not stage.lua("return vim.list_contains(require('eca.chat.buffers').ids(), ...)", CHAT)


def test_an_input_that_was_wiped_is_for_prompts_again(stage: Neovim) -> None:
    ask(stage, question())
    stage.wait_screen("Answer>")
    stage.command("bwipeout!")
    ask(stage)
    stage.wait_until("#require('eca').pending() == 0")
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.keys("ia prompt<C-s>")
    assert [prompt["text"] for prompt in wait_sent(stage, "prompt")] == ["a prompt"]
    assert sent(stage, "answer") == []


def test_a_secret_takes_no_key_from_a_prompt_that_is_typed(stage: Neovim) -> None:
    stage.keys("imy")
    ask(stage, field("1", secret=True))
    stage.wait_until("#require('eca').pending() == 1")
    stage.keys(" words<C-s><Esc>")
    assert wait_sent(stage, "prompt")[0]["text"] == "my words"
    stage.lua("require('eca.config').get().approval.guard = 1e9")
    ask(stage, field("2", secret=True))
    stage.wait_until(f"require('eca.state.mirror').secret('{CHAT}').digest == '2'")
    stage.keys("ityping on")
    assert stage.buffer_lines() == ["typing on"]
    assert stage.mode == "i"


@pytest.mark.parametrize("ends", ["<Esc>", "<C-c>", "<CR>"])
def test_a_secret_that_is_not_typed_stays_pending(ends: str, stage: Neovim) -> None:
    ask(stage, field("1", secret=True))
    stage.wait_screen("type the secret")
    stage.keys(f"i<C-s>{'' if ends == '<CR>' else 's3c'}{ends}")
    stage.keys("<Esc>")
    assert stage.mode == "n"
    assert sent(stage, "answer") == []
    stage.keys("i<C-s>s3c<CR><Esc>")
    assert wait_sent(stage, "answer")[0]["text"] == "s3c"
