"""Proposals: makes the file changes that a server of the protocol's first draft proposes.

That draft has neither tool calls nor approvals: the server tells the client what to change, and
whether to ask the user first.

Rules kept here:
- A proposal is shown as a tool call, and the user is asked. A change is made without asking only
  if the server says that it needs no approval, while it answers a prompt, and only to an ordinary
  file of the workspace: not one reached by a link, nor one that git or the editor obey
  (`path_risks`).
- The change is applied to the file as it is at the time of the approval, in the place that was
  shown. If it no longer fits, or a link is in the way, the file stays and the call fails.
- A complete answer ends the turn once none of its proposals waits for the user.
- The text after a change is computed without any I/O. Line numbers are 1-based, and those of the
  unchanged file for all changes of a proposal.
  Both ends of a range are included.
- A change that does not fit is an error; it is never made in part.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from anyio.abc import TaskGroup
from msgspec import Struct

from eca_nvim.agents.base import Emit
from eca_nvim.agents.eca.content.known_tools import described
from eca_nvim.agents.eca.turns import EndKind, EndReported
from eca_nvim.chat.text.diffs import DoesNotApply, apply_hunks, parse_hunks
from eca_nvim.chat.text.text_differences import hunks_between
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatEvent,
    Role,
    TextReceived,
    ToolFinished,
    ToolRejected,
    ToolRequested,
)
from eca_nvim.disk.replacing import remove, replace
from eca_nvim.path_risks import path_risks, real_path
from eca_nvim.paths import LARGEST_LOADED, open_regular, path_of
from eca_nvim.protocol.eca.draft import FileChangeContent, ProposedChange


class DoesNotFit(ValueError):
    """Raised when changes do not fit a file; the message is one line that says why."""


def changed_text(text: str | None, changes: Sequence[ProposedChange]) -> str | None:
    """Return a file's text after some changes, None if it is deleted; `text` None: no such file.

    Changes without a range are to the whole file. Raises DoesNotFit.
    """
    whole = [change for change in changes if change.range is None or change.kind == "create"]
    if whole:
        if len(changes) > 1:
            raise DoesNotFit("a change of the whole file cannot be combined with others")
        return _whole(whole[0])
    if text is None:
        raise DoesNotFit("there is no such file")
    return _spliced(text, changes)


def _whole(change: ProposedChange) -> str | None:
    match change.kind:
        case "delete":
            return None
        case "create" | "change":
            return change.content or ""
        case _:
            raise DoesNotFit(f"{change.kind!r} is not a kind of change")


def _spliced(text: str, changes: Sequence[ProposedChange]) -> str:
    lines, ends = _lines(text)
    below = len(lines) + 1
    for first, last, replacement in sorted(map(_splice, changes), reverse=True):
        if not 1 <= first <= min(last, len(lines)) + 1 or last >= below:
            raise DoesNotFit(f"lines {first} to {last} do not exist, or are changed twice")
        lines[first - 1 : last] = replacement
        below = first
    return "\n".join(lines) + ("\n" if ends and lines else "")


def _splice(change: ProposedChange) -> tuple[int, int, list[str]]:
    assert change.range is not None
    first, last = change.range.start_line, change.range.end_line
    match change.kind:
        case "delete":
            return first, last, []
        case "change":
            return first, last, _lines(change.content or "")[0]
        case _:
            raise DoesNotFit(f"{change.kind!r} is not a kind of change")


def _lines(text: str) -> tuple[list[str], bool]:
    """Split a text into lines; return them, and whether the last one has a line feed."""
    ends = text.endswith("\n") or not text
    return text.removesuffix("\n").split("\n") if text else [], ends


_END = EndReported(kind=EndKind.FINISHED)


class _Proposal(Struct, frozen=True):
    """A change that can be made; `is_gone`: it deletes the file.

    place: the real path when the change was shown; for a link that is deleted, the link itself.
    """

    chat_id: str
    call: ToolCall
    change: FileChange
    is_gone: bool
    place: str


class Proposals:
    """The proposals of one server process."""

    def __init__(self, folders: Sequence[str], tasks: TaskGroup, emit: Emit) -> None:
        self._folders = folders
        self._tasks = tasks
        self._emit = emit
        self._waiting: dict[str, _Proposal] = {}  # by the id of its call
        self._answering: set[str] = set()  # chats with a prompt whose answer is not complete
        self._complete: set[str] = set()  # chats whose answer is complete
        self._stopped: set[str] = set()  # chats whose turn the user has stopped

    def prompted(self, chat_id: str) -> None:
        """Note that a prompt was sent and its answer will follow."""
        self._answering.add(chat_id)

    def propose(self, chat_id: str, proposed: FileChangeContent) -> Sequence[ChatEvent]:
        """Return the events of a proposal; start to make the change if it needs no approval."""
        named = proposed.file or ""
        edit = ToolCall(str(uuid4()), "edit_file", arguments={"path": named})  # ECA sends no id
        call = described(edit)
        before: Sequence[ChatEvent] = ()
        if proposed.description:
            before = (TextReceived(Role.ASSISTANT, f"\n\n{proposed.description}\n"),)
        try:
            proposal = _read(chat_id, call, self._path(named), proposed)
        except (DoesNotFit, OSError, ValueError) as fault:
            return (*before, ToolRequested(call), _failed(call, str(fault)))
        if chat_id in self._stopped:
            return (*before, ToolRequested(proposal.call), ToolRejected(proposal.call, "user"))
        self._waiting[call.id] = proposal
        asks = proposed.manual_approval is not False or not self._may_skip_approval(proposal)
        if not asks:
            self._tasks.start_soon(self._make, proposal)
        return (*before, ToolRequested(proposal.call, asks))

    def complete(self, chat_id: str) -> Sequence[ChatEvent]:
        """Note that an answer is complete; return the turn's end unless a proposal waits."""
        self._answering.discard(chat_id)
        self._complete.add(chat_id)
        return self._end(chat_id)

    def approve(self, chat_id: str, call_id: str) -> bool:
        """Make a waiting change; return whether the call is a proposal."""
        proposal = self._find(chat_id, call_id)
        if proposal is not None:
            self._tasks.start_soon(self._make, proposal)
        return proposal is not None

    def reject(self, chat_id: str, call_id: str) -> bool:
        """Drop a waiting change; return whether the call is a proposal."""
        proposal = self._find(chat_id, call_id)
        if proposal is not None:
            self._resolve(proposal, ToolRejected(proposal.call, "user"))
        return proposal is not None

    def _find(self, chat_id: str, call_id: str) -> _Proposal | None:
        proposal = self._waiting.get(call_id)
        return proposal if proposal is not None and proposal.chat_id == chat_id else None

    def stop(self, chat_id: str) -> bool:
        """Drop a chat's waiting and future proposals; return whether that ends the turn."""
        self._stopped.add(chat_id)
        for call_id in [key for key, it in self._waiting.items() if it.chat_id == chat_id]:
            del self._waiting[call_id]
        ends = self._end(chat_id)
        self._emit_events(chat_id, ends)
        return bool(ends)

    async def _make(self, proposal: _Proposal) -> None:
        if proposal.call.id not in self._waiting:
            return
        try:
            _write(proposal)
        except (DoesNotApply, OSError, ValueError) as fault:
            self._resolve(proposal, _failed(proposal.call, str(fault)))
        else:
            self._resolve(proposal, ToolFinished(proposal.call))

    def _resolve(self, proposal: _Proposal, event: ChatEvent) -> None:
        del self._waiting[proposal.call.id]
        self._emit_events(proposal.chat_id, (event, *self._end(proposal.chat_id)))

    def _end(self, chat_id: str) -> Sequence[ChatEvent]:
        waits = any(it.chat_id == chat_id for it in self._waiting.values())
        if waits or chat_id not in self._complete:
            return ()
        self._complete.remove(chat_id)
        self._stopped.discard(chat_id)
        return (_END,)

    def _emit_events(self, chat_id: str, events: Sequence[ChatEvent]) -> None:
        if events:
            self._emit([Addressed(chat_id, event) for event in events])

    def _path(self, named: str) -> str:
        """Return the path of a file that a proposal names. Raises NotAFile."""
        is_uri = named[:5].lower() == "file:"
        return path_of(named if is_uri else posixpath.join(*self._folders[:1], named))

    def _may_skip_approval(self, proposal: _Proposal) -> bool:
        """Return whether a change is part of an answer, and to an ordinary file inside a folder."""
        path, folders = proposal.change.path, self._folders
        inside = any(Path(path).is_relative_to(folder) for folder in folders)
        return proposal.chat_id in self._answering and inside and not path_risks(path, folders)


