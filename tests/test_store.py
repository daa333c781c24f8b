"""What outlives Neovim: merged with what others write, never overwritten when it is damaged."""

import fcntl
import os
import stat
from pathlib import Path

import msgpack
import pytest

from eca_nvim.store import (
    FORMAT,
    MOST_DRAFTS,
    MOST_PROMPTS,
    Busy,
    Changed,
    Damaged,
    Draft,
    Kept,
    Store,
    merge,
)

PROJECT = "/home/me/project"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "eca", PROJECT)


def prompts(*texts: str, start: float = 1.0) -> Changed:
    return Changed(prompts={text: start + place for place, text in enumerate(texts)})


def test_what_is_written_is_read_again(store: Store) -> None:
    assert store.read() == Kept()
    changed = Changed(
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
    assert Store(tmp_path, "/b").read() == Kept()


def test_two_neovims_write_together(tmp_path: Path) -> None:
    ours, theirs = Store(tmp_path, PROJECT), Store(tmp_path, PROJECT)
    ours.write(Changed(prompts={"a": 1.0}, drafts={"1": Draft("one", 1.0, 1)}))
    theirs.write(Changed(prompts={"b": 2.0}, drafts={"2": Draft("two", 2.0, 2)}))
    kept = ours.write(Changed(prompts={"c": 3.0}, drafts={"1": None}))
    assert list(kept.prompts) == ["a", "b", "c"]
    assert list(kept.drafts) == ["2"]


def test_a_prompt_is_there_once_where_it_was_last_sent() -> None:
    kept = merge(Kept(prompts={"a": 1.0, "b": 2.0}), Changed(prompts={"a": 3.0}))
    assert list(kept.prompts) == ["b", "a"]
    assert merge(kept, Changed(prompts={"a": 1.0})).prompts["a"] == 3.0


def test_the_oldest_go_when_there_are_too_many() -> None:
    texts = [str(number) for number in range(MOST_PROMPTS + 5)]
    drafts = {it: Draft("x", float(it), 1) for it in texts[: MOST_DRAFTS + 5]}
    kept = merge(Kept(), Changed(prompts=prompts(*texts).prompts, drafts={**drafts}))
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
    with pytest.raises(Damaged, match="is damaged"):
        store.write(prompts("a"))
    assert store.path.read_bytes() == content
    assert store.set_aside().read_bytes() == content
    assert list(store.write(prompts("a")).prompts) == ["a"]


def test_nobody_waits_for_another_writer(store: Store) -> None:
    store.write(prompts("a"))
    lock = os.open(store.path.with_suffix(".lock"), os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(Busy):
        store.write(prompts("b", start=2.0))
    os.close(lock)
    assert list(store.write(prompts("b", start=2.0)).prompts) == ["a", "b"]


def test_a_write_leaves_nothing_but_its_file(store: Store) -> None:
    store.write(prompts("a"))
    store.write(prompts("b"))
    assert {path.suffix for path in store.path.parent.iterdir()} == {".msgpack", ".lock"}
