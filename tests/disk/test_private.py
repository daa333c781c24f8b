"""Private folders are removed with their process, whatever ends it; nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

from eca_nvim.disk.private import PrivateFolder, sweep

KIND = "eca-images-"
HOLDS = f"""
import sys
from eca_nvim.disk.private import PrivateFolder
folder = PrivateFolder("{KIND}")
(folder.path / "1").write_text("kept")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which private ones are made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def holder(temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """Return a process that holds a private folder."""
    environment = {
        "PYTHONPATH": str(REPOSITORY / "rplugin" / "python3"),
        "TMPDIR": str(temporary),
    }
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


def test_a_folder_is_made_once_for_the_user_alone(temporary: Path) -> None:
    folder = PrivateFolder(KIND)
    assert list(temporary.iterdir()) == []
    path = folder.path
    assert (folder.path, path.parent, path.stat().st_mode & 0o777) == (path, temporary, 0o700)
    folder.remove()
    folder.remove()
    assert not path.exists()
    assert folder.path != path


def test_the_folder_of_a_killed_process_is_swept(holder: subprocess.Popen[str]) -> None:
    assert holder.stdout is not None
    path = Path(holder.stdout.readline().strip())
    sweep()
    assert (path / "1").read_text() == "kept"
    holder.kill()
    holder.wait()
    sweep()
    assert not path.exists()


def test_nothing_else_is_swept(temporary: Path) -> None:
    target = temporary / "mine"
    for path in (target, temporary / f"{KIND}open", temporary / "eca-other-1"):
        path.mkdir(mode=0o755)
        (path / "file").touch()
    (temporary / f"{KIND}link").symlink_to(target)
    (temporary / f"{KIND}file").touch()
    if os.geteuid() == 0:
        (temporary / f"{KIND}theirs").mkdir(mode=0o700)
        os.chown(temporary / f"{KIND}theirs", 65534, 65534)
    (temporary / f"{KIND}dead").mkdir(mode=0o700)
    (temporary / f"{KIND}dead" / "link").symlink_to(target)
    held = PrivateFolder(KIND)
    held.path.joinpath("file").touch()
    before = sorted(it for it in temporary.rglob("*") if f"{KIND}dead" not in str(it))
    sweep()
    assert sorted(temporary.rglob("*")) == before


def test_a_folder_that_was_swept_before_it_was_locked_is_made_again(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = tempfile.mkdtemp, list[str]()

    def swept(**named: str) -> str:
        made.append(make(**named))
        if len(made) == 1:
            sweep()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", swept)
    folder = PrivateFolder(KIND)
    assert [str(folder.path)] == made[1:]
    assert folder.path.exists()
