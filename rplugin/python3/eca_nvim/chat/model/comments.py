"""Comments: what the user says about lines of files, whole files or turns, until it is done.

Rules kept here:
- A comment knows its lines and those around them, and is found by them, at the place nearest to its
  last one. So it follows what is written above it, over turns and restarts.
- A comment that was sent is open while its lines, or its files, stand as they did then; else it is
  addressed.
- Code is quoted in a fence that none of its lines can close.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import Final
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.text.safe_text import literal_name, one_line
from eca_nvim.chat.vocabulary import query_intents

AROUND: Final = 3
"""Lines around a comment by which it is found."""
MOST_WATCHED: Final = 2000
"""Lines of a comment that are kept as sums: what changes below them does not count."""
MOST_QUOTED: Final = 40
"""Lines of a side of a hunk that are kept, to be quoted."""
MOST_CHARACTERS: Final = 400
"""Characters of a line that is quoted."""
_CHARACTERS: Final = 0x110000


class CommentState(StrEnum):
    """What has become of a comment."""

    UNSENT = "unsent"
    SENT = "sent"  # the turn runs that got it
    OPEN = "open"
    ADDRESSED = "addressed"


class Comment(Struct, frozen=True):
    """A comment of the user.

    id: unique. chat: the one whose agent gets it. owner: process id of its Neovim. changed: seconds
    since the epoch. paths: the files, absolute. subject: what it is about, if not lines of a file.
    line: the first one (1-based). count: how many, 0 if they are gone from there. before: what a
    tool has changed there; None: nothing. turn: that of the change, 0 if it is not known.

    lines: those it is about. sums: of them and of the lines around, a character each; `over` are
    above. seen: a digest of its files when it was sent.
    """

    id: str
    chat: str
    owner: int
    changed: float
    text: str
    paths: Sequence[str]
    line: int = 1
    count: int = 0
    before: Sequence[str] | None = None
    subject: str = ""
    turn: int = 0
    state: CommentState = CommentState.UNSENT
    lines: Sequence[str] = ()
    sums: Sequence[int] = ()
    over: int = 0
    seen: str = ""


class Texts:
    """Files as they are now, by path; None: there is none. What has no text stands as a digest."""

    def __init__(self, texts: Mapping[str, str | None]) -> None:
        self._texts = texts
        self.sums = cache(self._sums)

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a file, none if there is no such file."""
        text = self._texts.get(path)
        return text.removesuffix("\n").split("\n") if text else ()

    def _sums(self, path: str) -> str:
        """Return the sums of the lines of a file."""
        return "".join(map(chr, _sums(self.lines(path))))

    def digest(self, paths: Iterable[str]) -> str:
        """Return a digest of some files."""
        found = [(path, self._texts.get(path)) for path in paths]
        return sha256(repr(found).encode(errors="surrogatepass")).hexdigest()


def written(
    intent: query_intents.PutComment, known: Comment | None, owner: int, changed: float
) -> Comment | None:
    """Return a comment as the user has written it, the first time or again; None: it is empty."""
    if not intent.text.strip():
        return None
    comment = known or Comment(
        *(intent.id, intent.chat, owner, changed, intent.text, intent.paths, intent.line),
        count=intent.count,
        before=None if intent.before is None else _quoted(intent.before),
        subject=one_line(intent.subject),
        turn=intent.turn,
    )
    new = {"chat": intent.chat, "text": intent.text, "state": CommentState.UNSENT}
    return replace(comment, owner=owner, changed=changed, **new)


def present(comment: Comment, texts: Texts, *, is_running: bool) -> Comment:
    """Return a comment with its place and its state now; is_running: a turn of its chat runs."""
    found = _place(comment, texts)
    at = comment if found is None else replace(comment, line=found)
    if comment.state is CommentState.UNSENT:
        return at if comment.sums or comment.subject else _anchored(at, texts)
    if comment.state is CommentState.SENT and is_running:
        return at
    stands = found is not None or comment.seen == texts.digest(comment.paths)
    return replace(at, state=CommentState.OPEN if stands else CommentState.ADDRESSED)


