"""Surveys: what is kept of files, which are read again, and which are reported as changed."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from eca_nvim.review import survey as survey_module
from eca_nvim.review.survey import (
    Difference,
    Survey,
    SurveyedFile,
    differences,
    survey,
    survey_file,
)
from eca_nvim.review.workspace import FileStat

DENSE = bytes(range(100))
"""Content that takes its own size, at least, when it is packed."""
BEGAN = 10**18
TIMES = (
    BEGAN - survey_module.TIME_RESOLUTION - 1,
    BEGAN - survey_module.TIME_RESOLUTION,
    BEGAN + 1,
)
"""When files were changed: the first one before the survey that began, the others late."""


class Place:
    """Folders that are surveyed again and again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folders = [root]
        self.last: Survey | None = None

    def put(self, name: str, content: bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def survey(self) -> dict[str, SurveyedFile]:
        """Survey once more; gives what is kept by name."""
        self.last = survey([str(folder) for folder in self.folders], self.last)
        return {os.path.relpath(path, self.root): kept for path, kept in self.last.files.items()}

    def changes(self) -> dict[str, Difference]:
        """Survey once more; gives what is new in it by name."""
        last, _ = self.last, self.survey()
        assert self.last is not None
        found = differences(last, self.last)
        return {os.path.relpath(one.path, self.root): one for one in found}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a folder without git, where no file is young, whatever the clock says."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(survey_module, "TIME_RESOLUTION", -(1 << 62))
    return Place(tmp_path)


def rewrite(path: Path, content: bytes) -> None:
    """Write a file so that only the time that nobody can set tells of it."""
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # until the clock has ticked
        path.write_bytes(content)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def contents(difference: Difference) -> list[bytes | None]:
    return [kept.content if kept else None for kept in (difference.before, difference.after)]


# --- what is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"text\r\n", b"\0\xff\x80" * 999, DENSE])
def test_any_content_comes_back(place: Place, content: bytes) -> None:
    place.put("file", content)
    (kept,) = place.survey().values()
    assert (kept.content, kept.fault) == (content, None)


def test_a_file_that_is_not_there_is_not_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    assert survey_file(path) is None
    assert survey_file(path, FileStat(0, 0, 0, 0, 0)) is None, "it went after the stat_file"


def test_large_files_are_not_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "MOST_FILE_BYTES", 4)
    place.put("large", b"12345")
    place.put("largest", b"1234")
    kept = place.survey()
    assert {name: one.fault for name, one in kept.items()} == {
        "large": survey_module.LARGE,
        "largest": None,
    }
    assert kept["large"].content == b""


def test_only_so_much_is_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.put("a/file", DENSE)
    (first,) = place.survey().values()
    assert first.packed is not None
    monkeypatch.setattr(survey_module, "MOST_BYTES", 2 * len(first.packed))
    place.put("b/file", DENSE)
    place.put("c/file", DENSE)
    place.folders = [place.root / name for name in "abc"]
    kept = place.survey()
    faults = {name: one.fault for name, one in kept.items()}
    assert faults == {"a/file": None, "b/file": None, "c/file": survey_module.NO_ROOM}
    assert kept["a/file"] is first


