"""Snapshots: made of anything that a path can name, restored byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eca_nvim.review import snapshots
from eca_nvim.review.snapshots import Blobs, restore_file, take_snapshot


@given(st.binary(max_size=200), st.binary(max_size=200))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_come_back(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(before)
    seen = take_snapshot(str(path), Blobs())
    path.write_bytes(after)
    restore_file(str(path), seen)
    assert path.read_bytes() == before


def test_a_content_is_held_once_and_no_longer_than_it_is_needed(tmp_path: Path) -> None:
    path, blobs = tmp_path / "file", Blobs()
    path.write_bytes(b"content")
    seen = take_snapshot(str(path), blobs)
    assert take_snapshot(str(path), blobs).blob is seen.blob
    assert seen.content == b"content"
    del seen
    assert not blobs._known


def test_a_file_that_was_not_there_goes_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "file"
    seen = take_snapshot(str(path), Blobs())
    assert seen.is_absent
    path.parent.mkdir(parents=True)
    path.write_text("made")
    restore_file(str(path), seen)
    assert list(tmp_path.iterdir()) == []
    restore_file(str(path), seen)


def test_folders_with_something_else_in_them_stay(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "file"
    seen = take_snapshot(str(path), Blobs())
    path.parent.mkdir(parents=True)
    path.write_text("made")
    (tmp_path / "new" / "mine").write_text("mine")
    restore_file(str(path), seen)
    assert not path.parent.exists()
    assert (tmp_path / "new" / "mine").exists()


def test_a_deleted_file_has_its_permissions_back(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o750)
    seen = take_snapshot(str(path), Blobs())
    path.unlink()
    restore_file(str(path), seen)
    assert path.stat().st_mode & 0o777 == 0o750


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("before")
    path = tmp_path / "link"
    path.symlink_to("real")
    seen = take_snapshot(str(path), Blobs())
    path.write_text("after")
    restore_file(str(path), seen)
    assert path.is_symlink()
    assert (tmp_path / "real").read_text() == "before"


def test_what_is_no_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "big").write_bytes(b"12345")
    monkeypatch.setattr(snapshots, "MOST_SNAPSHOT_BYTES", 4)
    for name, reason in (
        ("pipe", "not a regular file"),
        (".", "not a regular file"),
        ("big", "larger"),
    ):
        seen = take_snapshot(str(tmp_path / name), Blobs())
        assert reason in (seen.fault or "")
        assert not seen.same_as(seen)
        with pytest.raises(OSError, match=reason):
            restore_file(str(tmp_path / name), seen)


def test_a_file_that_grows_as_it_is_read_is_stored_as_far_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, look, blobs = tmp_path / "log", os.fstat, Blobs()
    path.write_bytes(b"one\n")

    def grow(file: int) -> os.stat_result:
        found = look(file)
        with path.open("ab") as log:
            log.write(b"more\n")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", grow)
        taken = take_snapshot(str(path), blobs)
    assert taken.content == b"one\nmore\nmore\n"  # looked at twice before
