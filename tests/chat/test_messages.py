"""Messages and thoughts; numbers are findings about real servers."""

from __future__ import annotations

from tests.chat.driver import ENDED, Driver, call, said, system, user

from eca_nvim.chat.handlers.reducer import apply
from eca_nvim.chat.model.blocks import StreamedBlock
from eca_nvim.chat.vocabulary.events import (
    NoticeReceived,
    ReasoningFinished,
    ReasoningStarted,
    ReasoningText,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.ops import AppendText, BlockKind, CloseBlock


def test_a_chunk_costs_one_append_however_long_the_chat() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*said("a"))
    changes = apply(driver.chat, said("b")[0], driver.now)
    assert changes.ops == [AppendText("chat", 2, "b")]
    assert not changes.effects
    assert not changes.pending_changed


def test_leading_newlines_of_an_answer_are_not_shown_21() -> None:
    driver = Driver()
    driver.hear(user("\nhello"), *said("\n", "\n", "Hi\n", "\nthere"))
    assert driver.view.lines == ["hello", "Hi", "", "there"]


def test_text_cut_within_a_glyph_is_whole_again_13() -> None:
    driver = Driver()
    driver.hear(
        *said("\U0001f469", "\u200d\U0001f52c e", "\u0301", "\ud83d", "\ude00 one\r", "\ntwo")
    )
    assert driver.view.lines == ["\U0001f469\u200d\U0001f52c e\u0301\U0001f600 one", "two"]


def test_what_has_ended_keeps_one_text_and_no_tokens() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ReasoningStarted("r"), ReasoningText("r", "hm"), ReasoningText("r", "m"))
    driver.hear(*said("o", "n", "e"), ReasoningFinished("r"), ENDED)
    ended = [it for it in driver.chat.blocks.values() if isinstance(it, StreamedBlock)]
    assert [it.chunks for it in ended] == [["hello"], ["hmm"], ["one"]]


def test_half_a_pair_at_the_end_is_replaced() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*said("x\ud83d"), ENDED)
    assert driver.view.said(BlockKind.ASSISTANT) == "x�"


def test_an_answer_goes_on_in_a_new_block_after_a_tool_call() -> None:
    driver = Driver()
    driver.hear(*said("before"), ToolRequested(call()), *said("after"))
    assert driver.view.lines == ["before", "… read", "after"]
    assert driver.view.blocks[0].closed
    assert not driver.view.blocks[2].closed


def test_a_system_text_is_a_note_and_an_empty_one_nothing() -> None:
    driver = Driver()
    driver.hear(system("\nPrompt stopped\n"), system("\n"), NoticeReceived("broken", is_error=True))
    assert [shown.kind for shown in driver.view.blocks] == [BlockKind.SYSTEM, BlockKind.NOTE]
    assert all(shown.closed for shown in driver.view.blocks)
    assert driver.view.lines == ["Prompt stopped", "broken"]


def test_a_thought_streams_when_open_and_tells_its_time() -> None:
    driver = Driver()
    driver.hear(ReasoningStarted("r"), ReasoningText("r", "\nLet me"))
    assert driver.view.lines == ["▸ thinking…"]
    driver.toggle(1)
    assert driver.view.lines == ["▾ thinking…", "  Let me"]
    driver.hear(ReasoningText("r", " think.\nSo"), ReasoningFinished("r", 4132))
    assert driver.view.lines == ["▾ thought 4s", "  Let me think.", "  So"]
    driver.toggle(1)
    assert driver.view.lines == ["▸ thought 4s"]


def test_a_thought_may_end_after_the_answer_began_13() -> None:
    driver = Driver()
    driver.hear(ReasoningStarted("r"), ReasoningText("r", "hm"), *said("The "))
    driver.hear(ReasoningFinished("r", 132), *said("answer"))
    assert driver.view.lines == ["▸ thought 0.1s", "The answer"]


def test_thoughts_and_answer_interleave_by_id() -> None:
    driver = Driver()
    driver.hear(ReasoningText("a", "1"), ReasoningText("b", "2"), *said("x"))
    driver.hear(ReasoningText("a", "3"), *said("y"))
    driver.toggle(0, to_open=True)
    assert driver.view.lines == ["▾ thinking…", "  13", "▾ thinking…", "  2", "xy"]


def test_a_thought_that_never_finished_ends_with_the_turn() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ReasoningText("r", "hm"))
    driver.now += 2000
    driver.hear(ENDED, ReasoningFinished("r", 9000))
    assert driver.view.lines == ["hello", "▸ thought 2s"]


def test_control_characters_and_escapes_are_harmless() -> None:
    driver = Driver()
    driver.hear(*said("\x1b[3", "1mred\x1b[0m \x00\x07", "\x1b]0;title\x07end"))
    assert driver.view.lines == ["red ␀␇end"]


def test_a_finished_block_is_closed_once() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*said("x"))
    ops = apply(driver.chat, ENDED, driver.now).ops
    assert [op for op in ops if isinstance(op, CloseBlock)] == [CloseBlock("chat", 2)]
