"""The checkpoint store when something is wrong with git, the disk or the project; kills."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.review.test_checkpoint_store import git, told
from tests.support.launch import REPOSITORY

from eca_nvim.review.checkpoint_store import CheckpointStore
from eca_nvim.review.git import GitFailed, run_git

PROCESS = 2**22 + 1
"""The number of no process."""


@pytest.fixture
def store(tmp_path: Path) -> CheckpointStore:
    return CheckpointStore(tmp_path / "store", os.getpid())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    for name in ("a", "inner/b", "inner/deep/c"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def pipe(place: Path) -> None:
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    os.mkfifo(place)


READ_BY_GIT = [
    *(".gitignore", "inner/.gitignore", ".git/info/exclude", ".git/index", ".git/config"),
    ".git/HEAD",
]
"""Where git reads a file when it lists those of a project."""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere git has a minute")
@pytest.mark.parametrize("name", READ_BY_GIT)
def test_git_does_not_wait_for_a_pipe(store: CheckpointStore, root: Path, name: str) -> None:
    pipe(root / name)
    with pytest.raises(GitFailed, match="named pipe") as fault:
        store.take([str(root)])
    assert str(root / name) in str(fault.value)
    (root / name).unlink()
    if name in (".git/config", ".git/HEAD", ".git/index"):
        git(root, "init", "-q")
    assert store.take([str(root)]).refused == {}


ODD_FILES: Mapping[str, Callable[[Path], object]] = {
    "folder": lambda place: place.mkdir(),
    "link": lambda place: place.symlink_to("/dev/zero"),
    "loop": lambda place: place.symlink_to(place.name),
    "sparse": lambda place: subprocess.run(["truncate", "-s", "50M", place], check=True),
    "zeros": lambda place: place.write_bytes(b"\0" * 5000),
}


@pytest.mark.parametrize("odd", ODD_FILES)
def test_odd_files_of_git_change_no_content_and_end(
    store: CheckpointStore, root: Path, odd: str
) -> None:
    before = store.take([str(root)])
    names = (".gitignore", "inner/.gitattributes", ".git/info/attributes", ".git/info/exclude")
    for name in names if odd != "folder" else names[:3]:  # for the last one git gives up
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).unlink(missing_ok=True)
        ODD_FILES[odd](root / name)
    (root / "a").write_text("other")
    found = told(store, before.id, store.take([str(root)]).id, root)
    assert found[str(root / "a")] == ((b"a", 0o644), (b"other", 0o644))


@pytest.mark.parametrize("place", ["", "inner/"])
def test_a_pipe_for_attributes_costs_nothing(
    store: CheckpointStore, root: Path, place: str
) -> None:
    pipe(root / f"{place}.gitattributes")
    before = store.take([str(root)])
    assert before.refused == {}
    (root / "inner" / "b").write_text("other")
    assert told(store, before.id, store.take([str(root)]).id, root) == {
        str(root / "inner" / "b"): ((b"inner/b", 0o644), (b"other", 0o644))
    }


def test_a_forged_index_names_nothing_outside(
    store: CheckpointStore, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "outside").chmod(0o600)
    names = ["../outside", "inner/../../outside", str(tmp_path / "outside"), "inner/./b", ".git/x"]
    (root / ".git" / "x").write_text("x")
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    listed = "".join(f"{name}\\0" for name in [*names, "a"])
    fake.write_text(
        "#!/bin/sh\n"
        f"case $* in *--exclude-standard*) exec printf '{listed}';; esac\nexec $REAL \"$@\"\n"
    )
    fake.chmod(0o755)
    before = store.take([str(root)])
    with pytest.MonkeyPatch.context() as patch:
        real = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout
        patch.setenv("REAL", real.strip())
        patch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
        tree = store.take([str(root)])
    assert tree.refused == {f"{root}/.git/x": "git cannot store it"}
    assert set(store.changes(before.id, tree.id, [str(root)])) == {
        str(root / "inner" / "b"),
        str(root / "inner" / "deep" / "c"),
    }


def test_more_paths_than_a_pipe_holds_are_stored(store: CheckpointStore, root: Path) -> None:
    """Git reads the paths as it stores the files: for longer than it is looked after."""
    for number in range(1000):
        (root / f"{number}-{'long' * 40}").write_text("x" * 30_000 + str(number))
    tree = store.take([str(root)])
    for number in range(1000):
        (root / f"{number}-{'long' * 40}").unlink()
    assert len(store.changes(tree.id, store.take([str(root)]).id, [str(root)])) == 1000


LEFT_BY_A_KILL = [
    *("packed-refs.lock", "packed-refs.new", "HEAD.lock", "config.lock", "gc.pid", "gc.pid.lock"),
    *("refs/checkpoints/1-1.lock", "objects/pack/tmp_pack_x", "objects/00/tmp_obj_x"),
    *("objects/pack/.tmp-1-pack-x.pack", "objects/pack/pack-x.keep", "index-0.1-1.new"),
]


def test_what_a_kill_leaves_stops_nothing(
    store: CheckpointStore, root: Path, tmp_path: Path
) -> None:
    first = store.keep(store.take([str(root)]).id, 1, {})
    store.prune()  # the reference is packed
    left = [tmp_path / "store" / name for name in LEFT_BY_A_KILL]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{os.getpid()} {os.uname().nodename}" if path.name == "gc.pid" else "")
    (root / "a").write_text("other")
    second = store.keep(store.take([str(root)]).id, 2, {})
    store.drop([first.id])
    assert store.checkpoints() == [second]
    assert not any(path.exists() for path in left)
    for path in left:
        path.write_text(f"{os.getpid()} {os.uname().nodename}" if path.name == "gc.pid" else "")
    store.prune()
    assert not any(path.exists() for path in left)


def test_a_lock_of_a_git_that_runs_stays(
    store: CheckpointStore, root: Path, tmp_path: Path
) -> None:
    kept = store.keep(store.take([str(root)]).id, 1, {})
    store.prune()
    lock = tmp_path / "store" / "packed-refs.lock"
    lock.write_text("")
    with subprocess.Popen(
        ["flock", "-s", tmp_path / "store", "cat"], stdin=subprocess.PIPE
    ) as runs:
        while not is_locked(tmp_path / "store"):
            pass
        with pytest.raises(GitFailed, match="packed-refs"):
            store.drop([kept.id])
        assert lock.exists()
        runs.communicate()
    store.drop([kept.id])


def is_locked(folder: Path) -> bool:
    return subprocess.run(["flock", "-n", folder, "true"], check=False).returncode != 0


FAILING = """#!/bin/sh
for word in "$@"; do
    if [ "$word" = {task} ]; then
        mkdir -p "$GIT_DIR/objects/pack"
        : > "$GIT_DIR/objects/pack/tmp_pack_half"
        echo "{said}" >&2
        {end}
    fi
