"""Undo: several turns at once, links that appeared later, names that cannot be shown."""

from __future__ import annotations

import os
import shutil
import zlib
from pathlib import Path

import pytest
from tests.review.desk import Desk, contents
from tests.review.watched import Watched

from eca_nvim.chat.vocabulary.events import ToolFinished
from eca_nvim.review.snapshots import LINKED, LOST, Blobs, restore_file, take_snapshot
from eca_nvim.review.turn_store import save_turn
from eca_nvim.review.undo import ODD_NAME, UndoPlan, moved_on, plan_undo


def move(desk: Desk, source: str, destination: str) -> None:
    ends = {
        "source": str(desk.folder / source),
        "destination": str(desk.folder / destination),
    }
    call = desk.request("move_file", waits=False, arguments=ends)
    (desk.folder / source).rename(desk.folder / destination)
    desk.hear(ToolFinished(call))


def planned(desk: Desk) -> UndoPlan:
    return plan_undo(desk.turns()[::-1], desk.present())


def whats(desk: Desk) -> dict[str, object]:
    return {Path(str(it["path"])).name: it["what"] for it in planned(desk).files}


def undo_all(desk: Desk) -> dict[str, str | None]:
    return dict(desk.outcomes(*desk.turns()[::-1]))


# --- several turns --------------------------------------------------------------------------------


def test_turns_are_undone_as_one(desk: Desk) -> None:
    before = contents(desk.folder)
    desk.write("a", b"one\n")
    desk.write("new", b"new\n")
    desk.turn("next")
    desk.write("a", b"two\n")
    desk.write("c", None)
    desk.turn("last")
    desk.write("a", b"three\n")
    assert whats(desk) == {"a": "restore", "c": "create", "new": "delete"}
    assert set(undo_all(desk).values()) == {None}
    assert contents(desk.folder) == before
    assert planned(desk).files == []


def test_each_of_the_turns_can_be_done_again(desk: Desk) -> None:
    desk.write("a", b"one\n")
    desk.turn("next")
    desk.write("a", b"two\n")
    undo_all(desk)
    desk.undo(1)
    assert (desk.folder / "a").read_bytes() == b"one\n"
    desk.undo(2)
    assert (desk.folder / "a").read_bytes() == b"two\n"


def test_what_came_and_went_is_undone_with_the_others(desk: Desk) -> None:
    before = contents(desk.folder)
    desk.write("new", b"new\n")
    desk.turn("next")
    move(desk, "new", "other")
    assert whats(desk) == {"other": "delete"}
    undo_all(desk)
    assert contents(desk.folder) == before
    for number in (1, 2):
        assert plan_undo([desk.turn_of(number)], desk.present()).again or not desk.plan(number)


def test_a_file_that_was_moved_twice_goes_back(desk: Desk) -> None:
    before = contents(desk.folder)
    move(desk, "a", "b")
    desk.turn("next")
    move(desk, "b", "d")
    undo_all(desk)
    assert contents(desk.folder) == before


def test_what_the_user_saved_between_turns_needs_his_word(desk: Desk) -> None:
    desk.write("a", b"one\n")
    desk.turn("next")
    (desk.folder / "a").write_bytes(b"mine\none\n")
    desk.write("a", b"mine\ntwo\n")
    desk.write("c", b"c\n")
    conflicts = {Path(str(it["path"])).name: it["conflict"] for it in planned(desk).files}
    assert conflicts == {"a": "changed by others, too", "c": None}
    (desk.folder / "c").write_bytes(b"mine\n")
    assert {it["conflict"] for it in planned(desk).files} == {
        "changed by others, too",
        "changed since",
    }


def test_a_turn_that_was_undone_already_counts_for_nothing(desk: Desk) -> None:
    desk.write("a", b"one\n")
    desk.turn("next")
    desk.write("a", b"two\n")
    desk.undo(2)
    assert [it["conflict"] for it in planned(desk).files] == [None]
    undo_all(desk)
    assert (desk.folder / "a").read_bytes() == b"1\n2\n3\n"


def test_a_later_move_is_named_when_nothing_is_left_to_undo(desk: Desk) -> None:
    desk.write("new", b"new\n")
    desk.turn("next")
    move(desk, "new", "other")
    first, second = desk.turns()
    assert desk.plan(1) == {}
    assert moved_on(first, [second]) == "turn 2 has moved new: undo that turn first"
    desk.undo(2)
    assert moved_on(first, [second]) is None


# --- failures -------------------------------------------------------------------------------------