def sent(comment: Comment, texts: Texts) -> Comment:
    """Return a comment as it is sent: about its lines as they are now."""
    found = _place(comment, texts)
    at = comment if found is None else replace(comment, line=found)
    at = at if comment.subject else _anchored(at, texts)
    return replace(at, state=CommentState.SENT, seen=texts.digest(comment.paths))


def to_send(comments: Sequence[Comment]) -> Sequence[Comment]:
    """Return those that were not sent yet; if there are none, those that are open."""
    for state in (CommentState.UNSENT, CommentState.OPEN):
        if found := [it for it in comments if it.state is state]:
            return sorted(found, key=lambda it: (it.turn, [*it.paths], it.line))
    return ()


def prompt(comments: Iterable[Comment], shown: Callable[[str], str]) -> str:
    """Return the prompt with some comments; `shown` returns a path as the agent reads it."""
    return "\n\n".join(_paragraph(it, lambda path: literal_name(shown(path))) for it in comments)


def _paragraph(comment: Comment, shown: Callable[[str], str]) -> str:
    if comment.subject:
        return f"{comment.subject}: {', '.join(map(shown, comment.paths))}\n\n{comment.text}"
    last = f"-{comment.line + comment.count - 1}" if comment.count > 1 else ""
    place, before = f"{shown(comment.paths[0])}:{comment.line}{last}", comment.before or ()
    signs = ("", "") if comment.before is None else ("-", "+")
    quoted = [f"{signs[0]}{it}" for it in before] + [f"{signs[1]}{it}" for it in comment.lines]
    if comment.count > len(comment.lines):
        quoted.append(f"… {comment.count - len(comment.lines)} more lines")
    if not quoted:
        return f"{place}\n\n{comment.text}"
    fence, language = "```", "diff" if signs[0] else ""
    while any(fence in line for line in quoted):
        fence += "`"
    return "\n".join((place, "", f"{fence}{language}", *quoted, fence, "", comment.text))


def _quoted(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a side of a hunk as they are kept, to be quoted."""
    kept = [line.removesuffix("\r") for line in lines[:MOST_QUOTED]]
    return [it if len(it) <= MOST_CHARACTERS else f"{it[:MOST_CHARACTERS]}…" for it in kept]


# --- places -------------------------------------------------------------------------------------


def _anchored(comment: Comment, texts: Texts) -> Comment:
    """Return a comment about the lines at its place, or at the end if the file is shorter now."""
    lines = texts.lines(comment.paths[0])
    first = max(0, min(comment.line - 1, len(lines) - comment.count))
    end, above = first + min(comment.count, MOST_WATCHED), max(0, first - AROUND)
    return replace(
        comment,
        line=first + 1,
        lines=_quoted(lines[first:end]),
        sums=_sums(lines[above : end + AROUND]),
        over=first - above,
    )


def _sums(lines: Iterable[str]) -> list[int]:
    codes = (line.removesuffix("\r").encode(errors="surrogatepass") for line in lines)
    return [crc32(it) % _CHARACTERS for it in codes]


def _place(comment: Comment, texts: Texts) -> int | None:
    """Return the first line (1-based) of a comment in its file, None if its lines are not there.

    They are looked for with all lines around them, then with one on each side, then alone.
    """
    if not comment.sums:
        return None
    sums, all_sums = "".join(map(chr, comment.sums)), texts.sums(comment.paths[0])
    over, end = comment.over, comment.over + min(comment.count, MOST_WATCHED)
    for around in (AROUND, 1):
        top, bottom = max(0, over - around), min(len(sums), end + around)
        is_sure = around == AROUND or comment.count > 0 or top < over < bottom
        at = _nearest(sums[top:bottom], all_sums, comment.line - 1 - over + top)
        if is_sure and at is not None:
            return at + over - top + 1
    alone = sums[over:end]
    at = all_sums.find(alone) if alone else -1
    return at + 1 if at >= 0 and at == all_sums.rfind(alone) else None


def _nearest(wanted: str, sums: str, near: int) -> int | None:
    """Return the place that is nearest to another."""
    near = max(0, near)
    places = sums.rfind(wanted, 0, near + len(wanted)), sums.find(wanted, near)
    return min((it for it in places if it >= 0), key=lambda it: abs(it - near), default=None)
