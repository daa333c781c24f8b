"""Used files: which files an agent has used in a chat, how, how often and how lately.

Heat says how much a file matters now. Each use adds 1, each turn of the chat halves it.
"""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct, field

from eca_nvim.chat.model.calls import LONGEST_PATH, is_safe_path
from eca_nvim.chat.vocabulary import call_details

MOST_FILES = 10_000
MOST_CHARACTERS = 1 << 21
"""Characters of all paths together."""
KEPT = 0.75
"""Part of the files that stays when there are too many."""
COOLING = 0.5
"""What a turn leaves of a heat."""


def cooled(heat: float, turns: int) -> float:
    """Return what is left of a heat after some turns; so no turn costs anything."""
    return heat * COOLING ** max(0, turns)


class UsedFile(Struct):
    """How a file was used.

    turn: the one it was last used in; 0: it is only known from a replay. heat: as of that turn.
    added, removed: the lines that calls changed.
    """

    counts: Counter[call_details.Use] = field(default_factory=Counter)
    turn: int = 0
    heat: float = 0.0
    added: int = 0
    removed: int = 0


class UsedFiles(Struct):
    """All used files of a chat, by path.

    turn: the chat's. news: the paths of files that the view does not know as they are now. dropped:
    those it still has to forget. is_stale: there is something to send to the view. named, ended:
    paths, and calls whose paths, have to be looked for. unmatched: of this turn by file and use,
    how many more requests (or, below 0, calls) there were than calls.
    """

    files: dict[str, UsedFile] = field(default_factory=dict)
    turn: int = 0
    news: dict[str, None] = field(default_factory=dict)
    dropped: dict[str, None] = field(default_factory=dict)
    is_stale: bool = False
    named: list[call_details.FileNamed] = field(default_factory=list)
    ended: list[call_details.ToolCall] = field(default_factory=list)
    characters: int = 0
    unmatched: Counter[tuple[str, call_details.Use]] = field(default_factory=Counter)

    def begin_turn(self, number: int) -> None:
        """Note that another turn begins: everything cools."""
        self.turn = number
        self.is_stale = self.is_stale or bool(self.files)
        self.unmatched.clear()

    def clear(self) -> None:
        """Forget all files."""
        for path in self.files:
            self.dropped[path] = None
        self.files.clear()
        self.news.clear()
        self.unmatched.clear()
        self.characters, self.is_stale = 0, True

    def note_request(self, path: str, use: call_details.Use) -> None:
        """Note that the agent asked this client to use a file, in the turn that runs."""
        if self.unmatched[_normal(path), use] >= 0:  # else the call of it counts already
            self.note(path, use)
        self._match(path, use, 1)

    def note_call(self, path: str, use: call_details.Use, *, replayed: bool) -> None:
        """Note that a call used a file."""
        if replayed or self.unmatched[_normal(path), use] <= 0:  # else its request counts already
            self.note(path, use, replayed=replayed)
        if not replayed:
            self._match(path, use, -1)

    # A call and the request that it makes for the same file count once: of both as many as there
    # are of the more frequent, turn by turn.
    def _match(self, path: str, use: call_details.Use, by: int) -> None:
        if (normal := _normal(path)) in self.files:
            self.unmatched[normal, use] += by

    def add_lines(self, path: str, added: int, removed: int) -> None:
        """Add the lines that a call has changed in a file."""
        file = self.files.get(_normal(path))
        if file is not None:
            file.added += added
            file.removed += removed

    def note(self, path: str, use: call_details.Use, *, replayed: bool = False) -> None:
        """Note a use."""
        if len(path) > LONGEST_PATH or not is_safe_path(path):
            return
        path = _normal(path)
        file = self.files.get(path)
        if file is None:
            file = self._add(path)
        file.counts[use] += 1
        if not replayed:  # nobody knows how many turns ago what is replayed was
            file.heat = cooled(file.heat, self.turn - file.turn) + 1
            file.turn = self.turn
        self.news[path] = None
        self.is_stale = True

    def heat(self, path: str) -> float:
        """Return the present heat of a file."""
        file = self.files[path]
        return cooled(file.heat, self.turn - file.turn)

    def hottest_first(self) -> Iterator[tuple[str, UsedFile]]:
        """Yield all files: the hottest first, then the most used, then by path."""
        for path in sorted(self.files, key=self._order):
            yield path, self.files[path]

    def look_for(self, named: Iterable[call_details.FileNamed]) -> None:
        """Have it found out which paths are files, together with those of other calls."""
        self.named += islice(named, max(0, MOST_FILES - len(self.named)))

    def look_into(self, call: call_details.ToolCall) -> None:
        """Have it found out which files a call names; later, because reading it takes time."""
        if len(self.ended) < MOST_FILES:
            self.ended.append(call)

    def take_named(
        self,
    ) -> tuple[tuple[call_details.FileNamed, ...], tuple[call_details.ToolCall, ...]]:
        """Return the paths and the calls that have to be looked for, once."""
        named, ended = tuple(self.named), tuple(self.ended)
        self.named, self.ended = [], []
        return named, ended

    def take_news(self) -> tuple[list[str], list[str]]:
        """Return the paths of files to tell the view about, and of those to forget."""
        news, dropped = list(self.news), list(self.dropped)
        self.news.clear()
        self.dropped.clear()
        self.is_stale = False
        return news, dropped

    def _order(self, path: str) -> tuple[float, int, str]:
        return -self.heat(path), -self.files[path].counts.total(), path

    def _add(self, path: str) -> UsedFile:
        if len(self.files) >= MOST_FILES or self.characters + len(path) > MOST_CHARACTERS:
            self._drop_coldest()
        file = self.files[path] = UsedFile()
        self.characters += len(path)
        self.dropped.pop(path, None)
        return file

    def _drop_coldest(self) -> None:
        # Many at once, so that a use costs the same however many files there are.
        for path in sorted(self.files, key=self._order, reverse=True):
            if len(self.files) < MOST_FILES * KEPT and self.characters < MOST_CHARACTERS * KEPT:
                return
            del self.files[path]
            self.characters -= len(path)
            self.news.pop(path, None)
            self.dropped[path] = None
            for use in call_details.Use:
                self.unmatched.pop((path, use), None)


def _normal(path: str) -> str:
    """Return a path without `.`, `..` and doubled slashes: one name for a file."""
    return "/" + posixpath.normpath(path).lstrip("/")
