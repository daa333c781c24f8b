"""Hooks, links, images, flags, unknown content."""

from __future__ import annotations

import pytest
from tests.chat.driver import Driver, said

from eca_nvim.chat.model.blocks import Block
from eca_nvim.chat.render.block import _RENDERERS
from eca_nvim.chat.user_actions.folding import open_link
from eca_nvim.chat.vocabulary.events import FlagReceived, ReasoningText, UnknownReceived
from eca_nvim.chat.vocabulary.ops import Notify, OpenExternal
from eca_nvim.chat.vocabulary.turn_events import (
    HookFinished,
    HookStarted,
    ImageReceived,
    LinkReceived,
)


def kinds(base: type[Block]) -> set[type[Block]]:
    """Return the classes of blocks that have none below them."""
    below = base.__subclasses__()
    return set().union(*map(kinds, below)) if below else {base}


def test_every_kind_of_block_can_be_shown() -> None:
    assert set(_RENDERERS) == kinds(Block)


def test_a_hook_shows_how_it_ended() -> None:
    driver = Driver()
    driver.hear(HookStarted("h", "lint"))
    assert driver.view.lines == ["⚙ lint …"]
    driver.hear(HookFinished("h", "lint", 0, "fine"))
    assert driver.view.lines == ["⚙ lint"]
    driver.toggle(1)
    assert driver.view.lines == ["⚙ lint", "  output  fine"]


def test_a_failed_hook_opens() -> None:
    driver = Driver()
    driver.hear(HookFinished("h", "lint", 2, "out", "bad"))
    assert driver.view.lines == ["✗ lint exit 2", "  output  out", "  error   bad"]


def test_a_hook_may_run_again() -> None:
    driver = Driver()
    driver.hear(HookFinished("h", "lint", 0), HookStarted("h", "lint"))
    assert driver.view.lines == ["⚙ lint", "⚙ lint …"]


def test_a_link_is_opened_only_on_the_web() -> None:
    driver = Driver()
    driver.hear(LinkReceived("Docs", "https://x.org"), LinkReceived("Bad", "file:///etc/passwd"))
    assert driver.view.lines == ["↗ Docs https://x.org", "↗ Bad file:///etc/passwd"]
    assert open_link(driver.chat, 1, 0).ops == [OpenExternal("https://x.org")]
    assert isinstance(open_link(driver.chat, 2, 0).ops[0], Notify)


def test_an_image_is_a_line() -> None:
    driver = Driver()
    driver.hear(ImageReceived("image/png", "aGVsbG8="))
    assert driver.view.lines[0] == "▣ image/png 1 KB"
    assert open_link(driver.chat, 1, 0).ops == open_link(driver.chat, 99, 0).ops == []


def test_flags_and_unknown_content_are_shown_plainly() -> None:
    driver = Driver()
    driver.hear(FlagReceived("here\nit is", "c"), UnknownReceived("hologram", '{"a": 1}'))
    assert driver.view.lines == ["⚑ here it is", "· hologram", '  {"a": 1}']


@pytest.mark.parametrize("to_open", [True, False])
def test_all_blocks_fold_but_what_is_said(to_open: bool) -> None:
    driver = Driver()
    driver.run()
    driver.hear(ReasoningText("r", "hm"), *said("Hi"), HookFinished("h", "lint", 0, "out"))
    driver.toggle(0, to_open=to_open)
    driver.toggle(1)
    opened = ["hello", "▾ thinking…", "  hm", "Hi", "⚙ lint", "  output  out"]
    closed = ["hello", "▸ thinking…", "Hi", "⚙ lint"]
    assert driver.view.lines == (opened if to_open else closed)
    driver.toggle(0)
    assert driver.view.lines == (closed if to_open else opened)
