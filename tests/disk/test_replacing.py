"""Replacing a file: whatever happens, it has its old content or its new one."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.disk.children import AS_USER, HALF, KILLED, LIMITED, replace

from eca_nvim import system
from eca_nvim.disk import replacing
from eca_nvim.disk.replacing import LINK_IN_THE_WAY, FileDamaged, remove

BEFORE, AFTER = "before " * 1000, "after " * 2000
NOBODY = 65534
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.write_text(BEFORE)
    return path


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of its own with little room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here: see test_a_limit_of_bytes for the same")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def put(path: Path, text: str = AFTER, mode: int = 0o600) -> None:
    replacing.replace(str(path), text.encode(), mode)


def beside(path: Path) -> list[str]:
    return sorted(it.name for it in path.parent.iterdir() if it != path)


# --- what stays -----------------------------------------------------------------------------------


@pytest.mark.parametrize("nameless", [True, False])
def test_a_file_is_replaced(file: Path, monkeypatch: pytest.MonkeyPatch, nameless: bool) -> None:
    if not nameless:
        monkeypatch.setattr(system, "_NAMELESS", 0)
    file.chmod(0o751)
    number = file.stat().st_ino
    put(file)
    assert file.read_text() == AFTER
    assert (file.stat().st_mode & 0o777, beside(file)) == (0o751, [])
    assert file.stat().st_ino != number


def test_a_file_that_was_not_there_is_made_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "file"
    put(path, mode=0o640)
    assert (path.read_text(), path.stat().st_mode & 0o777) == (AFTER, 0o640)
    remove(str(path), 2)
    assert list(tmp_path.iterdir()) == []
    remove(str(path), 2)


def test_attributes_stay(file: Path) -> None:
    try:
        os.setxattr(file, "user.mine", b"mine")
    except OSError:
        pytest.skip("no attributes on this file system")
    put(file)
    assert os.getxattr(file, "user.mine") == b"mine"


def test_a_file_gets_no_access_list_of_its_folder(file: Path) -> None:
    user, anybody = 0xFFFFFFFF, 65534
    entries = ((1, 7, user), (2, 4, anybody), (4, 5, user), (0x10, 7, user), (0x20, 0, user))
    access_list = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *it) for it in entries)
    try:
        os.setxattr(file.parent, "system.posix_acl_default", access_list)
    except OSError:
        pytest.skip("no access lists on this file system")
    file.chmod(0o640)
    put(file)
    assert os.listxattr(file) == []
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("links", [0, 1])
@pytest.mark.parametrize("how", ["in place", "by another file"])
def test_what_is_saved_meanwhile_stays(
    file: Path, monkeypatch: pytest.MonkeyPatch, how: str, links: int
) -> None:
    """An editor saves in the moment in which the new content is on its way to the disk."""
    for number in range(links):
        file.with_name(str(number)).hardlink_to(file)
    sync = os.fsync

    def save(written: int) -> None:
        sync(written)
        saved = file if how == "in place" else file.with_name("saved")
        saved.write_text("saved")
        saved.rename(file)

    monkeypatch.setattr(os, "fsync", save)
    with pytest.raises(OSError, match=replacing.CHANGED):
        put(file)
    assert file.read_text() == "saved"
    assert beside(file) == ["0"][:links]


def test_a_file_that_is_made_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new"
    monkeypatch.setattr(os, "fsync", lambda _: path.write_text("saved"))
    with pytest.raises(OSError, match=replacing.CHANGED):
        put(path)
    assert (path.read_text(), beside(path)) == ("saved", [])


def test_other_names_of_a_file_stay_its_names(file: Path) -> None:
    other = file.with_name("other")
    other.hardlink_to(file)
    put(file)
    assert (file.samefile(other), other.read_text(), beside(file)) == (True, AFTER, ["other"])
    put(file, "short")
    assert other.read_text() == "short"


@root_only
def test_the_owner_stays(file: Path) -> None:
    os.chown(file, NOBODY, NOBODY)
    put(file)
    assert (file.stat().st_uid, file.stat().st_gid) == (NOBODY, NOBODY)


def test_a_file_in_a_folder_that_may_not_be_written_is_written_in_place(file: Path) -> None:
    file.chmod(0o666)
    number = file.stat().st_ino
    file.parent.chmod(0o555)
    assert replace_as_user(file) == (0, "")
    file.parent.chmod(0o755)
    assert (file.read_text(), file.stat().st_ino, beside(file)) == (AFTER, number, [])


def replace_as_user(path: Path) -> tuple[int, str]:
    """Replace a file in a process that is not root's."""
    if os.geteuid() != 0:
        return replace(path, AFTER)
    for folder in path.parents:
        if folder.name.startswith(("test_", "popen-", "pytest-")):
            folder.chmod(0o711)
    return replace(path, AFTER, AS_USER, NOBODY)


# --- what fails -----------------------------------------------------------------------------------


