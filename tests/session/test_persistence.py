"""What a session restores after Neovim has ended."""

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.session.rig import NEOVIM, Recorder

from eca_nvim.chat.vocabulary.ops import Notify, RestoreDraft, SetPrompts, Unwritable
from eca_nvim.session.persistence import Persistence
from eca_nvim.store import LONGEST_PROMPT, MOST_PROMPTS, Busy, Draft, Store, StoreChanges

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, "/project")


@pytest.fixture
def view() -> Recorder:
    return Recorder()


def start(store: Store, view: Recorder) -> Persistence:
    persistence = Persistence(store, view, NEOVIM)
    persistence.load()
    return persistence


@pytest.fixture
def dead() -> int:
    """Return the id of a process that is gone."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


async def test_prompts_come_back_oldest_first(store: Store, view: Recorder) -> None:
    first = start(store, view)
    for text in ("one", "two", "one", " ", "x" * (LONGEST_PROMPT + 1)):
        first.keep_prompt(text)
    first.write()
    start(store, view)
    assert view.of(SetPrompts)[-1].prompts == ("two", "one")


async def test_prompts_of_another_neovim_are_shown_when_ours_are_written(
    store: Store, view: Recorder
) -> None:
    ours = start(store, view)
    theirs = start(store, Recorder())
    theirs.keep_prompt("theirs")
    theirs.write()
    ours.keep_prompt("ours")
    ours.write()
    assert view.of(SetPrompts)[-1].prompts == ("theirs", "ours")


async def test_what_the_user_treats_as_a_project_is_kept(store: Store, view: Recorder) -> None:
    first = start(store, view)
    assert not first.is_project("/notes")
    first.keep_project("/notes")
    first.write()
    later = start(store, view)
    assert later.is_project("/notes")
    assert not later.is_project("/notes/a")
    assert later.projects() == ["/notes"]
    later.keep_project("/notes", is_one=False)
    assert (later.projects(), later.is_project("/notes")) == ([], False)


async def test_the_draft_of_a_neovim_that_is_gone_comes_back_in_the_first_chat(
    store: Store, view: Recorder, dead: int
) -> None:
    store.write(
        StoreChanges(drafts={"old": Draft("older", 1.0, dead), "new": Draft("half", 2.0, dead)})
    )
    persistence = start(store, view)
    persistence.restore("mine")
    persistence.restore("second")
    assert view.of(RestoreDraft) == [RestoreDraft("mine", "half", adopted=True)]
    persistence.write()
    owners = {chat: (it.text, it.owner) for chat, it in store.read().drafts.items()}
    assert owners == {"old": ("older", dead), "mine": ("half", NEOVIM)}


async def test_a_draft_that_is_being_typed_elsewhere_stays_there(
    store: Store, view: Recorder
) -> None:
    store.write(StoreChanges(drafts={"theirs": Draft("half", time.time(), os.getppid())}))
    persistence = start(store, view)
    persistence.restore("mine")
    assert view.of(RestoreDraft) == []


async def test_the_draft_of_a_neovim_whose_id_is_used_again_comes_back(
    store: Store, view: Recorder
) -> None:
    """As after a restart of the machine: another process has the id."""
    store.write(StoreChanges(drafts={"theirs": Draft("half", 1.0, os.getppid())}))
    persistence = start(store, view)
    persistence.restore("mine")
    assert view.of(RestoreDraft) == [RestoreDraft("mine", "half", adopted=True)]


async def test_a_draft_whose_file_was_removed_is_written_at_the_end(
    store: Store, view: Recorder
) -> None:
    persistence = start(store, view)
    persistence.keep_draft("a", "half")
    persistence.keep_prompt("sent")
    persistence.write()
    store.path.unlink()
    persistence.close()
    assert store.read().drafts["a"].text == "half"
    assert store.read().prompts == {}


async def test_a_chat_that_is_opened_again_has_its_own_draft(
    store: Store, view: Recorder, dead: int
) -> None:
    store.write(StoreChanges(drafts={"a": Draft("of a", 1.0, dead), "b": Draft("of b", 2.0, dead)}))
    persistence = start(store, view)
    persistence.restore("a")
    assert view.of(RestoreDraft) == [RestoreDraft("a", "of a")]


async def test_a_draft_that_is_taken_over_goes_above_what_was_typed_early(
    store: Store, view: Recorder, dead: int
) -> None:
    store.write(StoreChanges(drafts={"old": Draft("of another day", 1.0, dead)}))
    persistence = Persistence(store, view, NEOVIM)
    persistence.keep_draft("a", "typed early")
    persistence.load()
    persistence.restore("a")
    persistence.write()
    assert view.of(RestoreDraft) == [RestoreDraft("a", "of another day", adopted=True)]
    drafts = {chat: draft.text for chat, draft in store.read().drafts.items()}
    assert drafts == {"a": "of another day\ntyped early"}


async def test_a_draft_that_was_sent_is_forgotten(store: Store, view: Recorder) -> None:
    persistence = start(store, view)
    persistence.keep_draft("a", "half")
    persistence.keep_draft("b", "")
    persistence.keep_draft("a", " \n")
    persistence.write()
    assert store.read().drafts == {}


async def test_values_of_options_are_kept_by_server(store: Store, view: Recorder) -> None:
    persistence = start(store, view)
    persistence.keep_choice("eca", "model", "m1")
    persistence.keep_choice("other", "model", "m2")
    persistence.keep_choice("other", "web search", value=True)
    persistence.write()
    kept = {"model": "m1", "model other": "m2", "option other\nweb search": "on"}
    assert store.read().choices == kept
    assert [persistence.choices("other")(it) for it in ("model", "agent")] == ["m2", None]


async def test_a_damaged_file_is_told_once(store: Store, view: Recorder) -> None:
    store.path.parent.mkdir(exist_ok=True)
    store.path.write_bytes(b"nonsense")
    persistence = start(store, view)
    persistence.keep_prompt("a")
    persistence.write()
    told = [op.text for op in view.of(Notify)]
    aside = store.path.with_suffix(".damaged")
    assert told == [f"this project's history was damaged; the file was moved to {aside}"]
    assert list(store.read().prompts) == ["a"]


async def test_a_file_that_is_damaged_meanwhile_costs_nothing_of_ours(
    store: Store, view: Recorder
) -> None:
    persistence = start(store, view)
    persistence.keep_prompt("a")
    store.path.parent.mkdir(exist_ok=True)
    store.path.write_bytes(b"nonsense")
    persistence.write()
    persistence.write()
    assert list(store.read().prompts) == ["a"]


async def test_where_nothing_can_be_written_it_is_told_once_and_tried_again(tmp_path: Path) -> None:
    view = Recorder()
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "folder", "/p")
    persistence = start(store, view)
    persistence.keep_prompt("a")
    persistence.write()
    persistence.keep_prompt("b")
    persistence.write()
    [told] = view.of(Unwritable)
    assert (told.path, told.fault) == (str(store.path), "Not a directory")
    assert told.text.startswith("cannot save prompts and drafts: ")
    (tmp_path / "file").unlink()
    persistence.write()
    assert view.of(Unwritable)[1:] == [Unwritable(str(store.path), "", view.of(Unwritable)[1].text)]
    assert list(store.read().prompts) == ["a", "b"]


async def test_a_damaged_file_that_cannot_be_moved_costs_no_draft(
    store: Store, view: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_held() -> None:
        raise Busy("it is being written")

    monkeypatch.setattr(store, "set_aside", is_held)
    persistence = start(store, view)
    persistence.keep_draft("a", "half")
    store.path.parent.mkdir(exist_ok=True)
    store.path.write_bytes(b"nonsense")
    persistence.write()
    assert len(view.of(Unwritable)) == 1
    persistence.close()
    assert store.path.with_suffix(f".{os.getpid()}.unsent").read_text() == "half"
    monkeypatch.undo()
    persistence.write()
    assert store.read().drafts["a"].text == "half"


async def test_prompts_that_cannot_be_written_are_as_few_as_those_that_are_kept(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    for store in (None, Store(tmp_path / "file" / "folder", "/p")):
        persistence = Persistence(store, Recorder(), NEOVIM)
        for number in range(MOST_PROMPTS + 1):
            persistence.keep_prompt(f"{number}")
        persistence.write()
        assert [*persistence._changes.prompts] == [f"{it + 1}" for it in range(MOST_PROMPTS)]


async def test_the_last_words_are_written_beside_a_damaged_file(
    store: Store, view: Recorder
) -> None:
    persistence = start(store, view)
    persistence.keep_draft("a", "half")
    store.path.parent.mkdir(exist_ok=True)
    store.path.write_bytes(b"nonsense")
    persistence.close()
    assert store.read().drafts["a"].text == "half"


async def test_who_cannot_write_at_the_end_leaves_a_file(
    store: Store, view: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.session.persistence.LAST_WRITE_TIMEOUT", 0.0)
    persistence = start(store, view)
    persistence.keep_draft("a", "half")
    store.path.parent.mkdir(exist_ok=True)
    with store.path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        persistence.close()
    left = store.path.with_suffix(f".{os.getpid()}.unsent")
    assert left.read_text() == "half"
    persistence.close()
    assert not left.exists()
    assert store.read().drafts["a"].text == "half"


async def test_prompts_that_no_agent_heard_go_above_the_draft(store: Store, view: Recorder) -> None:
    persistence = start(store, view)
    persistence.keep_draft("a", "half")
    persistence.keep_unsent({"a": ["one", "two"], "b": []})
    persistence.close()
    assert {chat: it.text for chat, it in store.read().drafts.items()} == {"a": "one\ntwo\nhalf"}


# --- several drafts of Neovims that are gone -----------------------------------------------------


async def test_no_two_neovims_take_the_same_draft(store: Store, view: Recorder, dead: int) -> None:
    store.write(StoreChanges(drafts={text: Draft(text, 1.0, dead) for text in ("one", "two")}))
    ours, theirs = start(store, view), start(store, view)
    ours.restore("mine")
    theirs.restore("his")
    assert [op.text for op in view.of(RestoreDraft)] == ["two", "one"]


async def test_the_others_are_offered_like_prompts_until_they_are_sent(
    store: Store, view: Recorder, dead: int
) -> None:
    drafts = {text: Draft(text, 1.0, dead) for text in ("one", "two", "three")}
    store.write(StoreChanges(prompts={"sent": 1.0}, drafts={**drafts}))
    persistence = start(store, view)
    assert view.of(SetPrompts)[-1].prompts == ("sent", "one", "two", "three")
    persistence.restore("mine")
    assert view.of(SetPrompts)[-1].prompts == ("sent", "one", "two")
    assert [op.text for op in view.of(Notify)] == [
        "2 more drafts of this project can be restored: see :Eca prompts"
    ]
    persistence.keep_prompt("one")
    persistence.write()
    assert list(store.read().drafts) == ["two", "mine"]


async def test_a_draft_of_an_earlier_process_of_our_id_comes_back(
    store: Store, view: Recorder
) -> None:
    """In a container Neovim has the same id each time."""
    store.write(StoreChanges(drafts={"old": Draft("half", 1.0, NEOVIM)}))
    start(store, view).restore("mine")
    assert [op.text for op in view.of(RestoreDraft)] == ["half"]


async def test_a_draft_of_this_life_is_not_given_back(store: Store, view: Recorder) -> None:
    persistence = start(store, view)
    persistence.keep_draft("a", "half")
    persistence.restore("a")
    assert view.of(RestoreDraft) == []
