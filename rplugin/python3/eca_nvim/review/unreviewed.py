"""Unreviewed: what tools changed in a file and the user has neither kept nor reverted.

A hunk goes from the reviewed text to the text as it is now, whichever turns made it:

    a b c        reviewed
    a B c        turn 1 opens the hunk b to B
    a B c d      the user adds d, which is reviewed text from then on
    a X c d      turn 2 changes B: the hunk goes from b to X, and has the keys of both changes

Rules kept here:
- An edit inside a hunk, by whomever, is part of it: it is shown, kept and reverted with it. All
  other edits of the user, and changes that were kept, are reviewed text.
- A hunk is never split: the change of one turn is in one hunk. It ends when its lines are again
  what they were.
- A file that was created, deleted or moved, or that has no lines to compare, is one change.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from eca_nvim.chat.text.rewritten import changed_parts
from eca_nvim.chat.text.text_differences import Lines, common
from eca_nvim.review.change_list import (
    Present,
    Table,
    is_latin1_file,
    keyed_changes,
    lines_entry,
    texts_around,
    whole_entries,
)
from eca_nvim.review.text_changes import Change, changes, lines_of
from eca_nvim.review.turn_changes import TurnChanges

MOST_WORDS = 500
"""Lines of a hunk in which changed words are looked for."""


class Hunk(Struct, frozen=True):
    """Lines of the reviewed text, and those that are in their place now; 0-based, ends exclusive.

    keys: of the changes that made it, those of the latest turn last.
    """

    old: int
    old_end: int
    new: int
    new_end: int
    keys: tuple[str, ...]


class _Piece(Struct, frozen=True):
    """Lines of the text so far that a hunk, or an edit, is about.

    grows: how many lines longer the other text is there. is_hunk: that is the reviewed text, not
    the later one. keys: none if it was kept, or was no tool's.
    """

    start: int
    end: int
    grows: int
    is_hunk: bool
    keys: tuple[str, ...]


class _Group(Struct):
    """Pieces that overlap, from the first line of them all to the last (exclusive)."""

    start: int
    end: int
    pieces: list[_Piece]

    def grows(self, *, is_hunk: bool) -> int:
        """Return how many lines longer the reviewed text, or the later one, is."""
        return sum(it.grows for it in self.pieces if it.is_hunk is is_hunk)

    @property
    def keys(self) -> tuple[str, ...]:
        """The changes in it that are not reviewed, those of the latest turn last."""
        ordered = sorted(self.pieces, key=lambda it: not it.is_hunk)
        return tuple(key for it in ordered for key in it.keys)


class ReviewedText:
    """A text as it was reviewed, and the hunks between it and the text now."""

    def __init__(self, lines: Lines) -> None:
        """Begin with a text that is reviewed."""
        self.lines = lines
        self.now = lines
        self.hunks: Sequence[Hunk] = ()

    def follow(self, later: Lines, made: Sequence[tuple[Change, str | None]] = ()) -> None:
        """Go on to a later text.

        made: the changes between the two, in order, if a tool made them, with their keys; None: it
        was kept.
        """
        found = made or [(change, None) for change in changes(self.now, later)]
        pieces = [*_edits(found)]
        for it in self.hunks:
            grows = it.old_end - it.old - it.new_end + it.new
            pieces.append(_Piece(it.new, it.new_end, grows, True, it.keys))
        reviewed, hunks, done, old_shift, new_shift = list[str](), list[Hunk](), 0, 0, 0
        for group in _groups(pieces):
            old, new = group.start + old_shift, group.start + new_shift
            old_shift += group.grows(is_hunk=True)
            new_shift += group.grows(is_hunk=False)
            old_end, new_end = group.end + old_shift, group.end + new_shift
            reviewed += self.lines[done:old]
            done = old_end
            if group.keys:
                hunk = Hunk(len(reviewed), len(reviewed) + old_end - old, new, new_end, group.keys)
                reviewed += self.lines[old:old_end]
                hunks += _trimmed(hunk, reviewed, later)
            else:
                reviewed += later[new:new_end]
        self.lines, self.now, self.hunks = [*reviewed, *self.lines[done:]], later, hunks


def _edits(made: Iterable[tuple[Change, str | None]]) -> Iterator[_Piece]:
    grown = 0
    for change, key in made:
        start, grows = change.start - grown, len(change.added) - len(change.removed)
        keys = () if key is None else (key,)
        yield _Piece(start, start + len(change.removed), grows, False, keys)
        grown += grows


def _groups(pieces: Sequence[_Piece]) -> Iterator[_Group]:
    """Yield groups of pieces that overlap, in order."""
    group: _Group | None = None
    for piece in sorted(pieces, key=lambda it: (it.start, it.end)):
        if group is not None and _overlap(group, piece):
            group.end = max(group.end, piece.end)
            group.pieces.append(piece)
            continue
        if group is not None:
            yield group
        group = _Group(piece.start, piece.end, [piece])
    if group is not None:
        yield group


def _overlap(group: _Group, piece: _Piece) -> bool:
    """Return whether a piece that begins no earlier overlaps a group, rather than being next to it.

    Lines that are put in between two lines of the other overlap it, and at the same place, too.
    """
    if group.start == group.end:
        return piece.start == piece.end == group.start
    return piece.start < group.end and (piece.start, piece.end) != (group.start, group.start)


def _trimmed(hunk: Hunk, reviewed: Lines, now: Lines) -> Iterator[Hunk]:
    """Yield the part of a hunk in which the texts differ, if they do."""
    old, new = reviewed[hunk.old : hunk.old_end], now[hunk.new : hunk.new_end]
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    if head + tail < max(len(old), len(new)):
        ends = (hunk.old_end - tail, hunk.new_end - tail)
        yield Hunk(hunk.old + head, ends[0], hunk.new + head, ends[1], hunk.keys)


# --- the changes of a file ------------------------------------------------------------------------


def unreviewed(path: str, turns: Sequence[TurnChanges], present: Present) -> Iterator[Table]:
    """Yield what is not reviewed of a file.

    turns: some of the chat, oldest first. An entry: key, turn, prompt, path, kind (lines, new,
    deleted, moved, other), line (1-based), added and removed (counts), text (a line to show), keys
    (of all changes that are kept with it; the rest is as of the last of them). With kind `moved`
    also: origin (the path it had). With kind `lines`: count (of lines it has now), before (lines),
    after (lines), above and below (lines around it), before_ends and after_ends (false: without the
    last line feed), latin1 (the file was before), old_parts and new_parts (what differs in lines
    that were changed, as in `rewritten.Hunk`).
    """
    turns = [it for it in turns if path in it.files and not it.files[path].undone]
    wholes = [
        entry
        for turn in turns
        for entry in whole_entries(turn, path, present)
        if entry["key"] not in turn.kept
    ]
    if any(it["kind"] == "new" for it in wholes):
        later = (key for turn in turns for _, key in _made(turn, path) if key is not None)
        yield {**wholes[0], "keys": [*(it["key"] for it in wholes), *later]}
        return
    yield from ({**it, "keys": [it["key"]]} for it in wholes)
    if present.text is not None:
        yield from _of_lines(path, turns, lines_of(present.text))


def _made(turn: TurnChanges, path: str) -> Iterator[tuple[Change, str | None]]:
    """Yield the changed lines of a turn with their keys, None for those that were kept."""
    texts = texts_around(turn, path)
    for change, key in keyed_changes(turn.number, path, *texts) if texts else ():
        yield change, None if key in turn.kept else key


def _of_lines(path: str, turns: Sequence[TurnChanges], now: Lines) -> Iterator[Table]:
    reviewed: ReviewedText | None = None
    by_key: dict[str, TurnChanges] = {}
    for turn in turns:
        texts = texts_around(turn, path)
        if texts is None:
            reviewed = None
            continue
        before, after = map(lines_of, texts)
        if reviewed is None:
            reviewed = ReviewedText(before)
        reviewed.follow(before)
        made = [*_made(turn, path)]
        by_key |= {key: turn for _, key in made if key is not None}
        reviewed.follow(after, made)
    if reviewed is None:
        return
    reviewed.follow(now)
    for hunk in reviewed.hunks:
        yield _table(path, hunk, reviewed, by_key[hunk.keys[-1]])


def _table(path: str, hunk: Hunk, reviewed: ReviewedText, turn: TurnChanges) -> Table:
    removed = tuple(reviewed.lines[hunk.old : hunk.old_end])
    change = Change(hunk.new, removed, tuple(reviewed.now[hunk.new : hunk.new_end]))
    entry = lines_entry(change, reviewed.now)
    old, new = changed_parts(removed, change.added, MOST_WORDS)
    was_latin1 = is_latin1_file(turn.files[path])
    about = {"turn": turn.number, "prompt": turn.prompt, "path": path, "key": hunk.keys[-1]}
    parts = {"keys": hunk.keys, "old_parts": old, "new_parts": new, "latin1": was_latin1}
    return {**about, **entry, **parts}
