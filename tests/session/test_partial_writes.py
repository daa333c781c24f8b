"""Hunks of a change that are left out, and edits of it, through the whole session to the disk."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chat.test_hunk_choice import texts
from tests.session.partial import (
    BEFORE,
    PLACES,
    allow,
    change,
    edit,
    ends,
    fill,
    is_there,
    made,
    prompts,
    propose,
    text_of,
    toggle,
    told,
    typed,
)
from tests.session.rig import Rig
from tests.session.saved_chats import asked

from eca_nvim.chat.model.blocks import Fold, Lane, ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.hunk_choice import NotInParts, Sides, choose
from eca_nvim.chat.text.text_differences import parts_of
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary import events, intents, query_intents
from eca_nvim.chat.vocabulary.call_details import (
    Base,
    FileUsed,
    Use,
)
from eca_nvim.chat.vocabulary.ops import BlockKind, FilesChanged, ShowDiff
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, AbilitiesChanged, Ability
from eca_nvim.chat.vocabulary.requests import ALLOW
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.session.proposals.partial_writes import settle
from eca_nvim.store import Store

pytestmark = pytest.mark.anyio
Value: TypeAlias = Any


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_text(BEFORE)
    return file


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False], ids=["newline", "no newline"])
async def test_what_a_tool_writes_itself_is_taken_back(
    rig: Rig, path: Path, end: str, last: bool
) -> None:
    before = BEFORE.replace("\n", end)
    before = before if last else before.removesuffix(end)
    after = made(*PLACES, before=before)
    fill(path, before)
    call = edit(change(path, before, after))
    agent = await propose(rig, call)
    assert [it["taken"] for it in rig.asked("t")["hunks"]] == [True, True, True]
    toggle(rig, 2)
    await rig.done()
    item = rig.asked("t")
    hunks = [(it["n"], it["path"], it["header"], it["taken"]) for it in item["hunks"]]
    assert hunks[1] == (2, str(path), "@@ -11,3 +11,3 @@", False)
    assert item["stands"] == "2 of 3 hunks"
    assert item["taken_back"] == "all 3 are written, hunk 2 is taken back at once"
    assert "line 12 · 2/3 · left out" in item["lines"]
    await allow(rig)
    assert agent.told[-2][:4] == ("decide", "a", "t", ALLOW.id)
    (steer,) = told(agent)
    assert "+LINE" not in steer
    assert "-LINE 12" in steer
    fill(path, after)
    await ends(rig, call)
    assert text_of(path) == made(2, 25, before=before)
    assert [str(path)] in [[*it.paths] for it in rig.view.of(FilesChanged)]
    changes = await rig.ask(query_intents.ListChanges("a", 5))
    assert len(changes) == 2, "as the file is"
    assert "was not changed" not in rig.view.text()


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize("written", [made(*PLACES).upper(), "other\n", made(*PLACES)[:-1]])
async def test_what_somebody_else_has_written_stays(
    rig: Rig, path: Path, written: str, failed: bool
) -> None:
    """A tool that writes something else, or a formatter after it."""
    call = edit(change(path, BEFORE, made(*PLACES)))
    agent = await propose(rig, call)
    toggle(rig, 1)
    await rig.done()
    await allow(rig)
    fill(path, written)
    await ends(rig, call, failed=failed)
    assert text_of(path) == written
    assert "was not changed to what you have allowed" in rig.view.text()
    assert ":Eca changes shows it" in rig.view.text()
    assert "still hold what I have not allowed" in told(agent)[-1]
    assert await rig.ask(query_intents.ListChanges("a", 5))


@pytest.mark.parametrize("written", [BEFORE, made(12, 25)], ids=["nothing", "what was allowed"])
async def test_a_tool_that_writes_no_more_needs_no_word(rig: Rig, path: Path, written: str) -> None:
    call = edit(change(path, BEFORE, made(*PLACES)))
    await propose(rig, call)
    toggle(rig, 1)
    await rig.done()
    await allow(rig)
    fill(path, written)
    await ends(rig, call)
    assert text_of(path) == written
    assert "was not changed" not in rig.view.text()


@pytest.mark.parametrize("end", [TurnEnded(), events.AgentGone("it died")], ids=["turn", "agent"])
async def test_a_call_that_never_ends_is_taken_back_with_its_turn(
    rig: Rig, path: Path, end: events.ChatEvent
) -> None:
    call = edit(change(path, BEFORE, made(*PLACES)))
    agent = await propose(rig, call)
    toggle(rig, 3)
    await rig.done()
    await allow(rig)
    fill(path, made(*PLACES))
    agent.say("a", events.ToolRunning(call), end)
    await rig.done()
    assert text_of(path) == made(2, 12)


@pytest.mark.parametrize("is_reported", [True, False], ids=["reported", "never reported"])
async def test_a_tool_that_writes_after_its_turn_is_taken_back(
    rig: Rig, path: Path, *, is_reported: bool
) -> None:
    call = edit(change(path, BEFORE, made(*PLACES)))
    agent = await propose(rig, call)
    toggle(rig, 3)
    await rig.done()
    await allow(rig)
    rig.do(intents.StopTurn("a"))
    agent.say("a", events.ToolRunning(call), TurnEnded())
    await rig.done()
    fill(path, made(*PLACES))
    if is_reported:
        agent.say("a", events.ToolFinished(call))
    else:
        rig.do(intents.SendPrompt("a", "go on"))
        await rig.done()
        agent.say("a", TurnBegan(), TurnEnded())
    await rig.done()
    assert text_of(path) == made(2, 12)
    fill(path, made(*PLACES))  # by the user
    agent.say("a", events.ToolFinished(call), TurnEnded())
    await rig.done()
    assert text_of(path) == made(*PLACES)


async def test_new_and_deleted_files_among_several(rig: Rig, tmp_path: Path, path: Path) -> None:
    new, other = tmp_path / "folder" / "new", tmp_path / "other"
    fill(other, "one\ntwo\n")
    call = edit(
        change(path, BEFORE, made(2, 12)),
        change(new, "", "fresh\n", new="fresh\n"),
        change(other, "one\ntwo\n", ""),
    )
    await propose(rig, call)
    numbers = [(it["n"], Path(it["path"]).name) for it in rig.asked("t")["hunks"]]
    assert numbers == [(1, "file"), (2, "file"), (3, "new"), (4, "other")]
    for hunk in (1, 3, 4):
        toggle(rig, hunk)
        await rig.done()
    assert rig.asked("t")["stands"] == "1 of 4 hunks"
    toggle(rig, 2)
    await rig.done()
    assert rig.lines()[-1] == "nothing would be left: r rejects it"
    await allow(rig)
    fill(path, made(2, 12))
    fill(new, "fresh\n")
    fill(other, "")
    await ends(rig, call)
    assert text_of(path) == made(12)
    assert not is_there(new)
    assert text_of(other) == "one\ntwo\n"


@given(texts(), st.integers(0, 2**16), st.booleans())
def test_any_hunks_of_any_file_stand_on_the_disk(
    both: tuple[str, str], bits: int, is_marked: bool
) -> None:
    """Whatever is left out; a byte order mark, which nobody sees, stays."""
    before, after = both
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        asked = (change(path, before, after, new=after),)
        out = {it.number for it in parts_of(asked) if bits >> it.number & 1}
        sides = {str(path): Sides(str(path), before or None, after, on_disk=True)}
        try:
            chosen = choose(asked, asked, out, sides)
        except NotInParts:
            return
        block = ToolBlock(1, Lane("a"), BlockKind.TOOL, Fold.CLOSED, call=edit(*asked))
        block.partial = chosen.writes if chosen else ()
        chat = Chat("a", partial=[block])
        mark = "\ufeff" if is_marked else ""
        path.write_bytes((mark + after).encode())
        settle(Update(chat, chat.root, 0), TurnEnded())
        stands = after if chosen is None else chosen.writes[0].allowed
        assert (path.read_bytes().decode() if path.exists() else None) == (
            None if stands is None else mark + stands
        )


async def test_what_was_edited_stands_there(rig: Rig, path: Path) -> None:
    call = edit(change(path, BEFORE, made(*PLACES)))
    agent = await propose(rig, call)
    without = await typed(rig, made(*PLACES), line=12)
    assert without["text"] == made(2, 25)
    assert without["left_out"] == [(12, 2)]
    assert without["digest"] == rig.asked("t")["digest"]
    assert rig.asked("t")["stands"] == "2 of 3 hunks", "`do` does the same"
    mine = made(2, 25) + "mine\n"
    answer = await typed(rig, mine)
    assert (answer["text"], answer["left_out"]) == (mine, [])
    item = rig.asked("t")
    assert item["stands"] == "as edited"
    assert "+mine" in item["lines"]
    assert "replaces it at once" in item["taken_back"]
    await rig.done()
    again = await typed(rig, made(2, 25))
    assert again["left_out"] == [(12, 2)], "undone"
    await typed(rig, mine)
    rig.do(intents.RequestDiff("a", item["block"]))
    await rig.done()
    await rig.view.until(lambda: rig.view.of(ShowDiff))
    shown = rig.view.of(ShowDiff)[-1]
    assert (shown.before, shown.after, shown.is_open) == (BEFORE, mine, True)
    await allow(rig)
    fill(path, made(*PLACES))
    await ends(rig, call)
    assert text_of(path) == mine
    assert "+mine" in told(agent)[0]


async def test_two_changes_of_a_file_are_edited_as_one(rig: Rig, path: Path) -> None:
    """The second is made to what the first leaves: its lines are elsewhere then."""
    first = "zero\n" + made(2)
    call = edit(change(path, BEFORE, first), change(path, first, "zero\n" + made(2, 25)))
    await propose(rig, call)
    assert [it["n"] for it in rig.asked("t")["hunks"]] == [1, 2]
    toggle(rig, 1)
    await rig.done()
    answer = await typed(rig, made(2, 25).replace("line 12\n", "mine\n"))
    assert answer["text"] == made(2, 25).replace("line 12\n", "mine\n")
    assert rig.asked("t")["stands"] == "as edited"
    await allow(rig)
    fill(path, "zero\n" + made(2, 25))
    await ends(rig, call)
    assert text_of(path) == made(2, 25).replace("line 12\n", "mine\n")


async def test_some_hunks_are_allowed_at_once(rig: Rig, path: Path) -> None:
    call = edit(change(path, BEFORE, made(*PLACES)))
    agent = await propose(rig, call)
    item = rig.asked("t")
    fields = (item["chat"], item["block"], item["digest"])
    rig.do(intents.AllowHunks(*fields, hunks=[1, 4], choice=ALLOW.id))
    await rig.done()
    assert rig.lines()[-1] == "there is no hunk 4, but 1 to 3"
    rig.do(intents.AllowHunks(*fields, hunks=[1, 3], choice=ALLOW.id))
    await rig.done()
    (decided,) = [it for it in agent.told if it[0] == "decide"]
    assert decided[4].allowed == made(2, 25)  # type: ignore[attr-defined]
    fill(path, made(*PLACES))
    await ends(rig, call)
    assert text_of(path) == made(2, 25)


async def test_the_end_of_a_subagents_turn_ends_no_other_call(rig: Rig, path: Path) -> None:
    call = edit(change(path, BEFORE, made(2, 12)))
    agent = await propose(rig, call)
    toggle(rig, 1)
    await rig.done()
    await allow(rig)
    agent.say("child", TurnEnded(), parent="a")
    await rig.done()
    fill(path, made(2, 12))
    await ends(rig, call)
    assert text_of(path) == made(12)


async def test_an_answer_does_not_overtake_a_choice(rig: Rig, path: Path) -> None:
    agent = await propose(rig, edit(change(path, BEFORE, made(2, 12))))
    answer = rig.decision("t")
    toggle(rig, 1)
    rig.do(answer)
    await rig.done()
    assert [it for it in agent.told if it[0] == "decide"] == []
    assert rig.asked("t")["stands"] == "1 of 2 hunks"


async def test_who_cannot_be_steered_is_told_with_the_next_prompt(rig: Rig, path: Path) -> None:
    agent = await rig.ready()
    agent.announce(AbilitiesChanged(ALL_ABILITIES - {Ability.STEER}))
    call = edit(change(path, BEFORE, made(2, 12)))
    await propose(rig, call)
    toggle(rig, 1)
    await rig.done()
    await allow(rig)
    fill(path, made(2, 12))
    await ends(rig, call)
    assert told(agent) == []
    agent.say("a", TurnEnded())
    await rig.done()
    assert len(prompts(agent)) == 1, "no turn begins by itself"
    rig.do(intents.SendPrompt("a", "go on"))
    await rig.done()
    _, sent = prompts(agent)
    assert "I have allowed your change, but not just as" in sent
    assert sent.index("-LINE 2") < sent.index("go on")
    assert "-LINE 2" in rig.view.text(), "the user sees the message"


async def test_what_the_agent_was_to_hear_outlives_neovim(path: Path, tmp_path: Path) -> None:
    """Its chat gets it when it is resumed, and only once."""
    call = edit(change(path, BEFORE, made(2, 12)))
    heard: list[str] = []
    for chat in ("a", "b", "c"):
        rig = Rig(Store(tmp_path / "state", "/project"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rig.session.run)
            agent = await rig.ready(chat)
            if chat == "a":
                agent.announce(AbilitiesChanged(ALL_ABILITIES - {Ability.STEER}))
                await propose(rig, call)
                toggle(rig, 1)
                await rig.done()
                await allow(rig)
            else:
                rig.do(intents.SendPrompt(chat, "another"))
                await asked(rig, query_intents.ResumeChat("a"))
                rig.do(intents.SendPrompt("a", "go on"))
                await rig.done()
                heard.append(agent.prompts[-1].text)
                assert agent.prompts[0].text == "another"
            rig.session.kill()
            tasks.cancel_scope.cancel()
    assert "I have allowed your change" in heard[0]
    assert heard[0].endswith("go on")
    assert heard[1] == "go on"


@pytest.mark.parametrize(
    ("written", "left"),
    [(made(12).upper(), made(12).upper()), (made(2, 12), made(12))],
    ids=["formatted by Neovim", "written by the tool, too"],
)
async def test_a_write_through_us_is_merged_before(
    rig: Rig, path: Path, written: str, left: str
) -> None:
    """Neovim writes it then, and may format it: that is no other tool."""
    call = edit(change(path, BEFORE, made(2, 12), base=Base.EDITOR))
    agent = await propose(rig, call)
    toggle(rig, 1)
    await rig.done()
    assert "taken_back" not in rig.asked("t")
    await allow(rig)
    agent.say("a", FileUsed(str(path), Use.WRITTEN, by_request=True))
    fill(path, written)
    await ends(rig, call)
    assert text_of(path) == left
    assert "was not changed" not in rig.view.text()
