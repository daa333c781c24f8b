"""Checkpoints: what was taken comes back, byte for byte, and nothing else changes."""

import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from tests.review.test_checkpoint_store import EDITS, ODD, Edits, edit, files, git
from tests.support.launch import REPOSITORY

from eca_nvim.digests import name_digest
from eca_nvim.disk import replacing
from eca_nvim.path_risks import Folders
from eca_nvim.review.checkpoint_store import Checkpoint, CheckpointStore, Tree
from eca_nvim.review.git import GitFailed
from eca_nvim.review.restoring import CHANGED
from eca_nvim.review.tree_changes import MOST_NAMED, UNSTORED
from eca_nvim.review.turn_changes import TurnChanges
from eca_nvim.review.turn_store import load_turns, save_turn
from eca_nvim.session.files.checkpoints import HEAD_START, Checkpoints, Limits

LIMITS = Limits()
PROMPT = {"kind": "prompt", "chat": "chat", "turn": 1, "title": "", "prompt": "do it"}


class Kept:
    """Checkpoints, and what they have said."""

    def __init__(
        self, folder: Path, root: Path, limits: Limits = LIMITS, *, treated: bool = False
    ) -> None:
        self.said: list[str] = []
        self.shown: list[int] = []
        """How many there were, each time that they were shown."""
        self.all = Checkpoints(
            *(str(folder), Folders([str(root)]), os.getpid(), limits, self.said.append),
            lambda known: self.shown.append(len(known)),
            lambda path: treated and path == os.path.realpath(root),
        )

    async def take(self, about: Mapping[str, object] = PROMPT) -> Checkpoint | None:
        """Take one; return it, None if that failed."""
        await self.all.load()
        before, taken = len(self.all.known or ()), anyio.Event()
        self.all.want(about).when_done(taken.set)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.all.run)
            await taken.wait()
            await anyio.lowlevel.checkpoint()  # so that it is shown
            tasks.cancel_scope.cancel()
        assert self.all.known is not None
        return self.all.known[0] if len(self.all.known) > before else None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


@settings(max_examples=20, deadline=None)
@given(EDITS, EDITS)
def test_all_that_was_stored_comes_back(
    tmp_path_factory: pytest.TempPathFactory, first: Edits, second: Edits
) -> None:
    folder = tmp_path_factory.mktemp("kept")
    root = folder / "work"
    root.mkdir()
    git(root, "init", "-q")
    first, second = ([it for it in edits if not ODD & {*it[0]}] for edits in (first, second))

    async def there_and_back() -> None:
        edit(root, first)
        before, kept = files(root), Kept(folder / "state", root)
        taken = await kept.take()
        edit(root, second)
        after = files(root)
        assert taken is not None
        assert (await kept.all.restore(taken, await kept.all.plan(taken))).failed == {}
        assert files(root) == before
        await kept.all.load()
        assert kept.all.known
        undone = kept.all.known[0]
        assert (await kept.all.restore(undone, await kept.all.plan(undone))).failed == {}
        assert files(root) == after

    anyio.run(there_and_back)