done
exec {git} "$@"
"""
FULL = "fatal: unable to write loose object file: No space left on device"


@pytest.fixture(
    params=[
        ("fast-import", FULL, "exit 128", "No space left"),
        ("fast-import", "error: cannot lock ref", "exit 1", "cannot lock ref"),
        ("fast-import", "", "kill -9 $$", "it was killed"),
    ],
    ids=lambda param: param[3],
)
def failing(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, str]:
    """Make a git that fails as the disk does; return it, and what it says."""
    task, said, end, words = request.param
    real = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(FAILING.format(task=task, said=said, end=end, git=real.strip()))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program, words


def test_a_fault_of_the_disk_is_no_fault_of_a_path(
    store: CheckpointStore, root: Path, tmp_path: Path, failing: tuple[Path, str]
) -> None:
    program, words = failing
    with pytest.raises(GitFailed, match=words):
        store.take([str(root)])
    assert not list((tmp_path / "store").rglob("tmp_*"))  # nothing half written stays
    program.unlink()
    empty = store.take([])
    tree = store.take([str(root)])
    assert tree.refused == {}
    assert empty.id != tree.id


def test_a_disk_that_is_nearly_full_is_left_alone(
    store: CheckpointStore, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.review.repository.LEAST_FREE", 1 << 60)
    with pytest.raises(GitFailed, match=r"the disk is full: \d+ MiB are needed in .*, and \d+ are"):
        store.take_here([str(root)])
    assert not list((tmp_path / "store").glob("index-*"))
    monkeypatch.undo()
    store.take_here([str(root)])
    (index,) = (tmp_path / "store").glob("index-*")
    before = index.read_bytes()
    with (root / "a").open("wb") as large:
        large.truncate(1 << 43)  # without any block of the disk
    of_any_size = CheckpointStore(tmp_path / "store", os.getpid(), 1 << 60)
    with pytest.raises(GitFailed, match="the disk is full"):
        of_any_size.take_here([str(root)])
    assert index.read_bytes() == before


def contents(store: Path) -> int:
    """Count the contents that a store has; each Neovim adds commits of its own."""
    kinds = run_git(store, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
    return kinds.count(b"blob")


def test_a_new_neovim_does_not_read_all_files_again(root: Path, tmp_path: Path) -> None:
    first = CheckpointStore(tmp_path / "store", PROCESS).take([str(root)])
    stored = contents(tmp_path / "store")
    before = (root / "a").stat().st_atime_ns
    again = CheckpointStore(tmp_path / "store", os.getpid())
    assert again.take([str(root)]).id == first.id
    assert contents(tmp_path / "store") == stored
    assert (root / "a").stat().st_atime_ns == before
    assert len([*(tmp_path / "store").glob("index-*")]) == 1


WORK = """
import sys
from pathlib import Path
from eca_nvim.review.checkpoint_store import CheckpointStore
store, root, process, first = sys.argv[1:]
store = CheckpointStore(Path(store), int(process))
print("ready", flush=True)
for moment in range(int(first), int(first) + 100):
    Path(root, "last").write_text(str(moment))
    kept = store.keep(store.take([root]).id, moment, {"content": str(moment)})
    print(moment, flush=True)
    if moment % 3 == 2:
        store.drop([it.id for it in store.checkpoints()[3:]])
        store.prune()