def _read(chat_id: str, call: ToolCall, path: str, proposed: FileChangeContent) -> _Proposal:
    before = _text(path)
    after = changed_text(before, proposed.changes)
    change = FileChange(path, *hunks_between(before or "", after or ""))
    name = "delete_file" if after is None else "write_file" if before is None else call.name
    whole = described(ToolCall(call.id, name, changes=(change,), arguments={"path": path}))
    if after is not None:
        return _Proposal(chat_id, whole, change, is_gone=False, place=real_path(path))
    folder, file = posixpath.split(path)
    place = posixpath.join(real_path(folder), file)
    return _Proposal(chat_id, whole, change, is_gone=True, place=place)


def _write(proposal: _Proposal) -> None:
    """Apply a change to the file as it is now. Raises DoesNotApply, OSError and ValueError."""
    text = _text(proposal.place)
    after = apply_hunks(text or "", parse_hunks(proposal.change.diff))
    if proposal.is_gone and after:
        raise DoesNotApply("the file has other lines by now")
    if proposal.is_gone:
        remove(proposal.place)
    elif text is None or after != text:
        replace(proposal.place, after.encode())


def _text(path: str) -> str | None:
    """Return a file's text with its line ends; None if there is no such file.

    Raises OSError and ValueError.
    """
    try:
        with open_regular(path) as file:
            content = file.read(LARGEST_LOADED + 1)
    except FileNotFoundError:
        return None
    if len(content) > LARGEST_LOADED:
        raise DoesNotFit(f"it is larger than {LARGEST_LOADED >> 20} MiB")
    return content.decode()


def _failed(call: ToolCall, fault: str) -> ToolFinished:
    return ToolFinished(call, (fault,), failed=True)
