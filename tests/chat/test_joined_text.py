"""Pieces of a text that arrive together become one event; other events stay."""

from hypothesis import given
from hypothesis import strategies as st

from eca_nvim.chat.text.joined_text import LONG, join_text
from eca_nvim.chat.vocabulary.agent_events import AgentEvent, WorkChanged
from eca_nvim.chat.vocabulary.call_details import KnownSoFar, ToolCall
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ReasoningText,
    Role,
    TextReceived,
    ToolOutput,
    ToolPreparing,
)
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded


def said(text: str, chat: str = "c", content: str | None = None) -> Addressed:
    return Addressed(chat, TextReceived(Role.ASSISTANT, text, content))


def thought(text: str, thought_id: str = "t") -> Addressed:
    return Addressed("c", ReasoningText(thought_id, text))


def written(text: str, call: str = "1", so_far: str = "") -> Addressed:
    known = KnownSoFar(("read", so_far)) if so_far else None
    return Addressed("c", ToolPreparing(ToolCall(call), text, known))


def printed(text: str, call: str = "1", *, replaces: bool = False) -> Addressed:
    return Addressed("c", ToolOutput(call, text, replaces))


def test_arguments_of_a_call_become_one_with_what_is_known_at_last() -> None:
    pieces = [written('{"pa'), written('th": "a"', so_far="a"), written("}", so_far="a")]
    assert list(join_text(pieces)) == [written('{"path": "a"}', so_far="a")]
    apart = [written("{"), written("{", "2")]
    assert list(join_text(apart)) == apart


def test_neighbouring_pieces_become_one() -> None:
    assert list(join_text([said("a"), said("b"), said("c")])) == [said("abc")]
    assert list(join_text([thought("a"), thought("b")])) == [thought("ab")]


def test_a_long_piece_is_not_copied() -> None:
    long = said("x" * LONG)
    joined = list(join_text([said("a"), said("b"), long, said("c"), said("…")]))
    assert joined == [said("ab"), long, said("c…")]
    assert joined[1] is long


def test_output_of_a_call_becomes_one_unless_it_replaces_what_was_before() -> None:
    pieces = [printed("a"), printed("b"), printed("c", "2")]
    assert list(join_text(pieces)) == [printed("ab"), printed("c", "2")]
    replaced = [printed("a"), printed("b", replaces=True), printed("c", replaces=True)]
    assert list(join_text([*replaced, printed("d")])) == [*replaced, printed("d")]


def test_another_event_between_keeps_them_apart() -> None:
    running = Addressed("c", TurnBegan())
    events = [said("a"), running, said("b"), thought("c"), said("d")]
    assert list(join_text(events)) == events


def test_another_chat_message_or_thought_keeps_them_apart() -> None:
    events: list[AgentEvent] = [
        *(said("a"), said("b", chat="d"), said("c", chat="d", content="2")),
        *(thought("e"), thought("f", "u")),
        Addressed("sub", TextReceived(Role.ASSISTANT, "g"), "c"),
    ]
    assert list(join_text(events)) == events


def test_what_users_and_the_system_say_is_never_joined() -> None:
    events = [Addressed("c", TextReceived(role, "x")) for role in (Role.USER, Role.SYSTEM)] * 2
    events.sort(key=repr)
    assert list(join_text(events)) == events


def test_events_of_no_chat_pass() -> None:
    begun, ended = WorkChanged("1", "Loading", done=False), WorkChanged("1", "", done=True)
    events: list[AgentEvent] = [begun, said("a"), ended]
    assert list(join_text(events)) == events


PIECES = st.lists(
    st.one_of(
        st.builds(said, st.text(), st.sampled_from("cd")),
        st.builds(thought, st.text(), st.sampled_from("tu")),
        st.just(Addressed("c", TurnEnded())),
    )
)


def texts(events: list[AgentEvent]) -> dict[str, str]:
    """All that was said, by speaker."""
    found: dict[str, str] = {}
    for event in events:
        assert isinstance(event, Addressed)
        match event.event:
            case TextReceived(text=text):
                key = f"chat {event.chat_id}"
            case ReasoningText(key, text):
                pass
            case _:
                continue
        found[key] = found.get(key, "") + text
    return found


@given(PIECES)
def test_no_text_is_lost_or_moved_to_another(events: list[Addressed]) -> None:
    joined = list(join_text(events))
    assert texts(joined) == texts(list(events))
    assert len(joined) <= len(events)
