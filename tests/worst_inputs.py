"""The worst inputs for functions that read text of others: each is made in a given size.

The size is in characters; what is not a text is about as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from eca_nvim.chat.vocabulary.options import ChatOption
from eca_nvim.protocol.acp.tool_call import CallDiff


def repeated(piece: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """Make texts of a repeated piece, between a beginning and an end."""
    return lambda size: before + piece * (size // len(piece)) + after


def chunked(make: Callable[[int], str], width: int = 16) -> Callable[[int], Sequence[str]]:
    """Make the chunks of a text as it streams in."""

    def chunks(size: int) -> Sequence[str]:
        whole = make(size)
        return [whole[start : start + width] for start in range(0, size, width)]

    return chunks


def as_bytes(make: Callable[[int], str]) -> Callable[[int], bytes]:
    """Make bytes of texts."""
    return lambda size: make(size).encode()


def one_hunk(size: int) -> tuple[str, str]:
    """Make a file of equal lines, and a hunk of them that fits nowhere."""
    count = size // 8
    removed = "-x\n" * (count // 2) + "-y\n"
    return "x\n" * count, f"@@ -1,{count // 2 + 1} +1,0 @@\n{removed}"


def far_hunks(size: int) -> tuple[str, str]:
    """Make many hunks, each far from its stated place."""
    count = size // 60
    lines = [f"{number}\n" for number in range(count)]
    hunks = (f"@@ -{count * 9} +{count * 9} @@\n-{number}\n+x\n" for number in range(0, count, 2))
    return "".join(lines), "".join(hunks)


def named_arguments(size: int) -> Mapping[str, object]:
    """Make arguments of many names."""
    return {f"name {number}": number for number in range(size // 10)}


def nested(size: int) -> str:
    """Make deeply nested JSON."""
    return "[" * (size // 2) + "]" * (size // 2)


def two_texts(one: str, other: str) -> Callable[[int], tuple[str, str]]:
    """Make two texts, each of a repeated line."""
    return lambda size: (repeated(one)(size), repeated(other)(size))


def option_ids(size: int) -> Sequence[ChatOption]:
    """Return many options of one category, none of them its first."""
    return [ChatOption(str(number), "n", category=str(number)) for number in range(size // 50)]


def mode_ids(size: int) -> Sequence[str]:
    """Return many modes that are loud only beside another one, which is missing."""
    return [f"x{number}#agent" for number in range(size // 50)]


def ends(size: int) -> tuple[Sequence[CallDiff], Sequence[str]]:
    """Return many changed files, none of which has the end of a known one."""
    numbers = range(size // 500)
    return [CallDiff(f"a/{it}", "") for it in numbers], [f"/w/{it}" for it in numbers]


def erased_after_a_long_row(size: int) -> str:
    """Erase the end of a row that is long already, again and again."""
    return "a" * (size // 10) + "b\x1b[K\r" * (size * 9 // 50)


ESCAPES = [
    repeated("\x1b["),
    repeated("0", "\x1b["),
    repeated("\x1b]0;"),
    repeated(" ", "\x1b"),
    repeated("0", "\x9b"),
    repeated("\x1b[1;1m;", "\x1b["),
    repeated("1;", "\x1b[", "m"),
    repeated("\r"),
    repeated("\ra"),
    repeated("a", after="\rb\x1b[K"),
    erased_after_a_long_row,
    repeated("\x1b[2Ka"),
    repeated("\ud83d"),
]
UNSEEN = [
    repeated("\ufe0f"),
    repeated("\ufe0f", after="a"),
    repeated("\u200d", "é"),
    repeated("\u0301", "e"),
    repeated("\u202e"),
]
BLOCK = "<contexts>\nx\n</contexts>\n"
USERS = [
    repeated(BLOCK, after="zzz</editor-state>"),
    repeated(BLOCK),
    repeated("<contexts>\nx\n</contexts>\n<editor-state>\n</editor-state>\n"),
    repeated("\n<contexts ", after="</contexts>"),
    repeated("\n<contextsx", after="</contexts>"),
    repeated("\n", "</contexts>"),
]
