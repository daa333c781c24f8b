"""Text changes: two texts compared line by line.

Rules kept here:
- Texts are as the editor holds them: UTF-8 without its byte order mark, else Latin-1. A file with a
  NUL is binary and has no lines.
- Lines are exact, with their line feed: a missing last line feed is a difference, and so is a
  carriage return. Line numbers are 0-based here.
"""

from msgspec import Struct

from eca_nvim.chat.text.text_differences import Lines, counted, spans

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Change(Struct, frozen=True):
    """Lines `removed` that were replaced by the lines `added`, at line `start` of the new text."""

    start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def end(self) -> int:
        """The line after the change, in the new text."""
        return self.start + len(self.added)


def text_of(content: bytes) -> str | None:
    """Decode a file's content as the editor does; None for a binary file."""
    if b"\0" in content:
        return None
    try:
        return content.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def is_latin1(content: bytes) -> bool:
    """Return whether the editor decodes a content as Latin-1, because it is not UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return True
    return False


def lines_of(text: str) -> list[str]:
    """Split a text into lines, each with its line feed."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    if not lines[-1]:
        lines.pop()
    return lines


def changes(before: Lines, after: Lines) -> list[Change]:
    """Return the changes between two texts, in order."""
    return [
        Change(new, tuple(before[old:old_end]), tuple(after[new:new_end]))
        for old, old_end, new, new_end in spans(before, after)
    ]


def counts(before: str | None, after: str | None) -> tuple[int, int]:
    """Return the numbers of added and removed lines; None: no text."""
    return counted(spans(lines_of(before or ""), lines_of(after or "")))