def test_a_file_that_may_not_be_written_is_as_it_was(file: Path) -> None:
    file.chmod(0o444)
    assert replace_as_user(file) == (0, "PermissionError Permission denied")
    assert (file.read_text(), beside(file)) == (BEFORE, [])


def test_a_limit_of_bytes_leaves_the_file_as_it_was(file: Path) -> None:
    assert replace(file, AFTER, LIMITED, len(BEFORE)) == (0, "OSError File too large")
    assert (file.read_text(), beside(file)) == (BEFORE, [])


def test_a_limit_of_bytes_leaves_a_file_with_other_names_as_it_was(file: Path) -> None:
    file.with_name("other").hardlink_to(file)
    assert replace(file, AFTER, LIMITED, len(BEFORE)) == (0, "OSError File too large")
    assert (file.read_text(), beside(file)) == (BEFORE, ["other"])


@pytest.mark.parametrize("linked", [False, True])
def test_a_full_disk_leaves_the_file_as_it_was(full_disk: Path, linked: bool) -> None:
    path = full_disk / "file"
    path.write_text(BEFORE)
    if linked:
        path.with_name("other").hardlink_to(path)
    fill = full_disk / "fill"
    with pytest.raises(OSError, match="No space"):
        fill.write_bytes(bytes(1 << 20))
    with pytest.raises(OSError, match="No space"):
        put(path, AFTER)
    assert path.read_text() == BEFORE
    assert beside(path) == ["fill", "other"] if linked else ["fill"]


@root_only
def test_a_disk_that_is_read_only_is_said_to_be(full_disk: Path) -> None:
    path = full_disk / "file"
    path.write_text(BEFORE)
    subprocess.run(["mount", "-o", "remount,ro", str(full_disk)], check=True)
    with pytest.raises(OSError, match="Read-only"):
        put(path)
    assert path.read_text() == BEFORE


def test_a_damaged_file_is_said_to_be_with_the_place_of_its_copy(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    file.with_name("other").hardlink_to(file)
    with monkeypatch.context() as broken:
        broken.setattr(os, "ftruncate", fail)
        with pytest.raises(FileDamaged, match="Input/output") as damaged:
            put(file)
    assert Path(damaged.value.copy).read_text() == BEFORE
    assert Path(damaged.value.copy).parent == file.parent
    assert Path(damaged.value.copy).stat().st_mode & 0o777 == 0o600


# --- links ----------------------------------------------------------------------------------------


def test_a_link_in_place_of_a_file_is_replaced(file: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    file.unlink()
    file.symlink_to(secret)
    put(file)
    assert (file.is_symlink(), file.read_text(), secret.read_text()) == (False, AFTER, "secret")
    file.unlink()
    file.symlink_to(secret)
    remove(str(file))
    assert (beside(file), secret.exists()) == ([], True)


@pytest.mark.parametrize("what", ["link", "file"])
def test_a_link_in_place_of_a_folder_is_not_followed(file: Path, what: str) -> None:
    outside = file.parent.with_name("outside")
    file.parent.rename(outside)
    if what == "link":
        file.parent.symlink_to(outside)
    else:
        file.parent.write_text("a file")
    for act in (put, lambda path: remove(str(path))):
        with pytest.raises(OSError, match=LINK_IN_THE_WAY):
            act(file)
    assert (outside / "file").read_text() == BEFORE


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_stays(file: Path, make: object) -> None:
    file.unlink()
    assert callable(make)
    make(file)
    with pytest.raises(OSError, match=r"regular|directory"):
        put(file)
    assert not file.is_file()


# --- kills ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_there", [True, False])
def test_a_kill_at_any_step_leaves_one_content_or_the_other(file: Path, is_there: bool) -> None:
    old, left = (BEFORE if is_there else None), set[str]()
    for step in range(1, 200):
        file.write_text(BEFORE) if is_there else file.unlink(missing_ok=True)
        status, _ = replace(file, AFTER, HALF + KILLED, step)
        text = file.read_text() if file.exists() else None
        assert text in (old, AFTER)
        left |= set(beside(file))
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert step > 10
    assert file.read_text() == AFTER
    assert len(left) == is_there  # between the new name and the old one; a new file has one name


def test_a_kill_while_a_file_is_written_in_place_leaves_a_copy(file: Path) -> None:
    for step in range(1, 200):
        file.unlink()
        file.write_text(BEFORE)
        file.with_name("other").unlink(missing_ok=True)
        file.with_name("other").hardlink_to(file)
        status, _ = replace(file, AFTER, HALF + KILLED, step)
        copies = [it for it in beside(file) if it.startswith("file.eca-copy-")]
        whole = [file.with_name(it).read_text() for it in (*copies, "file")]
        assert BEFORE in whole or AFTER in whole
        for copy in copies:
            file.with_name(copy).unlink()
        if status == 0:
            break
    assert copies == []
    assert file.read_text() == AFTER
