"""Contexts: what is sent with a prompt besides its text, in no particular protocol.

Paths are absolute, lines 1-based and inclusive, columns 1-based in UTF-16 code units. `token` is
how the prompt refers to a context; None if that belongs to every prompt of the chat.
"""

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct

LONGEST_SHOWN = 80
"""Most characters of a wrong value that a message quotes."""

IMAGES: Mapping[str, str] = {
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}
"""Media types of the images that models see, by the suffix of a file's name."""

Lines: TypeAlias = tuple[int | None, int | None]
"""First and last line; None for the beginning or the end."""


class MalformedContext(ValueError):
    """Raised if a table is no context or names something missing; one line for the user."""


class Position(Struct, frozen=True):
    """A position in a file."""

    line: int
    column: int


class FileContext(Struct, frozen=True):
    """A file, or its lines from `first` (None: its beginning) to `last` (None: its end)."""

    path: str
    first: int | None = None
    last: int | None = None
    token: str | None = None


class DirectoryContext(Struct, frozen=True):
    """A folder."""

    path: str
    token: str | None = None


class ImageContext(Struct, frozen=True):
    """A file that the model sees as an image."""

    path: str
    token: str | None = None

    @property
    def media_type(self) -> str:
        """The type that the file's name stands for."""
        return IMAGES[_suffix(self.path)]


class PathMention(Struct, frozen=True):
    """A path that the prompt names; nothing is sent but its name."""

    path: str
    token: str | None = None


class WebContext(Struct, frozen=True):
    """A web page."""

    url: str
    token: str | None = None


class ResourceContext(Struct, frozen=True):
    """A resource of one of the agent's MCP servers."""

    uri: str
    token: str | None = None


class CursorContext(Struct, frozen=True):
    """The user's cursor or selection; start equals end if nothing is selected."""

    path: str
    start: Position
    end: Position


class TextContext(Struct, frozen=True):
    """Text with no file behind it: a terminal, a scratch buffer, a selection, a list."""

    label: str
    content: str
    token: str | None = None


class DiffContext(Struct, frozen=True):
    """What git's diff shows in a folder.

    The session replaces it by a text just before the agent gets the prompt.
    """

    folder: str
    token: str | None = None


Tokened: TypeAlias = (
    FileContext
    | DirectoryContext
    | ImageContext
    | PathMention
    | WebContext
    | ResourceContext
    | TextContext
    | DiffContext
)
"""Contexts that a prompt can refer to by a token of their own."""

Context: TypeAlias = Tokened | CursorContext


def parse_context(table: object) -> Context:
    """Build a context from a table that the editor sent, `{type = 'file', path = …}` and so on.

    Types: file (path; first and last optional; one with the name of an image is an image),
    directory (path), mention (path), web (url), resource (uri), cursor (path, start, end as [line,
    column]), text (label, content), diff (folder), buffer (buf; first and last optional; count: the
    lines it has, absent if there is no such buffer; label and content: the text of those lines).
    All but cursor may have a `token`. Raises MalformedContext.
    """
    if not isinstance(table, Mapping):
        raise MalformedContext(f"a context is a table with a type, not {_shown(table)}")
    kind = table.get("type")
    if not isinstance(kind, str) or kind not in _BUILD:
        raise MalformedContext(f"no such type: {_shown(kind)}, see :help eca-context-tables")
    return _BUILD[kind](table)


def lines_within(table: Mapping[str, object], name: str, count: int) -> Lines:
    """Return first and last line in order, the last one limited to the number of lines.

    name: the file or buffer, as the message names it. Raises MalformedContext.
    """
    first, last = lines_of(table)
    if first is not None and first > count:
        raise MalformedContext(f"{name} has no line {first}, its last one is {count}")
    return first, None if last is None else min(last, count)


def lines_of(table: Mapping[str, object]) -> Lines:
    """Read first and last line, in either order. Raises MalformedContext."""
    first, last = _line(table, "first"), _line(table, "last")
    if first is not None and last is not None:
        return min(first, last), max(first, last)
    return first, last


def _buffer(table: Mapping[str, object]) -> TextContext:
    count = table.get("count")
    if not isinstance(count, int):
        raise MalformedContext(f"there is no buffer {_shown(table.get('buf'))}")
    lines_within(table, f"buffer {table.get('buf')}", count)
    label, content = str(table.get("label", "")), str(table.get("content", ""))
    return TextContext(label, content, _token(table))


def _cursor(table: Mapping[str, object]) -> CursorContext:
    match table:
        case {
            "path": str(path),
            "start": [int(first_line), int(first_column)],
            "end": [int(last_line), int(last_column)],
        }:
            start, end = Position(first_line, first_column), Position(last_line, last_column)
            return CursorContext(path, start, end)
        case _:
            raise MalformedContext(f"not a place in a file: {_shown(table)}")


def _text(table: Mapping[str, object]) -> TextContext:
    label, content = _words(table, "label"), _words(table, "content")
    if "\n" in label or "\r" in label:
        raise MalformedContext(f"a label has no line break: {_shown(label)}")
    return TextContext(label, content, _token(table))


def _file(table: Mapping[str, object]) -> FileContext | ImageContext:
    path, lines = _path(table), lines_of(table)
    if lines == (None, None) and _suffix(path) in IMAGES:
        return ImageContext(path, _token(table))
    return FileContext(path, *lines, _token(table))


def _resource(table: Mapping[str, object]) -> ResourceContext:
    uri = _words(table, "uri")
    if "://" not in uri or uri.split() != [uri]:
        raise MalformedContext(f"not the address of a resource: {_shown(uri)}")
    return ResourceContext(uri, _token(table))


def _web(table: Mapping[str, object]) -> WebContext:
    url = _words(table, "url")
    is_web = url.startswith(("http://", "https://")) and not url.endswith("//")
    if not is_web or url.split() != [url]:
        raise MalformedContext(f"not a web address: {_shown(url)}")
    return WebContext(url, _token(table))


_BUILD: Mapping[str, Callable[[Mapping[str, object]], Context]] = {
    "buffer": _buffer,
    "cursor": _cursor,
    "diff": lambda table: DiffContext(_path(table, "folder"), _token(table)),
    "directory": lambda table: DirectoryContext(_path(table), _token(table)),
    "file": _file,
    "mention": lambda table: PathMention(_path(table), _token(table)),
    "resource": _resource,
    "text": _text,
    "web": _web,
}


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return f".{name.rpartition('.')[2]}".lower() if "." in name else ""


def _path(table: Mapping[str, object], key: str = "path") -> str:
    path = _words(table, key)
    if "\0" in path:
        raise MalformedContext(f"a path cannot have a NUL byte: {_shown(path)}")
    return path


def _words(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        kind = table["type"]
        raise MalformedContext(
            f"a context of type '{kind}' needs a {key}, a string, not {_shown(value)}"
        )
    return value


def _token(table: Mapping[str, object]) -> str | None:
    token = table.get("token")
    return token if isinstance(token, str) else None


def _line(table: Mapping[str, object], key: str) -> int | None:
    line = table.get(key)
    if line is None or (isinstance(line, int) and line is not True and line > 0):
        return line
    raise MalformedContext(f"{key} is a line, counted from 1, not {_shown(line)}")


def _shown(value: object) -> str:
    """Return a value as one short line of ASCII."""
    return "nil" if value is None else json.dumps(value, default=repr)[:LONGEST_SHOWN]
