"""The user's comments through the whole session: kept, sent, addressed or open, over restarts."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from msgspec.structs import replace
from tests.session.rig import NEOVIM, Recorder, Rig

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.ops import Notify, SetComments
from eca_nvim.chat.vocabulary.query_intents import CheckComments, PutComment, SendComments
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.session import Persistence
from eca_nvim.store import MOST_COMMENTS, Store, StoreChanges

pytestmark = pytest.mark.anyio

Value: TypeAlias = Any
Life: TypeAlias = Callable[[], AbstractAsyncContextManager[Rig]]
LINES = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
GONE = 1 << 22 - 1
"""A process id that no process has."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "code.py"
    path.parent.mkdir()
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.fixture
def life(file: Path, tmp_path: Path) -> Life:
    """Return what starts a Neovim; all share one store."""

    @asynccontextmanager
    async def run() -> AsyncIterator[Rig]:
        rig = Rig(Store(tmp_path / "state", "/project"), folders=(str(file.parent),))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rig.session.run)
            yield rig
            rig.session.kill()  # as the host exits, from within the loop
            tasks.cancel_scope.cancel()

    return run


def put(file: Path, text: str, chat: str = "a", id_: str = "1", **fields: Value) -> PutComment:
    return PutComment(chat, id_, text, [str(file)], **{"line": 2, "count": 1, **fields})


def read(file: Path) -> str:
    return file.read_text()


def write(file: Path, text: str) -> None:
    file.write_text(text)


def shown(rig: Rig, chat: str = "a") -> list[tuple[Value, ...]]:
    """Return text, line and state of the comments that are shown last in a chat."""
    last = [op for op in rig.view.of(SetComments) if op.chat == chat][-1]
    assert not last.stale
    return [(it["text"], it["line"], str(it["state"])) for it in last.items]


async def check(rig: Rig, chat: str = "a") -> list[tuple[Value, ...]]:
    count = len(rig.view.of(SetComments))
    rig.do(CheckComments(chat))
    await rig.view.until(lambda: len(rig.view.of(SetComments)) > count)
    return shown(rig, chat)


async def test_a_comment_is_sent_and_then_addressed_or_open(life: Life, file: Path) -> None:
    async with life() as rig:
        agent = await rig.ready()
        rig.do(put(file, "why two?"), put(file, "and six?", id_="2", line=6, before=["SIX"]))
        await rig.done()
        assert await check(rig) == [("why two?", 2, "unsent"), ("and six?", 6, "unsent")]
        rig.unwritten[str(file)] = "zero\n" + read(file)
        answer = await rig.ask(SendComments("a", -1))
        assert isinstance(answer, Mapping)
        assert (answer["count"], answer["typed"]) == (2, "why two?\nand six?")
        assert answer["text"].startswith("code.py:3\n\n```\ntwo\n```\n\nwhy two?\n\ncode.py:7")
        rig.do(intents.SendPrompt("a", answer["text"]))
        await rig.done()
        agent.say("a", TurnBegan())
        assert {state for *_, state in await check(rig)} == {"sent"}
        rig.unwritten.clear()
        write(file, "zero\n" + read(file).replace("two", "TWO"))
        agent.say("a", TurnEnded())
        assert await check(rig) == [("why two?", 3, "addressed"), ("and six?", 7, "open")]
        answer = await rig.ask(SendComments("a", -2))
        assert (answer["count"], answer["typed"]) == (1, "and six?")
        assert shown(rig) == [("and six?", 7, "sent")]  # what is addressed goes with the next
        assert await rig.ask(SendComments("a", -3)) is None
        assert rig.view.of(Notify)[-1].text == "no comments to send"
        rig.do(put(file, "and six, please", id_="2"))
        await rig.done()
        assert shown(rig) == [("and six, please", 7, "unsent")]
        rig.do(put(file, "", id_="2"))
        await rig.done()
        assert shown(rig) == []


async def test_comments_come_back_in_the_next_neovim(life: Life, file: Path) -> None:
    async with life() as first:
        await first.ready()
        first.do(put(file, "mine"), put(file, "of b", "b", "2", line=4))
        await first.done()
        first.do(put(file, "not handled yet", id_="3", line=5))  # when Neovim exits
    async with life() as second:
        await second.ready("c")
        assert second.view.of(SetComments) == [SetComments("c", stale=True)]
        write(file, "zero\n" + read(file))
        texts = {"mine", "of b", "not handled yet"}
        assert {text for text, *_ in await check(second, "c")} == texts
        second.do(intents.OpenChat("b"))
        await second.done()
        assert {text for text, *_ in await check(second, "b")} == texts
        assert {text for text, *_ in await check(second, "c")} == texts - {"of b"}
        answer = await second.ask(SendComments("c", -1))
        assert answer["typed"].splitlines() == ["mine", "not handled yet"]
        assert {text for text, *_ in await check(second, "b")} == {"of b"}
        second.do(intents.OpenChat("a"))
        await second.done()
        assert await check(second) == []  # they have moved to the chat that has sent them


async def test_comments_of_a_running_neovim_are_its_own(life: Life, file: Path) -> None:
    async with life() as rig:
        await rig.ready()
        rig.do(put(file, "mine"))
        await rig.done()
        (mine,) = rig.persistence.comments
        theirs = replace(mine, id="2", text="theirs", owner=1, changed=time.time())
        ended = replace(mine, id="3", text="ended", owner=GONE)
        rig.persistence.keep_comments({"2": theirs, "3": ended})
        assert [it.text for it in rig.persistence.comments] == ["mine", "ended"]


async def test_the_newest_comments_are_kept(file: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "state", "/project")
    persistence = Persistence(store, Recorder(), NEOVIM)
    persistence.put_comment(put(file, "é \ud83d", before=["x"]))
    (one,) = persistence.comments
    assert one.owner == NEOVIM
    kept = {str(at): replace(one, id=str(at), changed=at) for at in range(MOST_COMMENTS + 1)}
    store.write(StoreChanges(comments={**kept}))
    assert [*store.read().comments] == [str(at) for at in range(1, MOST_COMMENTS + 1)]
    assert store.read().comments["7"].text == "é \ud83d"
    store.write(StoreChanges(comments={"7": None}))
    assert "7" not in store.read().comments