def test_what_is_kept_leaves_its_room_to_no_other(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put("old/file", DENSE)
    (first,) = place.survey().values()
    assert first.packed is not None
    monkeypatch.setattr(survey_module, "MOST_BYTES", 2 * len(first.packed) - 1)
    place.put("new/file", DENSE)
    place.folders = [place.root / "new", place.root / "old"]
    faults = {name: one.fault for name, one in place.survey().items()}
    assert faults == {"old/file": None, "new/file": survey_module.NO_ROOM}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_unreadable_files_are_not_kept(place: Place) -> None:
    place.put("file", b"secret").chmod(0)
    (kept,) = place.survey().values()
    assert (kept.fault, kept.content) == (survey_module.UNREADABLE, b"")
    (place.root / "file").chmod(0o600)
    assert place.survey()["file"].content == b"secret"


def test_a_survey_can_be_stopped_at_every_file(place: Place) -> None:
    place.put("file", b"")
    checks = iter([None])  # the folder
    with pytest.raises(StopIteration):
        survey([str(place.root)], None, lambda: next(checks))


def test_a_survey_begins_before_it_looks(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    times = [7]
    monkeypatch.setattr(time, "time_ns", lambda: times[-1])
    assert survey([str(place.root)], None, lambda: times.append(8)).began == 7


# --- what is read again ---------------------------------------------------------------------------


def test_what_did_not_change_is_not_read_again(place: Place) -> None:
    place.put("file", b"same")
    assert place.survey()["file"] is place.survey()["file"]
    assert place.changes() == {}


@pytest.mark.parametrize("option", ["MOST_FILE_BYTES", "MOST_BYTES", "COMPRESSION_LEVEL"])
def test_the_young_are_read(place: Place, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    monkeypatch.setattr(survey_module, "TIME_RESOLUTION", 1 << 62)
    monkeypatch.setattr(survey_module, option, 0)
    place.put("file", b"same")
    first = place.survey()["file"]
    assert first.is_recent
    assert place.survey()["file"] is not first
    assert place.changes() == {}


def test_youth_is_of_the_last_change(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.put("file", b"same")
    os.utime(path, ns=(0, 0))
    changed = path.stat().st_ctime_ns
    monkeypatch.setattr(survey_module, "TIME_RESOLUTION", 10)
    monkeypatch.setattr(time, "time_ns", lambda: changed + 9)
    assert place.survey()["file"].is_recent
    monkeypatch.setattr(time, "time_ns", lambda: changed + 10)
    assert not place.survey()["file"].is_recent


# --- what changed ---------------------------------------------------------------------------------


def test_a_change_is_told(place: Place) -> None:
    place.put("file", b"before")
    place.put("other", b"other")
    place.survey()
    place.put("file", b"afterwards")
    (change,) = place.changes().values()
    assert change.path == str(place.root / "file")
    assert contents(change) == [b"before", b"afterwards"]
    assert change.folders == ()


def test_a_change_that_hides_is_told(place: Place) -> None:
    path = place.put("file", b"before")
    place.survey()
    rewrite(path, b"behind")
    assert contents(place.changes()["file"]) == [b"before", b"behind"]


@pytest.mark.parametrize(
    ("limit", "fault"),
    [("MOST_FILE_BYTES", survey_module.LARGE), ("MOST_BYTES", survey_module.NO_ROOM)],
)
def test_a_change_of_what_is_not_kept_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch, limit: str, fault: str
) -> None:
    monkeypatch.setattr(survey_module, limit, 4)
    path = place.put("file", b"before")
    place.survey()
    assert place.changes() == {}
    rewrite(path, b"behind")
    change = place.changes()["file"]
    assert change.before is not None
    assert change.after is not None
    assert [change.before.fault, change.after.fault] == [fault, fault]


def test_a_deleted_file_is_told(place: Place) -> None:
    path = place.put("sub/file", b"before")
    place.survey()
    path.unlink()
    path.parent.rmdir()
    assert contents(place.changes()["sub/file"]) == [b"before", None]
    assert place.survey() == {}


def test_a_touched_file_did_not_change(place: Place) -> None:
    path = place.put("file", b"same")
    place.survey()
    os.utime(path, ns=(0, 0))
    assert place.changes() == {}


def test_a_new_file_is_told_with_its_new_folders(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey_module, "TIME_RESOLUTION", 0)
    place.put("old/file", b"")
    place.survey()
    place.put("old/new/deep/file", b"made")
    place.put("old/other", b"made")
    changes = place.changes()
    assert contents(changes["old/new/deep/file"]) == [None, b"made"]
    new = place.root / "old" / "new"
    assert changes["old/new/deep/file"].folders == (str(new / "deep"), str(new))
    assert changes["old/other"].folders == ()


# --- when it changed ------------------------------------------------------------------------------


def found(changed: Sequence[int], began: int) -> Survey:
    """Return a survey of files that were changed at these times, by them."""
    files = {f"/{at}": SurveyedFile(FileStat(at, 0, 0, 0, 0), b"%d" % began) for at in changed}
    return Survey(files, began=began)


@pytest.mark.parametrize("known", [(), TIMES])
def test_what_was_changed_after_the_survey_began_is_late(known: Sequence[int]) -> None:
    told = differences(found(known, began=1), found(TIMES, BEGAN))
    assert [(one.during_survey, one.folders) for one in told] == [
        (False, ()),
        (True, ()),
        (True, ()),
    ]


def test_of_a_first_survey_only_what_is_late_is_told() -> None:
    told = list(differences(None, found(TIMES, BEGAN)))
    assert [one.path for one in told] == [f"/{at}" for at in TIMES[1:]]
    assert all(one.during_survey and one.before is None and one.folders == () for one in told)


def test_what_is_changed_between_look_and_read_has_the_time_of_that(place: Place) -> None:
    path = place.put("file", b"1")
    place.survey()
    rewrite(path, b"2")
    kept = survey([str(place.root)], place.last, lambda: rewrite(path, b"3")).files[str(path)]
    assert (kept.content, kept.stat.changed) == (b"3", path.stat().st_ctime_ns)
    assert kept.is_recent
