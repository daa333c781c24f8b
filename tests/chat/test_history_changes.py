"""Changes of a history by the user: the view follows, and nothing else changes."""

from __future__ import annotations

from tests.chat.driver import ENDED, Driver, call, said, system

from eca_nvim.chat.model.blocks import FlagBlock
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.user_actions import history_edits
from eca_nvim.chat.user_actions.history_edits import ForkPoint
from eca_nvim.chat.vocabulary.call_details import Subagent
from eca_nvim.chat.vocabulary.events import (
    FlagReceived,
    ReasoningStarted,
    Role,
    TextReceived,
    ToolFinished,
    ToolPreparing,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import FilesChanged, RemoveBlock, SetInput
from eca_nvim.chat.vocabulary.turn_events import LoginBegan

READ = call("r1", arguments={"path": "/workspace/b.py"})


def talked() -> Driver:
    """Live through two turns: prompt, call and answer, then a prompt with a thought and a note."""
    driver = Driver()
    for number, rest in ((1, [ToolFinished(READ, ("ok",))]), (2, [ReasoningStarted("th")])):
        driver.send(f"prompt {number}")
        driver.hear(TextReceived(Role.USER, f"prompt {number}\n", f"u{number}"), *rest)
        driver.hear(*said(f"answer {number}"), ENDED)
    driver.hear(system("a note"))
    return driver


def block(driver: Driver, text: str) -> int:
    """Find a block by what it shows."""
    [found] = [it.id for it in driver.view.blocks if text in "\n".join([it.header, *it.body])]
    return found


def test_the_nearest_id_before_a_block_is_taken() -> None:
    driver = talked()
    places = {
        text: (history_edits.anchor_of(driver.chat, block(driver, text)) or (None, ""))[1]
        for text in ("prompt 1", "read", "answer 1", "prompt 2", "thought", "a note")
    }
    assert places == {
        "prompt 1": "u1",
        "read": "r1",
        "answer 1": "r1",
        "prompt 2": "u2",
        "thought": "th",
        "a note": "th",
    }
    assert (history_edits.anchor_of(driver.chat, 0) or (None, ""))[1] == "th"
    assert history_edits.anchor_of(driver.chat, 99) is None
    assert history_edits.anchor_of(Driver().chat, 0) is None


def test_a_block_belongs_to_the_prompt_before_it() -> None:
    driver = talked()
    for text, prompt in (("answer 1", "prompt 1"), ("prompt 2", "prompt 2"), ("note", "prompt 2")):
        found = history_edits.prompt_of(driver.chat, block(driver, text))
        assert found is not None
        assert found.text == prompt
    assert history_edits.prompt_of(Driver().chat, 0) is None


def test_a_nested_block_stands_for_its_call() -> None:
    driver = talked()
    spawn = call("sp", "spawn_agent", details=Subagent("explorer", "sub"))
    driver.hear(ToolRunning(spawn))
    driver.hear(*said("inside"), child="sub")
    inside = driver.chat.lanes["sub"].blocks[0]
    assert (history_edits.anchor_of(driver.chat, inside.id) or (None, ""))[1] == "sp"


class TestCut:
    """Where a copy of a chat ends."""

    def test_a_prompt_is_written_anew(self) -> None:
        driver = talked()
        point = history_edits.fork_point(driver.chat, block(driver, "prompt 2"))
        assert point == history_edits.ForkPoint("u2", is_prompt=True, rewrite=True)

    def test_a_turn_ends_before_the_next_prompt(self) -> None:
        driver = talked()
        for text in ("read", "answer 1"):
            point = history_edits.fork_point(driver.chat, block(driver, text))
            assert point == history_edits.ForkPoint("u2", is_prompt=True)

    def test_the_last_turn_ends_with_what_has_a_name(self) -> None:
        driver = talked()
        assert history_edits.fork_point(driver.chat, block(driver, "answer 2")) == ForkPoint("th")
        driver.run("more")
        driver.hear(*said("yes"))
        assert history_edits.fork_point(driver.chat, 0) is None
        assert history_edits.fork_point(Driver().chat, 0) is None

    def test_a_prompt_without_a_name(self) -> None:
        driver = talked()
        driver.run("more")
        assert history_edits.fork_point(driver.chat, 0) is None


class TestRollback:
    """The message and all after it go."""

    def test_the_text_goes_back_into_the_input(self) -> None:
        driver = talked()
        driver.view.other.clear()
        prompt = history_edits.prompt_of(driver.chat, block(driver, "prompt 2"))
        assert prompt is not None
        driver.take(history_edits.roll_back(driver.chat, prompt, driver.now))
        assert driver.view.lines == ["prompt 1", "✓ read b.py", "answer 1"]
        assert driver.view.other == [SetInput("chat", "prompt 2")]
        assert driver.chat.root.reasoning == {}
        assert list(driver.chat.root.calls) == ["r1"]

    def test_subagents_go_along(self) -> None:
        driver = talked()
        spawn = call("sp", "spawn_agent", details=Subagent("explorer", "sub"))
        driver.hear(ToolRunning(spawn))
        driver.hear(*said("inside"), child="sub")
        driver.toggle(driver.chat.root.calls["sp"].id, to_open=True)
        prompt = history_edits.prompt_of(driver.chat, 0)
        assert prompt is not None
        driver.take(history_edits.roll_back(driver.chat, prompt, driver.now))
        assert driver.view.lines == ["prompt 1", "✓ read b.py", "answer 1"]
        assert list(driver.chat.lanes) == ["chat"]
        assert driver.chat.anchors == {}

    def test_the_chat_goes_on(self) -> None:
        driver = talked()
        prompt = history_edits.prompt_of(driver.chat, block(driver, "prompt 1"))
        assert prompt is not None
        driver.take(history_edits.roll_back(driver.chat, prompt, driver.now))
        assert driver.view.lines == []
        driver.run("again")
        driver.hear(ToolPreparing(READ), *said("yes"))
        assert driver.view.lines == ["again", "… read b.py", "yes"]

    def test_once_is_enough(self) -> None:
        driver = talked()
        prompt = history_edits.prompt_of(driver.chat, 0)
        assert prompt is not None
        history_edits.roll_back(driver.chat, prompt, driver.now)
        assert history_edits.roll_back(driver.chat, prompt, driver.now).ops == []

    def test_files_are_to_be_read_again(self) -> None:
        driver = talked()
        [op] = history_edits.files_restored(driver.chat, driver.now).ops
        assert op == FilesChanged("chat", ())


class TestFlags:
    """A flag comes and goes without anything else being drawn."""

    def test_after_a_block(self) -> None:
        driver = talked()
        after, _ = history_edits.anchor_of(driver.chat, block(driver, "answer 1")) or (None, "")
        assert after is not None
        changes = driver.take(
            history_edits.add_flag(driver.chat, after, "f1", "my\nflag", driver.now)
        )
        assert driver.view.lines[:4] == ["prompt 1", "✓ read b.py", "⚑ my flag", "answer 1"]
        assert {getattr(op, "block", None) for op in changes.ops} == {8}

    def test_while_the_model_speaks(self) -> None:
        driver = talked()
        driver.run("more")
        driver.hear(*said("one "))
        prompt = history_edits.prompt_of(driver.chat, 0)
        assert prompt is not None
        driver.take(history_edits.add_flag(driver.chat, prompt, "f1", "here", driver.now))
        driver.hear(*said("two"))
        assert driver.view.lines[-3:] == ["more", "⚑ here", "one two"]

    def test_one_is_taken_away(self) -> None:
        driver = talked()
        driver.hear(FlagReceived("here", "f1"))
        flag = driver.chat.root.blocks[-1]
        assert isinstance(flag, FlagBlock)
        [op] = driver.take(history_edits.remove_flag(driver.chat, flag, driver.now)).ops
        assert op == RemoveBlock("chat", flag.id)
        assert "here" not in driver.view.text
        assert history_edits.remove_flag(driver.chat, flag, driver.now).ops == []


def test_the_timeline_lists_prompts_and_flags() -> None:
    driver = talked()
    driver.hear(FlagReceived("here", "f1"))
    listed = [(it["kind"], it["title"]) for it in history_edits.timeline(driver.chat)]
    assert listed == [("user", "prompt 1"), ("user", "prompt 2"), ("flag", "here")]
    ids = [block.id for block in driver.chat.root.blocks]
    named = [[it["title"] for it in history_edits.timeline(driver.chat, block)] for block in ids]
    assert named[0] == ["prompt 1"]
    assert named[-1] == ["prompt 2"]
    assert history_edits.timeline(driver.chat, 99) == []
    driver.run("a\n" + "long " * 100)
    last = history_edits.timeline(driver.chat)[-1]["title"]
    assert last == one_line(str(last))
    assert len(str(last)) <= history_edits.TITLE_CELLS


def test_what_was_typed_into_a_login_is_no_place_to_go_back_to() -> None:
    driver = Driver()
    driver.run("/login")
    driver.hear(LoginBegan(), TextReceived(Role.USER, "s3cret"))
    assert "s3cret" not in driver.view.text
    assert [it["title"] for it in history_edits.timeline(driver.chat)] == ["/login"]