@pytest.mark.anyio
async def test_a_prompt_has_gone_out_before_its_tree_is_begun(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, take = list[int](), CheckpointStore.take

    def noted(store: CheckpointStore, roots: Sequence[str], until: int | None = None) -> Tree:
        begun.append(time.time_ns())
        return take(store, roots, until)

    monkeypatch.setattr(CheckpointStore, "take", noted)
    kept = Kept(tmp_path / "state", root)
    then = await kept.take()
    assert then is not None
    assert begun[0] - then.time >= HEAD_START * 1e9  # its own moment stays that of the prompt


@pytest.mark.anyio
async def test_a_tree_is_kept_although_the_store_cannot_be_pruned(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prune(_: CheckpointStore) -> None:
        raise GitFailed("git: gc is already running")

    monkeypatch.setattr(CheckpointStore, "prune", prune)
    kept = Kept(tmp_path / "state", root)
    assert await kept.take() is not None
    assert kept.said == []


@pytest.mark.anyio
async def test_each_fault_is_said_once_until_it_is_over(root: Path, tmp_path: Path) -> None:
    kept = Kept(tmp_path / "state", root)
    assert await kept.take() is not None
    pipe, folder = root / ".gitignore", root / ".git" / "info" / "exclude"
    for place in (pipe, pipe, folder, None, folder):
        for left in (pipe, folder):
            if left.is_dir():
                left.rmdir()
            else:
                left.unlink(missing_ok=True)
        if place is pipe:
            os.mkfifo(place)
        elif place is not None:
            place.mkdir()
        assert (await kept.take() is None) is (place is not None)
    piped, cannot = "is a named pipe", "cannot use .git/info/exclude"
    assert [next(it for it in (piped, cannot) if it in line) for line in kept.said] == [
        *(piped, cannot),
        cannot,
    ]
    assert all(line.startswith("no checkpoint was made: ") for line in kept.said)
    assert kept.shown == [0, 1, *(1, 1, 1), *(1, 2), 2]  # each list, and what is new


@pytest.mark.anyio
async def test_a_folder_that_has_more_gives_way_to_no_file(root: Path, tmp_path: Path) -> None:
    (root / "place").write_text("a file")
    kept = Kept(tmp_path / "state", root)
    then = await kept.take()
    assert then is not None
    (root / "place").unlink()
    (root / "place").mkdir()
    (root / "place" / "new").write_text("new")
    (root / ".gitignore").write_text("ignored\n")
    (root / "place" / "ignored").write_text("a secret")
    plan = await kept.all.plan(then)
    assert plan.keys() == {str(root / it) for it in (".gitignore", "place", "place/new")}
    assert plan[str(root / "place")].after.fault == UNSTORED
    assert (await kept.all.restore(then, plan)).failed == {str(root / "place"): UNSTORED}
    assert [it.name for it in (root / "place").iterdir()] == ["ignored"]


@pytest.mark.anyio
async def test_a_folder_that_was_renamed_goes_back_and_what_is_too_large_stays(
    root: Path, tmp_path: Path
) -> None:
    (root / "old").mkdir()
    (root / "old" / "a").write_text("a")
    kept = Kept(tmp_path / "state", root, Limits(max_file=1 / (1 << 20)))
    then = await kept.take()
    assert then is not None
    (root / "old").rename(root / "new")  # no file in it is any newer
    (root / "large").write_text("large")
    plan = await kept.all.plan(then)
    assert plan.keys() == {str(root / it) for it in ("old/a", "new/a", "large")}
    assert (await kept.all.restore(then, plan)).failed.keys() == {str(root / "large")}
    assert files(root).keys() == {str(root / it) for it in ("old/a", "large")}


@pytest.mark.anyio
async def test_folders_that_it_empties_go_and_no_others(root: Path, tmp_path: Path) -> None:
    for name in ("kept/a", "left/of/all/empty"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / "kept" / "a").write_text("a")
    kept = Kept(tmp_path / "state", root)
    then = await kept.take()
    assert then is not None
    for name in ("new/in/c", "kept/in/d", "new/e"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("new")
    (root / "other").mkdir()
    restored = await kept.all.restore(then, await kept.all.plan(then))
    assert restored.failed == {}
    (root / ".git").rename(tmp_path / "git")
    left = {it.removeprefix(str(root)) for it, _, _ in os.walk(root)}
    assert left == {"", "/kept", "/left", "/left/of", "/left/of/all", "/other"}


@pytest.mark.anyio
async def test_packed_contents_of_many_files_are_read_together(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (root / str(number)).write_text(f"{number}")
    before, kept = files(root), Kept(tmp_path / "state", root)
    then = await kept.take()
    assert then is not None
    for number in range(30):
        (root / str(number)).write_text("other")
    plan = await kept.all.plan(then)
    monkeypatch.delattr("eca_nvim.review.checkpoint_store.read_object")  # a process for each
    assert (await kept.all.restore(then, plan)).failed == {}
    assert files(root) == before


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (Limits(days=14), ["now", "hours", "days", "not reviewed"]),
        (Limits(days=1), ["now", "hours", "not reviewed"]),
        (Limits(days=99, size=0.001), ["now", "hours", "not reviewed"]),
        (Limits(days=99), ["now", "hours", "days", "not reviewed", "weeks"]),
    ],
)
async def test_what_is_old_or_too_much_goes_unless_it_is_needed(
    root: Path, tmp_path: Path, limits: Limits, left: list[str]
) -> None:
    place = tmp_path / "state" / "checkpoints" / name_digest(os.fsencode(root))
    store = CheckpointStore(place, os.getpid())
    place.parent.mkdir(parents=True)
    tree, now = store.take([str(root)]).id, time.time_ns()
    names = ((9, "hours"), (50, "days"), (600, "weeks"), (599, "not reviewed"))
    for turn, (hours, name) in enumerate(names, 2):
        began = now - hours * 3600 * 10**9
        store.keep(tree, began, {**PROMPT, "prompt": name, "turn": turn})
        is_open = name == "not reviewed"
        saved = TurnChanges("chat", turn, name, is_open=is_open, began=began - 1, until=began)
        save_turn(store, saved)
    kept = Kept(tmp_path / "state", root, limits)
    await kept.take({**PROMPT, "prompt": "now"})  # then what is too much goes, also here
    prompts = (it.about for it in kept.all.known or () if it.about["kind"] == "prompt")
    assert [it["prompt"] for it in prompts] == left
    prompts_of_turns = {it.prompt for it in load_turns(store, "chat", {}, os.getpid())}
    assert prompts_of_turns == {*left} - {"now"}


RESTORE = """
import sys
from pathlib import Path
import anyio
from eca_nvim.digests import name_digest
from eca_nvim.path_risks import Folders
from eca_nvim.review.tree_changes import MOST_NAMED
from eca_nvim.session.files.checkpoints import HEAD_START, Checkpoints, Limits
state, root = sys.argv[1:]
kept = Checkpoints(state, Folders([root]), 1, Limits(), print)
async def restore():
    await kept.load()
    first = kept.known[-1]
    plan = await kept.plan(first)
    print("ready", flush=True)
    await kept.restore(first, plan)
anyio.run(restore)
"""


def restore_and_kill(state: Path, root: Path, seconds: float) -> None:
    command = [sys.executable, "-c", RESTORE, str(state), str(root)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "rplugin/python3")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as restoring:
        assert restoring.stdout is not None
        restoring.stdout.readline()
        time.sleep(seconds)
        restoring.kill()
    for left in root.glob(".eca-*"):
        left.unlink()  # it was about to take the name of a file


@pytest.mark.anyio
async def test_a_kill_leaves_each_file_old_or_new(root: Path, tmp_path: Path) -> None:
    """Of 60 files some are deleted, some changed and some made, and a folder becomes a file."""
    for number in range(60):
        (root / f"{number}").write_text(f"{number}" * 20_000)
    before = files(root)
    then = await Kept(tmp_path / "state", root).take()
    assert then is not None
    chance, seen = random.Random(2), set[bool]()
    for _ in range(6):
        for number in range(40):
            (root / f"{number}").unlink(missing_ok=True)
            (root / f"new{number}").write_text("new")
            (root / f"{number + 20}").write_text("other")
        after = files(root)
        restore_and_kill(tmp_path / "state", root, chance.uniform(0, 0.4))
        now = files(root)
        for path in before.keys() | after.keys() | now.keys():
            assert now.get(path) in (before.get(path), after.get(path)), path
        seen |= {now.get(path) == before.get(path) for path in before}
        kept = Kept(tmp_path / "state", root)
        plan = await kept.all.plan(then)
        assert (await kept.all.restore(then, plan)).failed == {}
        assert files(root) == before
    assert seen == {True, False}


@pytest.mark.anyio
@pytest.mark.parametrize("is_added", [True, False])
async def test_what_was_ignored_then_is_not_deleted(
    root: Path, tmp_path: Path, *, is_added: bool
) -> None:
    (root / ".gitignore").write_text("mine\n")
    (root / "mine").write_text("old")
    kept = Kept(tmp_path / "state", root)
    then = await kept.take()
    assert then is not None
    (root / "mine").write_text("new")
    if is_added:
        git(root, "add", "-f", "mine")
    else:
        (root / ".gitignore").write_text("other\n")
    plan = await kept.all.plan(then)
    assert plan.keys() <= {str(root / ".gitignore")}
    assert (await kept.all.restore(then, plan)).failed == {}
    assert (root / "mine").read_text() == "new"


@pytest.mark.anyio
async def test_nothing_is_deleted_if_not_all_is_named_that_a_checkpoint_lacks(
    root: Path, tmp_path: Path
) -> None:
    for number in range(MOST_NAMED + 1):
        (root / f"{number:04}").write_text("large" if number else "")
    kept = Kept(tmp_path / "state", root, Limits(max_file=1 / (1 << 20)))
    then = await kept.take()
    assert then is not None
    (root / f"{MOST_NAMED:04}").write_text("x")
    assert await kept.all.plan(then) == {}


@pytest.mark.anyio
@pytest.mark.parametrize("treated", [True, False])
async def test_a_folder_that_is_treated_as_a_project_is_one(
    tmp_path: Path, *, treated: bool
) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    (root / "a").write_text("one\n")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "x").write_text("left out\n")
    kept = Kept(tmp_path / "state", root, treated=treated)
    taken = await kept.take()
    assert (taken is not None) is treated
    if taken is not None:
        (root / "a").unlink()
        (root / "node_modules" / "x").write_text("changed\n")
        plan = await kept.all.plan(taken)
        assert [*plan] == [str(root / "a")]
        assert [*(await kept.all.restore(taken, plan)).done] == [str(root / "a")]
        assert (root / "a").read_text() == "one\n"


@pytest.mark.anyio
async def test_a_file_that_was_damaged_is_named_with_its_copy(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of two names is overwritten in place, and the disk fails at once."""
    (root / "a").write_text("then, and longer\n")
    (root / "b").write_text("then\n")
    kept = Kept(tmp_path / "state", root)
    taken = await kept.take()
    assert taken is not None
    (root / "a").write_text("now\n")
    (root / "b").write_text("now\n")
    (tmp_path / "other name").hardlink_to(root / "a")
    plan = await kept.all.plan(taken)
    (root / "b").write_text("later\n")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(replacing, "_overwrite", full)
    restored = await kept.all.restore(taken, plan)
    assert restored.done == []
    copy = restored.failed[str(root / "a")].rpartition(" ")[2]
    assert restored.failed == {
        str(root / "a"): f"no space left: its old content is {copy}",
        str(root / "b"): CHANGED,
    }
    assert files(root)[copy][0] == b"now\n"
