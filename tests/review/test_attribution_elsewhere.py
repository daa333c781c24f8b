"""Attribution with links, moved folders, and files that git ignored."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from tests.review.desk import contents, set_content
from tests.review.watched import Watched

from eca_nvim.review.checkpoint_store import MOST_FILE_BYTES
from eca_nvim.review.restoring import ONLY_PLACE
from eca_nvim.review.snapshots import LINKED


def test_an_undo_goes_through_no_link(watched: Watched, tmp_path: Path) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name}-outside")
    outside.mkdir()

    def link() -> None:
        (tmp_path / "a").unlink()
        (tmp_path / "a").symlink_to(outside / "a")
        (tmp_path / "d").rename(tmp_path / "e")

    watched.put("d/x", b"x\n")
    watched.command(link)
    (tmp_path / "d").symlink_to(outside)
    planned = watched.plan()
    assert (planned["a"]["conflict"], planned["a"]["fault"]) == (None, None)
    faults = watched.outcomes(watched.turn_of(1))
    assert faults == {"a": None, "d/x": LINKED, "e/x": ONLY_PLACE}
    assert list(outside.iterdir()) == []
    assert (tmp_path / "e" / "x").read_bytes() == b"x\n"
    assert not (tmp_path / "a").is_symlink()


def test_a_folder_that_was_moved_goes_back(watched: Watched) -> None:
    watched.put("d/deep/x", b"x\n")
    before = contents(watched.folder)
    watched.command(lambda: shell(watched.folder, "mv d e"))
    watched.undo()
    assert contents(watched.folder) == before
    assert not (watched.folder / "e").exists()


@pytest.fixture
def ignoring(tmp_path: Path) -> Watched:
    """Return a desk in a repository that ignores two files."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, content in {".gitignore": b"data/\n.env\n", ".env": b"1\n", "data/x": b"2\n"}.items():
        set_content(tmp_path / name, content)
    return Watched(tmp_path)


@pytest.mark.parametrize("program", [": > .gitignore", "rm -rf .git"])
def test_what_git_ignored_was_made_by_nobody(ignoring: Watched, program: str) -> None:
    before = contents(ignoring.folder / "data")
    ignoring.command(lambda: shell(ignoring.folder, program))
    assert not {".env", "x"} & {Path(path).name for turn in ignoring.turns() for path in turn.files}
    assert contents(ignoring.folder / "data") == before


def test_of_what_git_ignored_nobody_knows_what_it_was(
    ignoring: Watched, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def change() -> None:
        wait_for_the_clock_of_files(tmp_path_factory.mktemp("clock") / "probe")
        shell(ignoring.folder, ": > .gitignore; echo 3 > .env; echo 4 > data/x")

    ignoring.command(change)
    unseen = "its original text is unknown"
    planned = {name: it["fault"] for name, it in ignoring.plan().items()}
    assert planned == {".gitignore": None, ".env": unseen, "x": unseen}


def wait_for_the_clock_of_files(probe: Path) -> None:
    """Wait until a file that changes is not dated before now: that clock ticks some ms apart."""
    now = time.time_ns()
    probe.touch()
    while probe.stat().st_ctime_ns < now:
        probe.touch()


def shell(folder: Path, program: str) -> None:
    subprocess.run(["sh", "-c", program], cwd=folder, check=True)


def test_a_new_file_too_large_to_keep_is_told(watched: Watched) -> None:
    watched.command(watched.change(new=bytes(MOST_FILE_BYTES + 1)))
    assert watched.plan()["new"]["conflict"] == "it is larger than 20 MiB"


def test_what_git_ignores_from_now_on_is_not_gone(watched: Watched) -> None:
    subprocess.run(["git", "init", "-q", str(watched.folder)], check=True)
    watched.put("data/x", b"1\n")
    watched.command(watched.change(**{".gitignore": b"data/\n"}))
    assert [name for _, name, *_ in watched.listed()] == [".gitignore"]
    watched.write("data/x", b"2\n")
    assert watched.plan()["x"]["conflict"] is None


@pytest.mark.parametrize("name", ["loop/x", "a\0b"])
def test_a_path_that_cannot_be_looked_at_is_no_fault(watched: Watched, name: str) -> None:
    (watched.folder / "loop").symlink_to(watched.folder / "loop")
    watched.start()
    path = f"{watched.folder}/{name}"
    watched.request("write_file", waits=False, arguments={"path": path})
    assert watched.ledger.snapshot(path).fault is not None
