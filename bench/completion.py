"""How fast the input completes in a workspace of 100,000 files.

The user types an `@` and some letters, several times. Measured are the time from each key to the
cursor behind it on the screen, and that from the first `@` to a menu: first any, then one with
files. The workspace is a git repository; the files are empty.

The floor (`lua/list_floor.lua`) has the same paths in a list from the beginning, and searches it in
Neovim. It has no server to ask and no commands. What finding the files costs at least is measured
by itself: git's listing of them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.launch import REPOSITORY

from bench import rows
from bench.editor import Editor
from bench.figures import Samples
from bench.screen import Value

FLOOR = REPOSITORY / "bench" / "lua" / "list_floor.lua"
FOLDERS, FILES = 1_000, 100
"""Folders, and files in each."""
OPEN, KNOWN = "Ж", "Щ"
"""Letters of the file that is open, and of every other one."""
PATHS = [
    f"{KNOWN}_{folder:03}/module_{file:02}.py" for folder in range(FOLDERS) for file in range(FILES)
]
TOKENS = ("@mod12", "@7m4py", "@_99/m", "@e_0.p", "@module")
RUNS = 3
INTERVAL = 0.1
"""Seconds between two keys."""
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@dataclass(frozen=True)
class Completed:
    """Seconds: to the first menu, to one with files, and from each key to the screen."""

    menu: float
    files: float
    keys: tuple[float, ...]


def measure(version: str) -> Samples:
    """Complete in the plugin and in the floor, in turn. Raises Unmeasurable."""
    with _workspace() as folder:
        pairs = [(_ours(version, folder), _floor(version, folder)) for _ in range(RUNS)]
    sides = [*zip(*pairs, strict=True)]
    keys = [[key for run in side for key in run.keys] for side in sides]
    menus = [[run.menu for run in side] for side in sides]
    files = [[run.files for run in side] for side in sides]
    return {
        rows.COMPLETION_KEYS: (keys[0], keys[1]),
        rows.COMPLETION_MENU: (menus[0], menus[1]),
        rows.COMPLETION_FILES: (files[0], files[1]),
    }


@contextmanager
def _workspace() -> Iterator[Path]:
    """Make the repository, which takes seconds."""
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as name:
        folder = Path(name)
        for path in PATHS:
            if path.endswith("/module_00.py"):
                (folder / path).parent.mkdir()
            (folder / path).touch()
        (folder / f"{OPEN}.md").touch()
        entries = "".join(f"100644 {EMPTY_BLOB} 0\t{path}\n" for path in PATHS)
        git = ["git", "-C", name]
        subprocess.run([*git, "init", "--quiet"], check=True)
        index = [*git, "update-index", "--index-info"]
        subprocess.run(index, input=entries.encode(), check=True)
        yield folder


def _ours(version: str, folder: Path) -> Completed:
    """Complete in the chat's input, in the workspace. Raises Unmeasurable."""
    settings = {"python": sys.executable, "server": "demo"}
    with started(version, settings) as editor:
        editor.request("nvim_command", f"cd {folder} | edit {OPEN}.md")
        editor.request("nvim_command", "EcaChat")
        editor.wait_lua("require('eca').status().server == 'ready'", "the server")
        editor.wait_lua("package.loaded['eca.completion'] ~= nil", "completion")
        return _type(editor)


def _floor(version: str, folder: Path) -> Completed:
    """Complete in the floor's buffer; its files take as long as git's listing of them.

    Raises Unmeasurable.
    """
    with started(version, {}) as editor:
        editor.run_file(FLOOR, "open", [f"{OPEN}.md", *PATHS])
        completed = _type(editor)
    began = time.monotonic()
    listing = ["git", "-C", str(folder), "ls-files", "--cached", "--others", "--exclude-standard"]
    subprocess.run(listing, stdout=subprocess.DEVNULL, check=True)
    return replace(completed, files=time.monotonic() - began)


@contextmanager
def started(version: str, settings: Mapping[str, Value]) -> Iterator[Editor]:
    """Start an editor with some settings, in a new folder."""
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        editor = Editor(version, Path(folder) / "home", settings)
        try:
            yield editor
        finally:
            editor.close()


def _type(editor: Editor) -> Completed:
    editor.request("nvim_command", "startinsert")
    editor.wait(lambda: editor.screen.cursor is not None, "the cursor")
    for letter in (OPEN, KNOWN):
        editor.screen.expect(letter)
    started = time.monotonic()
    keys = [press(editor, key) for key in " ".join(TOKENS)]
    editor.wait(lambda: editor.screen.seen(KNOWN) is not None, "a menu with files")
    menu, files = (editor.screen.seen(letter) for letter in (OPEN, KNOWN))
    assert menu is not None
    assert files is not None
    return Completed(menu - started, files - started, tuple(keys))


def press(editor: Editor, key: str) -> float:
    """Type a key, wait until the cursor stands behind it, and until the next one is due."""
    assert editor.screen.cursor is not None
    row, column = editor.screen.cursor
    pressed = time.monotonic()
    editor.child.channel.notify("nvim_input", key)
    editor.wait(lambda: editor.screen.cursor == (row, column + 1), f"the key {key}")
    took = editor.screen.flushed - pressed
    while (left := pressed + INTERVAL - time.monotonic()) > 0:
        editor.child.channel.pump(left)
    return took
