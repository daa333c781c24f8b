"""Earlier messages: replayed or paged, they look like those of a live chat."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.chat.driver import Driver, call, said, system
from tests.support.calls import eca_call

from eca_nvim.chat.user_actions.earlier_messages import Page, show_history, show_loading, show_older
from eca_nvim.chat.user_actions.folding import redraw
from eca_nvim.chat.vocabulary.call_details import FileChange, Subagent, ToolCall
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatEvent,
    ChatOpened,
    FlagReceived,
    ReasoningFinished,
    ReasoningStarted,
    ReasoningText,
    Role,
    TextReceived,
    TitleChanged,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import (
    AppendText,
    CloseBlock,
    FilesChanged,
    OpenBlock,
    RemoveBlock,
)
from eca_nvim.chat.vocabulary.states import Turn

CHANGE = FileChange("/workspace/a.py", "@@ -1,1 +1,1 @@\n-a\n+b", 1, 1)
EDIT = call("e1", "edit_file", details=CHANGE, arguments={"path": "/workspace/a.py"})
READ = call("r1", arguments={"path": "/workspace/b.py"})
NOTHING = eca_call("x1", None)


def page(
    *events: ChatEvent,
    older: str | None = None,
    total: int | None = None,
    returned: int | None = None,
) -> Page:
    """Make a page of events of the chat itself."""
    return Page([Addressed("chat", event) for event in events], older, total, returned)


def prompt(text: str, content_id: str) -> TextReceived:
    """Make a message of the user as it is replayed."""
    return TextReceived(Role.USER, f"\n{text}", content_id)


def ran(tool: ToolCall, *, total_ms: int | None = 43) -> list[ChatEvent]:
    """Make a call as it is replayed."""
    return [
        ToolPreparing(tool),
        ToolRequested(tool),
        ToolRunning(tool),
        ToolFinished(tool, ("ok",), total_ms=total_ms),
    ]


def thought(text: str) -> list[ChatEvent]:
    """Make a thought as it is replayed."""
    return [ReasoningStarted("th"), ReasoningText("th", text), ReasoningFinished("th", 4000)]


def opened(
    *events: ChatEvent,
    older: str | None = None,
    total: int | None = None,
    returned: int | None = None,
) -> Driver:
    """Open a chat with a page."""
    driver = Driver()
    newest = page(*events, older=older, total=total, returned=returned)
    driver.take(show_history(driver.chat, newest, driver.now))
    return driver


def test_a_replayed_chat_reads_like_a_lived_one() -> None:
    lived = Driver()
    lived.run("fix a")
    lived.hear(*thought("hm"), *ran(EDIT), *said("Do", "ne."))
    lived.hear(TitleChanged("Fix"))
    driver = opened(
        ChatCleared(),
        ChatOpened("Fix"),
        prompt("fix a", "u1"),
        *thought("hm"),
        *ran(EDIT),
        *said("\nDone."),
        TitleChanged("Fix"),
    )
    assert driver.view.lines == lived.view.lines
    assert driver.view.status["title"] == "Fix"


def test_a_message_of_a_replay_is_one_op() -> None:
    driver = Driver()
    events = [
        event for number in range(50) for event in (prompt(f"go {number}", ""), *said("Done."))
    ]
    changes = driver.take(show_history(driver.chat, page(*events), driver.now))
    blocks = [op for op in changes.ops if isinstance(op, OpenBlock)]
    assert [op.text for op in blocks[-2:]] == ["go 49", "Done."]
    assert all(op.closed for op in blocks[:-1])
    assert len(blocks) == len(events)
    assert not [op for op in changes.ops if isinstance(op, AppendText | CloseBlock)]


def test_nothing_of_a_replay_happens_now() -> None:
    driver = opened(prompt("fix a", "u1"), *ran(EDIT))
    assert driver.view.events == []
    assert not [op for op in driver.view.other if isinstance(op, FilesChanged)]
    assert driver.chat.turn.state is Turn.IDLE
    assert driver.effects == []


def test_what_a_replay_left_open_was_stopped() -> None:
    driver = opened(prompt("go", "u1"), ToolPreparing(READ), ReasoningStarted("th"))
    assert driver.chat.live == {}
    assert "stopped" in driver.view.text
    assert "thinking" not in driver.view.text


def test_a_rejected_call_reads_as_rejected() -> None:
    driver = opened(ToolPreparing(READ), ToolRequested(READ), ToolRejected(eca_call("r1")))
    assert driver.view.lines == ["⊘ read b.py rejected"]


def test_a_replayed_prompt_confirms_none_of_now() -> None:
    """The words may be the same; the echo of the prompt that was sent just now is still to come."""
    driver = opened(prompt("first", "u1"), older="c1", total=3, returned=1)
    driver.send("hello")
    driver.take(show_older(driver.chat, page(prompt("hello", "u0")), driver.now))
    driver.hear(TextReceived(Role.USER, "hello\n", "u2"))
    assert driver.view.lines == ["hello", "first", "hello"]


def test_an_echo_gives_a_prompt_its_id() -> None:
    driver = Driver()
    driver.send("hello \x1b[1m")
    driver.hear(TextReceived(Role.USER, "hello \x1b[1m\n", "u2"))
    assert [getattr(block, "content_id", "") for block in driver.chat.root.blocks] == ["u2"]
    assert driver.view.lines == ["hello "]


class TestPaging:
    """Older messages come above."""

    def test_the_block_at_the_top_counts_them(self) -> None:
        driver = opened(prompt("last", "u9"), older="c1", total=162, returned=100)
        assert driver.view.lines == ["▴ older messages (62 of 162)", "last"]
        driver.take(show_loading(driver.chat, driver.now, loading=True))
        assert driver.view.lines[0] == "▴ older messages …"
        driver.take(show_loading(driver.chat, driver.now, loading=False))
        assert driver.view.lines[0] == "▴ older messages (62 of 162)"

    def test_pages_come_in_order(self) -> None:
        driver = opened(prompt("five", "u5"), older="c1", total=5, returned=1)
        later = page(prompt("three", "u3"), *said("\nfour"), older="c2", total=5, returned=2)
        driver.take(show_older(driver.chat, later, driver.now))
        assert driver.view.lines == ["▴ older messages (2 of 5)", "three", "four", "five"]
        first = page(prompt("one", "u1"), *said("\ntwo"), total=5, returned=2)
        driver.take(show_older(driver.chat, first, driver.now))
        assert driver.view.lines == ["one", "two", "three", "four", "five"]
        assert driver.chat.older is None
        again = Driver()
        again.take(redraw(driver.chat, 0))
        assert again.view.lines == driver.view.lines

    def test_a_call_may_be_cut_by_the_page(self) -> None:
        """Its preparation is in the older page, its result in the newer one."""
        driver = opened(*ran(READ)[1:], older="c1", total=3, returned=1)
        before = page(prompt("read", "u1"), ToolPreparing(READ))
        driver.take(show_older(driver.chat, before, driver.now))
        assert driver.view.lines == ["read", "✓ read b.py"]

    def test_an_id_in_a_page_is_of_a_call_in_it(self) -> None:
        other = call("r1", arguments={"path": "/workspace/c.py"})
        driver = opened(*ran(READ), older="c1")
        driver.take(show_older(driver.chat, page(*ran(other)), driver.now))
        assert driver.view.lines == ["✓ read c.py, b.py"]

    def test_a_page_says_nothing_of_what_waits(self) -> None:
        other = call("r1", arguments={"path": "/workspace/c.py"})
        driver = opened(prompt("old", "u1"), older="c1")
        driver.run("now")
        driver.hear(ToolRequested(READ, needs_approval=True))
        shown = driver.shown("r1")
        cut = page(*ran(other), *ran(other)[:2])
        driver.take(show_older(driver.chat, cut, driver.now))
        assert driver.shown("r1") == shown
        driver.approve("r1")
        assert "? read b.py waiting" not in driver.view.lines
        assert driver.view.lines[:2] == ["✓ read c.py", "⊘ read c.py stopped"]

    def test_what_is_being_said_goes_on(self) -> None:
        driver = opened(prompt("old", "u1"), older="c1")
        driver.run("now")
        driver.hear(*said("one "))
        driver.take(show_older(driver.chat, page(*said("\noldest")), driver.now))
        driver.hear(*said("two"))
        assert driver.view.lines == ["oldest", "old", "now", "one two"]

    def test_what_runs_goes_on(self) -> None:
        driver = opened(prompt("old", "u1"), older="c1")
        driver.run("now")
        driver.hear(ToolRequested(READ), ToolRunning(READ))
        driver.take(show_older(driver.chat, page(ToolPreparing(EDIT)), driver.now))
        assert list(driver.chat.live) == [driver.chat.root.calls["r1"].id]

    def test_subagents_come_with_their_call(self) -> None:
        spawn = call("sp", "spawn_agent", details=Subagent("explorer", "sub"))
        driver = opened(prompt("last", "u9"), older="c1")
        inside = [Addressed("sub", it, "chat") for it in (prompt("look", "s1"), *ran(READ))]
        events = [Addressed("chat", it) for it in (prompt("go", "u1"), *ran(spawn))]
        events[4:4] = inside
        events += [Addressed("chat", it) for it in said("done")]
        driver.take(show_older(driver.chat, Page(events), driver.now))
        driver.toggle(driver.chat.root.calls["sp"].id, to_open=True)
        shown = [line.strip() for line in driver.view.lines]
        places = [shown.index(it) for it in ("go", "look", "✓ read b.py", "done", "last")]
        assert places == sorted(places)

    def test_a_page_for_nothing_is_left_out(self) -> None:
        driver = opened(prompt("last", "u9"))
        driver.take(show_older(driver.chat, page(prompt("x", "u1")), driver.now))
        assert driver.view.lines == ["last"]

    def test_what_is_below_is_not_drawn_again(self) -> None:
        driver = opened(prompt("last", "u9"), *ran(READ), older="c1")
        drawn = show_older(driver.chat, page(prompt("x", "u1")), driver.now).ops
        assert [op.block for op in drawn if isinstance(op, RemoveBlock)] == [1]
        assert {getattr(op, "block", 4) for op in drawn} == {1, 4}


def test_a_cleared_chat_has_nothing_older() -> None:
    driver = opened(prompt("last", "u9"), older="c1")
    driver.hear(ChatCleared(), FlagReceived("here", "f1"), system("note"))
    assert driver.chat.older is None
    assert driver.view.lines == ["⚑ here", "note"]


UNITS = st.one_of(
    st.builds(lambda number: [prompt(f"ask {number}", f"u{number}")], st.integers(0, 99)),
    st.builds(lambda number: list(said(f"\nsay {number}")), st.integers(0, 99)),
    st.builds(lambda number: [FlagReceived(f"flag {number}", f"f{number}")], st.integers(0, 99)),
    st.just("call"),
    st.just("thought"),
)
"""What a history is made of; calls and thoughts get ids of their own."""


@given(units=st.lists(UNITS, max_size=12), sizes=st.lists(st.integers(1, 4), max_size=12))
def test_pages_read_like_the_whole(units: list[list[ChatEvent] | str], sizes: list[int]) -> None:
    """However a history is cut, and wherever a call is cut, its pages read like all of it."""
    messages: list[list[ChatEvent]] = []
    for number, unit in enumerate(units):
        if unit == "call":
            prepared, *rest = ran(call(f"t{number}", arguments={"path": f"/workspace/{number}"}))
            messages += [[prepared], rest]
        elif unit == "thought":
            messages.append([ReasoningStarted(f"th{number}"), ReasoningFinished(f"th{number}", 9)])
        else:
            assert not isinstance(unit, str)
            messages.append(unit)
    whole = opened(*(event for message in messages for event in message))
    paged, left = Driver(), messages
    for number, size in enumerate([*sizes, len(messages) + 1]):
        left, taken = left[:-size], left[-size:]
        events = [event for message in taken for event in message]
        show = show_older if number else show_history
        older = "cursor" if left else None
        paged.take(show(paged.chat, page(*events, older=older), paged.now))
    assert paged.view.lines == whole.view.lines
    assert paged.chat.live == {}