def test_a_failure_turns_nothing_round(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("a", b"one\n")
    desk.turn("next")
    desk.write("a", b"two\n")
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", lambda _: fail(28))
        assert undo_all(desk) == {"a": os.strerror(28)}
    assert (desk.folder / "a").read_bytes() == b"two\n"
    assert [it["conflict"] for it in planned(desk).files] == [None]


@pytest.mark.parametrize("how", ["removed", "changed", "cut"])
def test_a_checkpoint_that_somebody_spoilt_is_told_and_not_put_back(
    how: str, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a").write_bytes(b"before\n")
    desk = Desk(folder, tmp_path / "store")
    desk.turn()
    desk.write("a", b"after\n")
    (turn,) = desk.turns()
    assert desk.trees.store is not None
    save_turn(desk.trees.store, turn)
    blob = turn.files[str(folder / "a")].before.blob
    assert blob is not None
    assert blob.read() == b"before\n"
    shutil.rmtree(tmp_path / "store" / "objects" / "pack")
    stored = tmp_path / "store" / "objects" / blob.digest[:2] / blob.digest[2:]
    stored.unlink(missing_ok=True)
    stored.parent.mkdir(exist_ok=True)
    spoilt = zlib.compress(b"blob 5\0other")
    if how != "removed":
        stored.write_bytes(spoilt if how == "changed" else spoilt[:9])
    assert planned(desk).files[0]["fault"] == LOST
    assert undo_all(desk) == {"a": LOST}
    assert (folder / "a").read_bytes() == b"after\n"


def fail(number: int) -> None:
    raise OSError(number, os.strerror(number))


# --- links ----------------------------------------------------------------------------------------


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return a folder elsewhere with a file that has what the tool wrote."""
    folder = tmp_path.with_name(f"{tmp_path.name}-elsewhere")
    folder.mkdir()
    (folder / "a").write_bytes(b"after\n")
    return folder


def test_a_link_in_place_of_a_file_needs_the_users_word_and_is_not_followed(
    desk: Desk, secret: Path
) -> None:
    desk.write("a", b"after\n")
    fingerprint = desk.plan()["a"]["seen"]
    (desk.folder / "a").unlink()
    (desk.folder / "a").symlink_to(secret / "a")
    found = desk.plan()["a"]
    assert (found["conflict"], found["fault"]) == (LINKED, None)
    assert found["seen"] != fingerprint
    desk.undo()
    assert (secret / "a").read_bytes() == b"after\n"
    assert not (desk.folder / "a").is_symlink()
    assert (desk.folder / "a").read_bytes() == b"1\n2\n3\n"


@pytest.mark.parametrize("content", [b"before\n", None])
def test_a_link_in_place_of_a_folder_is_a_fault(
    desk: Desk, secret: Path, content: bytes | None
) -> None:
    path = desk.folder / "deep" / "a"
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)
    desk.write("deep/a", b"after\n")
    path.parent.rename(desk.folder / "moved")
    path.parent.symlink_to(secret)
    assert desk.plan()["a"]["fault"] == LINKED
    assert desk.outcomes(desk.turn_of(1)) == {"deep/a": LINKED}
    assert (secret / "a").read_bytes() == b"after\n"


def test_a_link_that_was_there_is_still_gone_through(desk: Desk, secret: Path) -> None:
    (desk.folder / "d").symlink_to(secret)
    (desk.folder / "link").symlink_to(secret / "b")
    (secret / "a").write_bytes(b"before\n")
    (secret / "b").write_bytes(b"before\n")
    desk.write("d/a", b"after\n")
    desk.write("link", b"after\n")
    assert {it["conflict"] for it in desk.plan().values()} == {None}
    desk.undo()
    assert contents(secret) == {"a": b"before\n", "b": b"before\n"}
    assert (desk.folder / "link").is_symlink()


def test_a_link_that_leads_elsewhere_now_is_not_gone_through(tmp_path: Path, secret: Path) -> None:
    path = tmp_path / "link"
    path.symlink_to(secret / "a")
    seen = take_snapshot(str(path), Blobs())
    path.unlink()
    path.symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match=LINKED):
        restore_file(str(path), seen)
    assert not (tmp_path / "other").exists()


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "shown"), [("a\nb", "a␤b"), ("caf\udce9", "caf\ufffd")])
def test_a_file_with_an_odd_name_that_a_command_changed_is_named(
    watched: Watched, name: str, shown: str
) -> None:
    watched.put(name, b"1\n")
    watched.command(lambda: watched.put(name, b"22\n"))
    (row,) = planned(watched).files
    assert (Path(str(row["path"])).name, row["fault"]) == (shown, ODD_NAME)
    str(row["path"]).encode()
    watched.turn("next")
    watched.command((watched.folder / name).unlink)
    assert [it["fault"] for it in plan_undo(watched.turns()[-1:], watched.present()).files] == [
        ODD_NAME
    ]


def test_what_is_done_again_does_not_name_it(watched: Watched) -> None:
    watched.command(watched.change(**{"a": b"x\n", "a\nb": b"made\n"}))
    assert len(planned(watched).files) == 2
    watched.undo()
    found = plan_undo([watched.turn_of(1)], watched.present())
    assert found.again
    assert [it["fault"] for it in found.files] == [None]
    assert (watched.folder / "a\nb").exists()
