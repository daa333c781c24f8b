"""Fixed messages fit a screen of 80 columns, or they would lose their middle."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.launch import REPOSITORY

ROOM = 80 - len("eca: ") - 12
"""Cells beside what Neovim keeps for 'showcmd' (`v:echospace`)."""

TOLD_BY_LUA = re.compile(r"""\bnotify(?:'\))?\.\w+\(((?:[^()]|\([^()]*\))*)\)""")
TOLD_BY_HOST = re.compile(r"""Notify\(\s*"\w+",\s*(f?"[^"]*"|[A-Z_]+\b)""")
TEXT = re.compile(r"""(?<![\w%])'([^'\n]{9,})'|"([^"\n]{9,})\"""")


def sources(folder: str, ending: str) -> Iterator[tuple[Path, str]]:
    """Return the files of a folder with their texts."""
    for path in sorted((REPOSITORY / folder).rglob(f"*{ending}")):
        yield path, path.read_text(encoding="utf-8")


def messages(told: re.Pattern[str], text: str) -> Iterator[str]:
    """Return the messages to the user in a file, without what is filled in."""
    constants = dict(re.findall(r'^([A-Z_]+) = ("[^"\n]*")$', text, re.MULTILINE))
    for call in told.findall(text):
        for single, double in TEXT.findall(constants.get(call, call)):
            yield re.sub(r"%[sd]|\{[^}]*\}|\.\. .*", "", single or double)


def test_fixed_messages_fit() -> None:
    found = [
        (path.name, message)
        for folder, ending, told in (("lua", ".lua", TOLD_BY_LUA), ("rplugin", ".py", TOLD_BY_HOST))
        for path, text in sources(folder, ending)
        for message in messages(told, text)
    ]
    assert len(found) > 50
    assert [it for it in found if len(it[1]) > ROOM] == []
