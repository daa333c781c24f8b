"""Turn changes: what a turn did to files, joined to one change of each file.

What a call that names a file did to it, or what differs between two trees, is a record with a time
of its own. The change of the turn goes from the earliest to the latest:

    content     a ── W1 ── b ── user ── c ── W2 ── d
    records     a      to  b            c    to    d     a to d, changed by others, too

Rules kept here:
- A change in between that no call made is marked: it was the user's, or another program's. Records
  of the same time have one past: there is nothing in between.
- An agent may run a call at once and tell of it later. Of such a call is uncertain what the files
  were before; a tree from before the turn tells more (`unsure`).
"""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.review.checkpoint_store import Tree
from eca_nvim.review.snapshots import Snapshot

UNSEEN = Snapshot(fault="its original text is unknown")


class FileRecord(Struct, frozen=True, eq=False, array_like=True):
    """A file in a turn, before its first change and after its last.

    changed_by_others: somebody else changed it in between. origin: the path it was moved from.
    undone: the turn was undone in this file; `before` and `after` are swapped then. by_command: no
    call named the file, the trees before and after a command differ. began, ended: when it was
    `before`, and `after` (ns since 1970). Saved turns have the fields in this order.
    """

    before: Snapshot
    after: Snapshot
    changed_by_others: bool = False
    origin: str | None = None
    undone: bool = False
    by_command: bool = False
    began: int = 0
    ended: int = 0

    @property
    def is_change(self) -> bool:
        """Whether the file has surely not stayed what it was."""
        return not self.before.same_as(self.after)

    @property
    def is_link(self) -> bool:
        """Whether it was or is a link of its own, rather than what a link leads to."""
        return self.before.is_link or self.after.is_link

    def joined(self, more: "FileRecord", *, is_late: bool = False) -> "FileRecord":
        """Return it with one more record; `is_late`: that call may have run before it was seen."""
        if self.undone:  # a change after an undo starts a new record
            return more if more.is_change else self
        first, second = (self, more) if self.began < more.began else (more, self)
        last = self if self.ended > more.ended else more
        fits = second.began < first.ended or second.before.same_as(first.after)
        fits = fits or second.before.same_as(first.before) or (is_late and not more.is_change)
        return replace(
            self,
            before=first.before,
            after=last.after,
            changed_by_others=self.changed_by_others or more.changed_by_others or not fits,
            by_command=self.by_command and more.by_command,
            began=first.began,
            ended=last.ended,
        )


class TurnChanges(Struct, eq=False):
    """The files that a turn changed, by path; `prompt` is the user's prompt, shortened to a line.

    unknown: why the changes of its commands are unknown, if they are. odd_names: files that
    commands changed and whose names cannot be shown. began: ns since 1970. kept: the keys of the
    changes that the user has kept (`change_list.keyed_changes`). is_open: the user has begun to
    review it, and some are neither kept nor reverted. running: files that calls were changing as it
    was saved. starts: the trees from before the commands that ran then, or had just ended.
    process: its Neovim. until: when it was saved last, 0 if anything ran. saved, commit: where it
    is saved, and as which version. seen: all files that were looked at. unsure: those whose first
    call may have run before that, and when it ended.
    """

    chat: str
    number: int = field(name="turn")
    prompt: str
    files: dict[str, FileRecord] = field(default_factory=dict)
    unknown: str | None = None
    odd_names: set[str] = field(default_factory=set)
    began: int = 0
    kept: set[str] = field(default_factory=set)
    is_open: bool = False
    running: Mapping[str, FileRecord] = field(default_factory=dict)
    starts: list[Tree] = field(default_factory=list)
    process: int = 0
    until: int = 0
    saved: str | None = None
    commit: str | None = None
    seen: dict[str, FileRecord] = field(default_factory=dict)
    unsure: dict[str, int] = field(default_factory=dict)

    def note(self, path: str, record: FileRecord, *, is_late: bool = False) -> None:
        """Add what is known of a file; `is_late`: as in `FileRecord.joined`."""
        known = self.seen.get(path) or self.files.get(path)
        self.seen[path] = record if known is None else known.joined(record, is_late=is_late)

    def note_move(self, source: str, destination: str) -> None:
        """Note that a file was moved, after what is known of both paths."""
        old, new = self.seen.get(source), self.seen.get(destination)
        if old is not None and new is not None:
            first = old.origin or source
            self.seen[source] = replace(old, origin=None)
            self.seen[destination] = replace(new, origin=None if first == destination else first)

    def compute_files(self) -> None:
        """Compute `files` from what was seen; what was a change stays one if it was undone."""
        self.files = {path: it for path, it in (self.files | self.seen).items() if it.is_change}
