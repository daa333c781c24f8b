"""The page on the parts, and every other page, name files that exist."""

import ast
import re
import textwrap
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.doc import documents
from tests.support.golden import updating
from tests.support.launch import REPOSITORY
from tests.test_rooms import FLOORS, HOME

PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
FILE = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
ROOMS = "## The rooms of lua/eca/"
PACKAGES = "## The packages of rplugin/python3/eca_nvim/"
ENDINGS = {".py", ".lua", ".md", ".txt", ".toml"}


def quoted(text: str) -> list[str]:
    """Return what stands in backticks, outside of pictures and code."""
    return re.findall(r"`([^`]+)`", "".join(text.split("```")[::2]))


def is_path(name: str) -> bool:
    """Return whether a name means a file of ours: a folder, or one of a kind that we have."""
    is_file = Path(name).suffix in ENDINGS or name.endswith("/")
    return is_file and FILE.fullmatch(name) is not None and not name.startswith(".")


@pytest.mark.parametrize("page", documents.NAMING, ids=lambda path: path.name)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page == documents.PARTS:  # items of its lists name files relative to their part
        text = text.replace(documents.section(ROOMS, page), "")
        text = text.replace(documents.section(PACKAGES, page), "")
    named = {name for name in quoted(text) if is_path(name)}
    assert named
    homes = (REPOSITORY, PACKAGE)
    assert {name for name in named if not any((home / name).exists() for home in homes)} == set()


def items(heading: str) -> list[tuple[list[str], list[str]]]:
    """Return the items of a list of parts: which they are about, and the files they name."""
    text = documents.section(heading, documents.PARTS)
    found = []
    for item in re.findall(r"(?ms)^ *- (.*?)(?=^ *- |^$)", text):
        about = re.match(r"(?:`[\w/]+`,? )+", item)
        assert about, f"it begins with no part: {item}"
        found.append((quoted(about[0]), re.findall(r"`([a-z_0-9]+(?:/[a-z_0-9]*)*)`", item)))
    return found


def parts(heading: str) -> set[str]:
    return {name.rstrip("/") for about, _ in items(heading) for name in about}


def lost(heading: str, homes: Sequence[Path], ending: str) -> list[str]:
    """Return the files that a list names and that are not where it says."""
    found = []
    for about, named in items(heading):
        folders = [home / part for part in about if part.endswith("/") for home in homes]
        for name in named:
            paths = [
                folder / f"{name}{end}" for folder in (*folders, *homes) for end in ("", ending)
            ]
            found += [name] if not any(path.exists() for path in paths) else []
    return found


def test_every_room_has_its_item() -> None:
    assert parts(ROOMS) == {room for floor in FLOORS for room in floor}
    assert lost(ROOMS, [HOME], ".lua") == []


def contract(container: str) -> list[set[str]]:
    """Return the floors of a package, from the top down, as import-linter holds them."""
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(
        it["layers"] for it in contracts["contracts"] if it.get("containers") == [container]
    )
    return [set(re.findall(r"\w+", layer)) for layer in layers]


def title(path: Path) -> str:
    """Return the first paragraph of a file's docstring, without the name of the file before it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    first = " ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split())
    name, _, what = first.partition(": ")
    known = path.parent.name if path.stem == "__init__" else path.stem
    if name.lower().removeprefix("the ").replace(" ", "_").replace("-", "_") == known:
        first = what[0].upper() + what[1:]
    return first.rstrip(".") + "."


def listed(folder: Path) -> list[str]:
    """Return the items of a folder: its own, then its files and folders."""
    lines = [f"- `{folder.relative_to(PACKAGE)}/` {title(folder / '__init__.py')}"]
    files = (path for path in sorted(folder.glob("*.py")) if not path.name.startswith("__"))
    lines += [f"  - `{path.stem}` {title(path)}" for path in files]
    for below in sorted(folder.glob("*/__init__.py")):
        lines += listed(below.parent)
    return lines


def test_the_packages_are_listed_with_what_each_file_says_of_itself() -> None:
    """UPDATE_GOLDEN=1 writes the list."""
    lines = [f"- `{path.stem}` {title(path)}" for path in sorted(PACKAGE.glob("*.py"))[1:]]
    for folder in sorted(PACKAGE.glob("*/__init__.py")):
        lines += listed(folder.parent)
    wanted = "\n".join(
        textwrap.fill(line, 100, subsequent_indent=" " * (4 if line[0] == " " else 2))
        for line in lines
    )
    before, _, rest = documents.PARTS.read_text(encoding="utf-8").partition(f"{PACKAGES}\n")
    _, after, more = rest.partition("\n## ")
    if updating():
        documents.PARTS.write_text(f"{before}{PACKAGES}\n\n{wanted}\n{after}{more}")
    assert documents.section(PACKAGES, documents.PARTS).strip() == wanted


def test_every_file_that_a_docstring_names_exists() -> None:
    """What lists the files of a package is this page alone."""
    here = {path.name for path in PACKAGE.rglob("*.py")}
    for path in PACKAGE.rglob("*.py"):
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert set(re.findall(r"\b[a-z_]+\.py\b", words)) <= here, path


def test_every_file_that_one_half_names_of_the_other_exists() -> None:
    named = set[str]()
    for path in (*PACKAGE.rglob("*.py"), *HOME.rglob("*.lua")):
        named |= set(re.findall(r"\b((?:lua/eca|eca_nvim)/[\w/]+\.(?:py|lua))\b", path.read_text()))
    assert len(named) > 10
    homes = (REPOSITORY, PACKAGE.parent)
    assert {name for name in named if not any((home / name).exists() for home in homes)} == set()


def test_every_station_of_a_chunk_is_a_file() -> None:
    host, _, neovim = documents.section("## The way of a chunk", documents.PARTS).partition("──")
    for way, home, ending in ((host, PACKAGE, ".py"), (neovim, HOME, ".lua")):
        stations = re.findall(r"\b[a-z_]+(?:/[a-z_]+)+\b", way)
        assert len(stations) >= 5
        assert [it for it in stations if not (home / f"{it}{ending}").exists()] == []


def test_the_picture_has_the_floors() -> None:
    picture = documents.PARTS.read_text(encoding="utf-8").split("```")[1]
    rooms = re.findall(r"(?m)^ \d  ([a-z ]+?)(?:  .*)?$", picture)
    assert [set(floor.split()) for floor in rooms] == [set(floor) for floor in reversed(FLOORS)]
    packages = re.findall(r"(?m)(?<!^)  \d  ([a-z_ ]+)$", picture)
    assert [set(floor.split()) for floor in packages] == contract("eca_nvim")
    _, _, chat = picture.partition("the floors of chat/: ")
    assert [{floor} for floor in chat.split() if floor != ">"] == contract("eca_nvim.chat")
