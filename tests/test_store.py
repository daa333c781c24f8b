"""The store: merged with what other Neovims write, never overwritten if it is damaged."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgpack
import pytest
from tests.support.launch import REPOSITORY

from eca_nvim.store import (
    FORMAT,
    MOST_DRAFTS,
    MOST_PROMPTS,
    Busy,
    Draft,
    SavedState,
    Store,
    StoreChanges,
    StoreDamaged,
    is_running,
    merge,
)

PROJECT = "/home/me/project"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "eca", PROJECT)


@pytest.fixture
def dead() -> int:
    """Return the id of a process that is gone."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def prompts(*texts: str, start: float = 1.0) -> StoreChanges:
    return StoreChanges(prompts={text: start + place for place, text in enumerate(texts)})


def test_what_is_written_is_read_again(store: Store) -> None:
    assert store.read() == SavedState()
    changed = StoreChanges(
        prompts={"two\nlines": 2.0, "é \ud83d": 1.0},
        drafts={"chat": Draft("half", 3.0, 42), "gone": None},
        choices={"model": "m1"},
    )
    written = store.write(changed)
    assert store.read() == written
    assert list(written.prompts) == ["é \ud83d", "two\nlines"]
    assert written.drafts == {"chat": Draft("half", 3.0, 42)}


def test_only_its_owner_reads_it(store: Store) -> None:
    store.write(prompts("secret"))
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_projects_are_kept_apart(tmp_path: Path) -> None:
    Store(tmp_path, "/a").write(prompts("of a"))
    assert Store(tmp_path, "/b").read() == SavedState()


def test_two_neovims_write_together(tmp_path: Path) -> None:
    ours, theirs = Store(tmp_path, PROJECT), Store(tmp_path, PROJECT)
    ours.write(StoreChanges(prompts={"a": 1.0}, drafts={"1": Draft("one", 1.0, 1)}))
    theirs.write(StoreChanges(prompts={"b": 2.0}, drafts={"2": Draft("two", 2.0, 2)}))
    kept = ours.write(StoreChanges(prompts={"c": 3.0}, drafts={"1": None}))
    assert list(kept.prompts) == ["a", "b", "c"]
    assert list(kept.drafts) == ["2"]


def test_a_prompt_is_there_once_where_it_was_last_sent() -> None:
    kept = merge(SavedState(prompts={"a": 1.0, "b": 2.0}), StoreChanges(prompts={"a": 3.0}))
    assert list(kept.prompts) == ["b", "a"]
    assert merge(kept, StoreChanges(prompts={"a": 1.0})).prompts["a"] == 3.0


def test_the_oldest_go_when_there_are_too_many() -> None:
    texts = [str(number) for number in range(MOST_PROMPTS + 5)]
    drafts = {it: Draft("x", float(it), 1) for it in texts[: MOST_DRAFTS + 5]}
    kept = merge(SavedState(), StoreChanges(prompts=prompts(*texts).prompts, drafts={**drafts}))
    assert list(kept.prompts) == texts[5:]
    assert list(kept.drafts) == texts[5 : MOST_DRAFTS + 5]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xc1",
        b"not msgpack at all",
        msgpack.packb({"format": FORMAT + 1}),
        msgpack.packb({"format": FORMAT, "prompts": [["a"]], "drafts": {}, "choices": {}}),
        msgpack.packb({"format": FORMAT, "prompts": [[1, 1.0]], "drafts": {}, "choices": {}}),
        msgpack.packb({"format": FORMAT, "prompts": [], "drafts": {"a": 1}, "choices": {}}),
        msgpack.packb([1, 2]),
    ],
)
def test_a_damaged_file_is_left_alone_and_set_aside(store: Store, content: bytes) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(content)
    with pytest.raises(StoreDamaged, match="is damaged"):
        store.write(prompts("a"))
    assert store.path.read_bytes() == content
    aside = store.set_aside()
    assert aside is not None
    assert aside.read_bytes() == content
    assert list(store.write(prompts("a")).prompts) == ["a"]


def test_nothing_that_was_set_aside_is_overwritten(store: Store) -> None:
    store.path.parent.mkdir()
    asides = []
    for content in (b"one", b"two", b"three"):
        store.path.write_bytes(content)
        asides.append(store.set_aside())
    assert [path and path.read_bytes() for path in asides] == [b"one", b"two", b"three"]


def test_a_pipe_or_a_folder_in_its_place_is_set_aside(store: Store) -> None:
    store.path.parent.mkdir()
    for make in (os.mkfifo, os.mkdir):
        make(store.path)
        with pytest.raises(StoreDamaged, match="not a regular file"):
            store.read()
        assert store.set_aside()
    assert list(store.write(prompts("a")).prompts) == ["a"]