"""


def work_elsewhere(store: Path, root: Path, first: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORK, str(store), str(root), str(PROCESS), str(first)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "rplugin/python3")}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_a_kill_at_any_moment_loses_no_checkpoint(root: Path, tmp_path: Path) -> None:
    for number in range(100):
        (root / f"{number}").write_text("x" * number)
    chance = random.Random(1)
    for turn in range(6):
        with work_elsewhere(tmp_path / "store", root, turn * 100) as working:
            assert working.stdout is not None
            working.stdout.readline()
            time.sleep(chance.uniform(0, 0.4))
            working.send_signal(signal.SIGKILL)
            said = working.communicate()[0].split()
        store = CheckpointStore(tmp_path / "store", os.getpid())
        tree = store.take([str(root)])
        kept = store.checkpoints()
        assert {*said[-1:]} <= {str(it.about["content"]) for it in kept}
        for each in kept:
            (path, (then, _)) = next(
                iter(told(store, each.tree, tree.id, root).items()), ("", ((), 0))
            )
            assert path in ("", str(root / "last"))
            assert not path or then == (str(each.about["content"]).encode(), 0o644)
    # A git outlives the kill of who has started it, and no other may remove what it packs.
    subprocess.run(["flock", tmp_path / "store", "true"], check=True, timeout=60)
    store.drop([it.id for it in store.checkpoints()])
    store.prune()
    assert store.checkpoints() == []
