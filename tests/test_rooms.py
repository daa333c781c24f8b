"""The rooms of the Lua half stand on floors: a file uses its own floor and those below it.

Every `require` counts, those inside functions too, and every look into `package.loaded`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

HOME = REPOSITORY / "lua" / "eca"
FLOORS = (
    ("config", "consent", "files", "text", "ui"),
    ("host", "state"),
    ("markdown", "transcript"),
    ("chat", "context", "input", "window"),
    ("commit", "editor", "inline"),
    ("approval", "completion", "diff"),
    ("panels", "preview", "review"),
    ("view",),
    ("actions", "commands", "keymaps", "init", "health"),
)
"""The rooms, and the files beside them, from the ground up."""
MOST_FILES = 18
"""Files in a room, at most."""

REQUIRED = re.compile(r"(?:\brequire|\bpackage\.loaded)\W{1,3}(eca(?:\.\w+)*)(\.?)['\"](\s*\.\.)?")
COMMENT = re.compile(r"--(?!\[\[).*")


def name_of(path: Path) -> str:
    """Name a file as `require` does, without `eca.`; the plugin's own `init.lua` is `init`."""
    parts = path.relative_to(HOME).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "init" and len(parts) > 1 else parts)


FILES = {name_of(path): path for path in sorted(HOME.rglob("*.lua"))}
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def floor_of(name: str) -> int:
    return FLOOR[name.split(".", maxsplit=1)[0]]


def without_comments(code: str) -> str:
    return "\n".join(COMMENT.sub("", line) for line in code.splitlines())


def required(code: str) -> set[str]:
    """Find the modules of ours that some Lua uses.

    A name that is computed (`'eca.actions.' .. name`) may be that of any file in the room.
    """
    found: set[str] = set()
    for name, dot, computed in REQUIRED.findall(without_comments(code)):
        if computed:
            found |= {file for file in FILES if f"eca.{file}".startswith(name + dot)}
        else:
            found.add(name.removeprefix("eca.") if name != "eca" else "init")
    return found


USES: Mapping[str, set[str]] = {
    name: required(path.read_text(encoding="utf-8")) - {name} for name, path in FILES.items()
}


def circles(uses: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Find files that lead back to themselves, each circle as the way around it."""
    done: set[str] = set()
    way: list[str] = []

    def follow(name: str) -> Iterator[list[str]]:
        if name in way:
            yield way[way.index(name) :]
        elif name not in done:
            way.append(name)
            for used in sorted(uses.get(name, ())):
                yield from follow(used)
            way.pop()
            done.add(name)

    for name in uses:
        yield from follow(name)


def test_every_file_is_in_a_room() -> None:
    assert {name.split(".")[0] for name in FILES} == set(FLOOR)


def test_every_required_file_is_there() -> None:
    assert set().union(*USES.values()) <= set(FILES)


@pytest.mark.parametrize("path", FILES.values(), ids=FILES)
def test_every_require_names_a_file_or_a_room(path: Path) -> None:
    code = without_comments(path.read_text(encoding="utf-8"))
    assert not re.search(r"\brequire\b", REQUIRED.sub("", code))


def test_no_floor_uses_one_above_it() -> None:
    up = {
        f"{name} -> {used}"
        for name, all_used in USES.items()
        for used in all_used
        if floor_of(used) > floor_of(name)
    }
    assert up == set()


def test_no_file_leads_back_to_itself() -> None:
    assert list(circles(USES)) == []


def test_no_room_is_crowded() -> None:
    rooms = {path.parent for path in FILES.values()}
    crowded = {room.name: len(list(room.glob("*.lua"))) for room in rooms}
    assert {room: count for room, count in crowded.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("local a = require('eca.ui.panel')", {"ui.panel"}),
        ('require "eca"', {"init"}),
        ("local x = package.loaded['eca.state']", {"state"}),
        ("-- require('eca.state') is not meant", set()),
        ("f(require('eca.state').x, require('eca.ui').y)", {"state", "ui"}),
        ("pcall(require, 'eca.state')", {"state"}),
        ("require('eca.diff.' .. name)", {name for name in FILES if name.startswith("diff.")}),
    ],
)
def test_no_spelling_escapes(code: str, names: set[str]) -> None:
    assert required(code) == names


def test_a_circle_is_found() -> None:
    assert list(circles({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == [["b", "c"]]


def test_only_one_file_creates_buffers_that_are_not_listed() -> None:
    """It makes sure that they can be changed."""
    creating = {
        name for name, path in FILES.items() if "create_buf(false" in path.read_text("utf-8")
    }
    assert creating == {"ui.others"}
