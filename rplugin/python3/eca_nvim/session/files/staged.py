"""Staged: what is staged for the next commit, and how the last ones were described.

Rules kept here:
- The rules for running git are those of `late_contexts`.
- A file that may have secrets is named, and what is in it is not read.
"""

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from shutil import which
from typing import Final

from msgspec import Struct

from eca_nvim.path_risks import may_have_secrets
from eca_nvim.paths import NotAFile, open_regular
from eca_nvim.session.files.late_contexts import DIFF, SECONDS, NoDiff, ask_git

MOST_DIFF: Final = 128 * 1024
"""Bytes of the staged changes that are read."""
MOST_NAMES: Final = 256 * 1024
MOST_STYLE: Final = 8 * 1024
LAST_MESSAGES: Final = 10
NOTHING: Final = "nothing is staged: git add what belongs to the commit"


class Staged(Struct, frozen=True):
    """What is staged in the work tree at `root`; `names` are the paths in it, raw.

    diff: "" if it was not read. cut: how much of it there is, if that is not all. secret: the names
    whose changes are left out. last: the last messages, newest first.
    """

    root: str
    names: Sequence[str]
    diff: str = ""
    cut: str | None = None
    secret: Sequence[str] = ()
    last: Sequence[str] = ()


def read_staged(place: str, index: str | None, *, names_only: bool = False) -> Staged:
    """Read what is staged; blocks. `place` and `index` as in `FindStaged`. Raises NoDiff."""
    git = which("git")
    if git is None:
        raise NoDiff("git is not installed: install it first")
    run = partial(ask_git, git, _folder_of(Path(place)), time.monotonic() + SECONDS, index=index)
    top = run(("rev-parse", "--show-toplevel"))
    if not top.succeeded:
        raise NoDiff("this is no git repository: :cd into one")
    root = os.fsdecode(top.content).rstrip("\n")
    listed = run((*DIFF, "--cached", "--name-only", "-z"), MOST_NAMES)
    names = [os.fsdecode(name) for name in listed.content.split(b"\0") if name]
    if not names:
        raise NoDiff(NOTHING)
    if names_only:
        return Staged(root, names)
    secret = [it for it in names if may_have_secrets(str(Path(root, it)), [root])]
    left_out = [f":(top,exclude,literal){name}" for name in secret]
    changes = run((*DIFF, "--cached", "--", ":/", *left_out), MOST_DIFF)
    text, cut = changes.content.decode("utf-8", "replace"), None
    if changes.status is None:
        text = text[: text.rfind("\n") + 1]
        cut = f"the first {text.count(chr(10))} lines of a longer diff"
    log = ("log", f"--max-count={LAST_MESSAGES}", "--no-merges", "--format=%B%x00")
    told = run(log, MOST_STYLE).content.decode("utf-8", "replace").split("\0")
    return Staged(root, names, text, cut, secret, [it.strip() for it in told if it.strip()])


def _folder_of(place: Path) -> str:
    """Return a folder of the work tree, also for a file in its git folder."""
    if place.is_dir():
        return str(place)
    folder = place.parent
    try:  # of another work tree of the repository
        with open_regular(str(folder / "gitdir")) as file:
            return str(Path(os.fsdecode(file.read(MOST_NAMES).strip())).parent)
    except (OSError, ValueError, NotAFile):
        return str(folder.parent if folder.name == ".git" else folder)
