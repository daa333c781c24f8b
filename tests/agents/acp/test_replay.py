"""What was said in a session, read from the updates of a load and given by page."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from tests.agents.acp.wire import raw, shows, text
from tests.support.growth import Work, is_linear

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.acp import memory as replays
from eca_nvim.agents.acp.memory import LEFT_OUT, Replay
from eca_nvim.agents.acp.prompt import PromptWriter, typed_text, typed_title
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary.contexts import CursorContext, Position
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    NoticeReceived,
    ReasoningFinished,
    ReasoningText,
    TextReceived,
    ToolFinished,
    ToolPreparing,
)
from eca_nvim.chat.vocabulary.turn_events import LinkReceived
from eca_nvim.protocol.acp import decode_notification
from eca_nvim.protocol.acp.content import TextBlock
from eca_nvim.protocol.acp.lifecycle import PromptCapabilities
from eca_nvim.protocol.acp.updates import SessionUpdated


def user(words: str) -> dict[str, Any]:
    return {"sessionUpdate": "user_message_chunk", "content": text(words)}


def answer(words: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": text(words)}


def thought(words: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_thought_chunk", "content": text(words)}


def call(call_id: str, **fields: object) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": call_id, **fields}


def changed(call_id: str, **fields: object) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, **fields}


def read(updates: Iterable[dict[str, Any]], *, whole_prompts: bool = False) -> Replay:
    replay = Replay("chat", "/workspace", whole_prompts=whole_prompts)
    feed(replay, updates)
    replay.finish()
    return replay


def feed(replay: Replay, updates: Iterable[dict[str, Any]]) -> None:
    for update in updates:
        params = raw({"sessionId": "s", "update": update})
        message = decode_notification("session/update", params)
        assert isinstance(message, SessionUpdated)
        replay.add(message.update, len(params))


def events(page: Page) -> Sequence[ChatEvent]:
    return [it.event for it in page.events]


def texts(page: Page) -> list[str]:
    return [it.text for it in events(page) if isinstance(it, (TextReceived, NoticeReceived))]


def test_each_message_is_in_one_page_in_order() -> None:
    said = [it for n in range(7) for it in (user(f"p{n}"), answer("a"), answer(f"{n}"))]
    replay = read(said)
    page, found, sizes = replay.page(5), list[str](), list[int | None]()
    while True:
        found[:0] = texts(page)
        sizes.append(page.returned)
        if page.older is None:
            break
        page = replay.page(5, page.older)
    assert found == [it for n in range(7) for it in (f"p{n}", f"a{n}")]
    assert sizes == [5, 5, 4]
    assert page.total == 14


def test_a_call_and_a_thought_are_whole_where_they_began() -> None:
    replay = read(
        [
            user("go"), thought("hm "), call("t1", kind="read"), thought("well"), answer("so"),
            call("t2", kind="execute"), changed("t1", status="completed", content=[shows("out")]),
            answer("!"), {"sessionUpdate": "current_mode_update", "currentModeId": "plan"},
            changed("t2", status="failed"),
        ]
    )  # fmt: skip
    newest = replay.page(2)
    [t2, *_, last] = events(newest)
    assert isinstance(t2, ToolPreparing)
    assert isinstance(last, TextReceived)
    assert any(isinstance(it, ToolFinished) and it.failed for it in events(newest))
    older = events(replay.page(None, newest.older))
    assert [it.text for it in older if isinstance(it, ReasoningText)] == ["hm ", "well"]
    assert sum(isinstance(it, ReasoningFinished) for it in older) == 2
    [done] = [it for it in older if isinstance(it, ToolFinished)]
    assert done.outputs == ("out",)
    assert older.index(done) < [*map(type, older)].index(TextReceived, 2)


def link(uri: str) -> dict[str, Any]:
    content = {"type": "resource_link", "uri": uri, "name": "io.py"}
    return {"sessionUpdate": "user_message_chunk", "content": content}


def test_a_prompt_is_shown_as_typed() -> None:
    place = "The cursor is in line 3, column 14 of /src/io.py."
    selected = "Selected in /src/io.py: from line 1, column 1 to before line 2, column 1."
    replay = read(
        [
            *(user("one"), user(place), link("file:///src/io.py#L3"), answer("a")),
            *(user(f"two {selected}"), link("file:///src/io.py#L1"), answer("b")),
            *(user("three"), link("file:///b"), user(place), link("file:///c"), answer("c")),
            *(user("The cursor is in line 3, why?"), link("file:///d"), answer("d")),
        ]
    )
    shown = events(replay.page(None))
    said = [it.text for it in shown if isinstance(it, TextReceived)]
    assert said == ["one", "a", "two", "b", "three", "c", "The cursor is in line 3, why?", "d"]
    assert [it.url for it in shown if isinstance(it, LinkReceived)] == ["file:///b", "file:///d"]


PLACE = "The cursor is in line 1, column 1 of /w/old.txt."
BUFFER = "/w/old.txt (@buffer:1):\none\ntwo"
QUOTED = '\n<context ref="file:///w/old.txt#L2-L2">\ntwo\n</context>'


@pytest.mark.parametrize(
    "parts",
    [
        ["see it", PLACE, "[@old.txt#L1](file:///w/old.txt#L1)", BUFFER, QUOTED],
        ["see it", "[@old.txt#L2-L2](file:///w/old.txt#L2-L2)", QUOTED],
        ["see it", BUFFER],
        [
            "see it",
            PLACE,
            "Called the Read tool with the following input: {}",
            "[/w/old.txt:2]\ntwo",
        ],
        [f"see it{PLACE}[@old.txt](file:///w/old.txt#L1){QUOTED}"],
        [f"see it\n{PLACE}\n[Resource link: file:///w/old.txt#L1]\n"],
        ["see it\n[Resource link: file:///w/old.txt#L1]\n"],
        [f"see it{PLACE} @/w/old.txt"],
        [f"see it\n\n{PLACE}\n\n{BUFFER}"],
    ],
    ids=["claude", "codex", "label", "opencode", "zed", "copilot", "link", "gemini", "vibe"],
)
def test_what_we_add_to_a_prompt_is_folded_away_in_all_forms(parts: list[str]) -> None:
    said = [{**user(part), "messageId": "m1"} for part in parts]
    links = [{**link("file:///w/old.txt#L1"), "messageId": "m1"}] if PLACE in "".join(parts) else []
    later = {**user("and then?"), "messageId": "m2"}
    replay = read([*said[:2], *links, *said[2:], later, answer("so")])
    assert texts(replay.page(None)) == ["see it", "and then?", "so"]
    assert not any(isinstance(it, LinkReceived) for it in events(replay.page(None)))


def test_prompts_without_ids_are_told_apart_where_each_is_sent_whole() -> None:
    said = [user("one "), user("two"), user(PLACE), user(BUFFER), answer("so")]
    assert texts(read(said, whole_prompts=True).page(None)) == ["one ", "two", "so"]
    assert texts(read(said).page(None)) == ["one two", "so"], "others may send it in pieces"
    goose = [
        {**user(words), "_meta": {"goose": {"messageId": message}}}
        for words, message in (("one", "m1"), (PLACE, "m1"), (f"# {BUFFER}", "m1"), ("two", "m2"))
    ]
    assert texts(read(goose).page(None)) == ["one", "two"]


def test_what_is_said_twice_is_shown_once_if_the_answer_stood_between() -> None:
    said = [user("p"), answer("a"), user("p"), answer("a")]
    for first, count in ((2, 2), (1, 4), (4, 4)):
        replay = Replay("chat", "/workspace", whole_prompts=True)
        feed(replay, said[:first])
        replay.answered()
        feed(replay, said[first:])
        replay.finish()
        assert len(texts(replay.page(None))) == count


def test_the_cursor_is_cut_off_as_it_is_written() -> None:
    for cursor in (
        CursorContext("/a b.py", Position(3, 14), Position(3, 14)),
        CursorContext("/a b.py", Position(3, 14), Position(4, 1)),
    ):
        blocks, _ = PromptWriter().write(Prompt("chat", "hi", (cursor,)), PromptCapabilities())
        words = "\n".join(it.text for it in blocks if isinstance(it, TextBlock))
        assert words != "hi"
        assert typed_text(words) == "hi"
        added = words.removeprefix("hi").strip()
        assert typed_title(f"hi {added}"[:40]) == typed_title(f"hi{added}"[:40]) == "hi"


def test_a_cursor_is_checked_and_what_is_shown_is_forgotten() -> None:
    replay = read(answer("a") if n % 2 else user("p") for n in range(10))
    replay.page(4)
    replay.page(4, "6")
    for cursor in ("7", "x", "-1"):
        with pytest.raises(AgentRefused):
            replay.page(4, cursor)
    assert len(replay) == 6


def test_a_session_that_is_too_large_loses_its_oldest_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replays, "MOST_BYTES", 20_000)
    said = [
        it for n in range(200) for it in (user(f"p{n} {'x' * 300}"), call(f"t{n}"), answer("a"))
    ]
    page = read(said).page(None)
    assert texts(page)[0] == LEFT_OUT
    assert texts(page)[-2].startswith("p199")
    assert sum(map(len, texts(page))) < 20_000
    endless = read([user("p"), *(answer("y" * 1000) for _ in range(100))]).page(None)
    assert texts(endless)[0] == LEFT_OUT
    assert sum(map(len, texts(endless))) < 22_000
    unread = read(user("z" * 1000) for _ in range(100)).page(None)
    assert sum(map(len, texts(unread))) < 22_000


def test_to_read_costs_the_same_for_each_message() -> None:
    def reading(count: int) -> Work:
        said = [it for n in range(count) for it in (user("p"), call(f"t{n}"), answer("a"))]

        def read_all() -> None:
            replay = read(said)
            page = replay.page(100)
            while page.older is not None:
                page = replay.page(100, page.older)

        return read_all

    assert is_linear(reading, 150)