def test_a_file_that_another_process_has_mended_stays(store: Store) -> None:
    """Two Neovims find a damaged file; the first sets it aside, and has written since."""
    store.write(prompts("a"))
    assert store.set_aside() is None
    assert list(store.read().prompts) == ["a"]


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """Keep everybody else from writing."""
    store.path.parent.mkdir(exist_ok=True)
    lock = os.open(store.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    yield
    os.close(lock)


def test_nobody_waits_for_another_writer_unless_asked_to(store: Store) -> None:
    store.write(prompts("a"))
    with locked(store), pytest.raises(Busy):
        store.write(prompts("b", start=2.0))
    assert list(store.write(prompts("b", start=2.0)).prompts) == ["a", "b"]


def test_the_last_writers_wait_for_each_other(tmp_path: Path) -> None:
    """Each of them is a process; they have a large file and the same instant."""
    folder, count = tmp_path / "eca", 8
    Store(folder, PROJECT).write(
        StoreChanges(prompts={f"{number}" * 2000: 1.0 for number in range(300)})
    )
    read, write = os.pipe()
    code = (
        "import os, sys; from pathlib import Path; from eca_nvim.store import *;"
        "os.read(int(sys.argv[1]), 1);"
        "changed = StoreChanges(drafts={sys.argv[2]: Draft(sys.argv[2], 1.0, 1)});"
        f"Store(Path({str(folder)!r}), {PROJECT!r}).write(changed, 30)"
    )
    command = [sys.executable, "-c", code, str(read)]
    path = {"PYTHONPATH": str(REPOSITORY / "rplugin" / "python3")}
    writers = [
        subprocess.Popen([*command, str(number)], pass_fds=[read], env=path)
        for number in range(count)
    ]
    os.write(write, b"." * count)
    assert [writer.wait(60) for writer in writers] == [0] * count
    assert len(Store(folder, PROJECT).read().drafts) == count


def test_what_killed_writers_left_is_swept(store: Store, dead: int) -> None:
    store.write(prompts("a"))
    folder, name = store.path.parent, store.path.stem
    stays = [f"{name}.{os.getppid()}", f"{name}.{dead}.unsent", "eca.log.1", f"{name}.notes"]
    goes = [f"{name}.{dead}", f"0123456789abcdef.{dead}", f"{name}.{dead}.unsent.new"]
    for file in (*stays, *goes):
        (folder / file).write_text("half")
    store.sweep()
    left = {path.name for path in folder.iterdir()}
    assert left == {store.path.name, f"{name}.lock", *stays}


def test_a_process_that_nobody_waited_for_does_not_run() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_running(child.pid)
    child.wait()
    assert not is_running(child.pid)
    assert is_running(os.getpid())


def test_a_process_that_came_later_is_another_one() -> None:
    assert is_running(os.getpid(), time.time())
    if not Path("/proc/self/stat").exists():
        pytest.skip("nothing tells when a process was started")
    child = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    assert is_running(child.pid, time.time())
    assert not is_running(child.pid, time.time() - 60)
    child.communicate()


def test_drafts_that_cannot_be_written_are_left_for_the_next_neovim(store: Store) -> None:
    store.path.parent.mkdir()
    left = store.path.with_suffix(f".{os.getpid()}.unsent")
    drafts = {"a": Draft("one", 1.0, 1), "b": None, "c": Draft("two \ud83d", 1.0, 1)}
    store.leave_drafts(StoreChanges(drafts={**drafts}))
    assert left.read_bytes().decode(errors="surrogatepass") == "one\ntwo \ud83d"
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    left.write_text("what Neovim wrote itself")
    store.leave_drafts(StoreChanges(drafts={**drafts}))
    assert left.read_text() == "what Neovim wrote itself"
    store.remove_left_drafts(SavedState(drafts={"a": Draft("what Neovim", 1.0, 1)}))
    assert left.exists()
    store.remove_left_drafts(
        SavedState(drafts={"a": Draft("and\nwhat Neovim wrote itself", 1.0, 1)})
    )
    assert not left.exists()
    store.remove_left_drafts(SavedState())


def test_a_write_that_fails_leaves_no_half(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(prompts("a"))

    def full(_path: Path, _content: bytes) -> int:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space left"):
        store.write(prompts("b"))
    assert {path.suffix for path in store.path.parent.iterdir()} == {".msgpack", ".lock"}


def test_a_write_leaves_nothing_but_its_file(store: Store) -> None:
    store.write(prompts("a"))
    store.write(prompts("b"))
    assert {path.suffix for path in store.path.parent.iterdir()} == {".msgpack", ".lock"}
