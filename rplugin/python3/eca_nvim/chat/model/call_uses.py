"""Call uses: the files that a call says it uses, and those that its command may.

Rules kept here:
- Pure: what a call names may be no file; `FileNamed` says so, and the session looks.
- A command is data: it is cut into words, never run or expanded. Of a long one only the beginning
  is read, and of many words the first.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from eca_nvim.chat.model.call_files import changed_paths, read_paths
from eca_nvim.chat.vocabulary.call_details import ToolCall, ToolKind
from eca_nvim.chat.vocabulary.file_uses import FileNamed, Use

MOST_USES: Final = 1000
"""Files of one call that count."""
MOST_NAMED: Final = 100
"""Paths of one call that are looked for."""
LONGEST_COMMAND: Final = 4096
_STRUCTURE: Final = "();<>|&"

_OF_LOCATIONS: Mapping[ToolKind, Use] = {
    ToolKind.SEARCH: Use.READ,
    ToolKind.EXECUTE: Use.RUN,
}
"""How calls use the locations that may be folders."""


def call_uses(call: ToolCall) -> Iterator[tuple[str, Use]]:
    """Yield the files that a call has read and changed, each once."""
    for path in islice(read_paths(call), MOST_USES):
        yield path, Use.READ
    for path in islice(changed_paths(call), MOST_USES):
        yield path, Use.WRITTEN


def named_by(call: ToolCall, folders: Sequence[str]) -> tuple[FileNamed, ...]:
    """Return the paths that a call names and that may be files, each once."""
    sure = {path for path, _ in call_uses(call)}
    use = _OF_LOCATIONS.get(call.kind or ToolKind.OTHER, Use.MENTIONED)
    places = (FileNamed(it.path, use) for it in call.locations or () if it.path not in sure)
    words = (FileNamed(path, Use.RUN) for path in _in_command(call.command or "", folders))
    unique = dict.fromkeys([*islice(places, MOST_NAMED), *words])
    return tuple(islice(unique, MOST_NAMED))


def _in_command(command: str, folders: Sequence[str]) -> Iterator[str]:
    """Yield the paths inside the folders that words of a command may name."""
    for word in islice(dict.fromkeys(_words(command)), MOST_NAMED):
        for folder in folders:
            path = posixpath.normpath(posixpath.join(folder, word))
            if path.startswith(f"{folder}/"):
                yield path


def _words(command: str) -> Iterator[str]:
    """Yield the words of a command, also the values of options, and names before `:12`."""
    for word in _split(command[:LONGEST_COMMAND]):
        value = word.partition("=")[2]
        names = (value,) if word.startswith("-") else (word, value)
        for name in names:
            yield from filter(_is_name, (name, name.partition(":")[0]))


def _is_name(word: str) -> bool:
    return bool(word) and word[0] not in _STRUCTURE


def _split(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=_STRUCTURE)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quote is not closed, or the command was cut
        return command.split()
