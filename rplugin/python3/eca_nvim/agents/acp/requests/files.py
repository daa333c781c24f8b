"""Files: the agent reads and writes them through the editor (fs/*).

Each write is a part of a call that names the file: of the agent's, else of one of ours. So it is
reviewed and undone like all changes, and counted once.
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from io import StringIO
from itertools import islice
from typing import Final, TypeAlias
from weakref import WeakValueDictionary

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.acp.link import FAILED, UNREAD, Link, NotDone
from eca_nvim.agents.acp.requests import acts
from eca_nvim.agents.acp.requests.acts import Act, ActKind, read_file, write_file
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.session import Session, TurnState
from eca_nvim.agents.base import EditorServices, FileChanged, FileMissing, FileRefused
from eca_nvim.chat.model.calls import is_safe_path
from eca_nvim.chat.vocabulary.call_details import FileUsed, Use
from eca_nvim.digests import text_digest
from eca_nvim.jsonrpc import REQUEST_CANCELLED, MessageId
from eca_nvim.path_risks import real_path
from eca_nvim.paths import LARGEST_LOADED, path_of, require_file
from eca_nvim.protocol.acp import client_requests, lifecycle
from eca_nvim.protocol.base.types import Wire

MOST_OPEN: Final = 1000
"""Requests that wait for their answers, at most."""
MOST_HELD: Final = 1 << 26
"""Characters of texts that wait for the user's consent, at most."""
MOST_AT_ONCE: Final = 8
"""Files that are read at the same time, at most."""
MOST_READ: Final = 10_000
"""Files of a session whose text is kept as the agent has read it, at most."""

STOPPED: Final = "not done, the user has stopped the turn"
WITHDRAWN: Final = "not done, the request was cancelled"
REJECTED: Final = "not done, the user has not allowed it"
_TOO_MANY: Final = "too many requests wait"


_Asked: TypeAlias = client_requests.ReadTextFile | client_requests.WriteTextFile


class _Open(Struct, frozen=True, eq=False):
    """A request that has no answer yet; `asking` is cancelled if the agent withdraws it.

    path: as the agent has written it.
    """

    request_id: MessageId
    session: Session
    path: str
    asking: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Files:
    """Answers the requests of one agent process about files."""

    def __init__(self, link: Link, permissions: Permissions, services: EditorServices) -> None:
        self._link = link
        self._permissions = permissions
        self._services = services
        self.gets_empty_text = False
        """Whether the agent takes the error for a missing file as a failure (`quirks`)."""
        self._count = 0  # of requests that have no answer yet
        self._size = 0  # characters of the texts that wait
        self._reading = anyio.CapacityLimiter(MOST_AT_ONCE)
        self._writing = WeakValueDictionary[str, anyio.Lock]()

    def start(self, request_id: MessageId, session: Session, asked: _Asked) -> None:
        """Start to read or write a file."""
        if self._count >= MOST_OPEN:
            self._link.refuse_excess(request_id, _TOO_MANY)
            return
        self._count += 1
        open_ = _Open(request_id, session, asked.path)
        # The user is asked no more; a write that has begun is completed.
        self._link.on_cancel(request_id, open_.asking.cancel)
        self._link.tasks.start_soon(self._answer, open_, asked)

    async def _answer(self, open_: _Open, asked: _Asked) -> None:
        try:
            await self._link.answer(open_.request_id, self._done(open_, asked))
        finally:
            self._count -= 1

    async def _done(self, open_: _Open, asked: _Asked) -> Wire:
        """Do what a request asks for. Raises NotDone; then nothing has changed."""
        try:
            return await self._result(open_, asked)
        except FileMissing as fault:
            reason = f"Resource not found: {fault}"
            raise NotDone(reason, lifecycle.RESOURCE_NOT_FOUND) from fault
        except FileRefused as fault:
            raise NotDone(str(fault)) from fault

    async def _result(self, open_: _Open, asked: _Asked) -> Wire:
        # It is resolved once: what the user is asked about, what is read or written, and what can
        # be undone is that file.
        path = _place(asked.path)
        if isinstance(asked, client_requests.ReadTextFile):
            text = await self._text(open_, path, asked.line)
            return client_requests.FileText(_lines(text, asked.line, asked.limit))
        _require_writable(path, asked.content)
        with self._held(asked.content):
            async with self._writing.setdefault(path, anyio.Lock()):
                await self._write(open_, path, asked.content)
        return client_requests.Done()

    async def _text(self, open_: _Open, path: str, line: int | None) -> str:
        async with self._allowed(open_, read_file(path, line)) as (name, _):
            text = await self._present(path)
            if text and self._link.is_full:
                raise self._link.excess(UNREAD)
        if text is not None:
            _note_read(open_.session, path, text)
            open_.session.say(FileUsed(name, Use.READ, by_request=True))
        elif not self.gets_empty_text:
            raise FileMissing(f"there is no such file: {path}")
        return text or ""

    async def _write(self, open_: _Open, path: str, text: str) -> None:
        session = open_.session
        old = await self._present(path)
        was_read, present = session.inbox.read.get(path), text_digest(old or "")
        # It is written only if its text is still the one that the agent has read, or (`present`)
        # that the user sees in the question.
        if was_read not in (None, present):
            raise FileChanged(path)
        with self._held(old or ""):
            act = write_file(path, old, text)
            async with self._allowed(open_, act) as (name, allowed):
                if allowed is None:  # the user takes nothing of it
                    return
                unsaved = await self._services.write_text(
                    path,
                    text if allowed == act.new else allowed,
                    present,
                    replaces_unsaved=was_read is not None,
                )
                session.say(FileUsed(name, Use.WRITTEN, by_request=True, unsaved=unsaved))
        if was_read is not None:  # else the agent reads the disk, and needs no note from us
            _note_read(session, path, text)

    @contextmanager
    def _held(self, text: str) -> Iterator[None]:
        """Keep a text while the user is asked. Raises NotDone."""
        if self._size + len(text) > MOST_HELD:
            raise self._link.excess(_TOO_MANY)
        self._size += len(text)
        try:
            yield
        finally:
            self._size -= len(text)

    async def _present(self, path: str) -> str | None:
        """Return the text of a file, None if it is missing. Raises FileRefused."""
        try:
            async with self._reading:
                return await self._services.read_text(path)
        except FileMissing:
            return None

    @asynccontextmanager
    async def _allowed(self, open_: _Open, act: Act) -> AsyncIterator[tuple[str, str | None]]:
        """Do something that is allowed, in a call that shows it.

        Yields how the call names the file, and what of the new text is to be written; None:
        nothing. Raises NotDone and FileChanged.
        """
        session = open_.session
        agents_id = self._permissions.call_of(session, act)
        call_id = agents_id or acts.new_call_id()
        is_shown = act.kind is ActKind.WRITE or self._permissions.must_ask(session, act)
        is_ours = agents_id is None and is_shown
        fault = FAILED
        try:
            await self._require(open_, act, call_id)
            if is_ours:
                acts.begin(session, act, call_id)
            name = self._permissions.name_of(session, act, path_of(open_.path))
            allowed: str | None = ""
            if act.kind is ActKind.WRITE:
                allowed = session.allowed_text(act.subject, act.old, act.new)
            yield name, allowed
            fault = ""
            if agents_id is not None and act.kind is ActKind.WRITE and allowed is not None:
                _show(session, replace(act, new=allowed), agents_id, name)
        except (FileRefused, NotDone) as refused:
            fault = str(refused)
            raise
        finally:
            if is_ours:
                acts.end(session, call_id, failed=bool(fault), why=fault)

    async def _require(self, open_: _Open, act: Act, call_id: str) -> None:
        """Raise NotDone unless the user allows something, and its path leads there still."""
        allowed = False
        with open_.asking:
            allowed = await self._permissions.allows(open_.session, act, call_id)
        if open_.asking.cancelled_caught:
            raise NotDone(WITHDRAWN, REQUEST_CANCELLED)
        if not allowed and open_.session.turn is TurnState.STOPPING:
            raise NotDone(STOPPED, REQUEST_CANCELLED)
        if not allowed:
            raise NotDone(REJECTED)
        if real_path(act.subject) != act.subject:
            raise NotDone(f"not done, a link leads elsewhere now: {act.subject}")


def _note_read(session: Session, path: str, text: str) -> None:
    known = session.inbox.read
    known.pop(path, None)
    known[path] = text_digest(text)
    if len(known) > MOST_READ:
        del known[next(iter(known))]


def _show(session: Session, act: Act, call_id: str, name: str) -> None:
    """Show what was written in the agent's call that names the file, else in one of ours."""
    told = session.inbox.calls.wrote(call_id, name, act.old, act.new)
    if told is not None:
        session.say(*told)
        return
    own_id = acts.new_call_id()  # its call has ended meanwhile
    acts.begin(session, act, own_id)
    acts.end(session, own_id)


def _place(name: str) -> str:
    """Return the real path of a file that may be read or written. Raises FileRefused."""
    try:
        path = real_path(path_of(name))
        if os.path.lexists(path):
            require_file(path, LARGEST_LOADED)
    except ValueError as fault:  # NotAFile is one
        raise FileRefused(str(fault)) from fault
    return path


def _require_writable(path: str, text: str) -> None:
    """Raise FileRefused for a name that cannot be shown, and a text that is too large or none."""
    if "\0" in text:
        raise FileRefused(f"not written, a text cannot have a NUL byte: {path}")
    if not is_safe_path(path):
        raise FileRefused(f"not written, its name has characters that cannot be shown: {path!r}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as fault:
        raise FileRefused(f"not written, its new text is not Unicode: {path}") from fault
    if size > LARGEST_LOADED:
        raise FileRefused(f"not written, larger than {LARGEST_LOADED >> 20} MiB: {path}")


def _lines(text: str, line: int | None, limit: int | None) -> str:
    """Return `limit` lines of a text from `line` on (1-based), with their ends; None: all."""
    if line is None and limit is None:
        return text
    most = len(text)  # there are no more lines; an agent may name any number
    first = min(max(1, line or 1) - 1, most)
    last = first + (most if limit is None else min(max(0, limit), most))
    return "".join(islice(StringIO(text, newline="\n"), first, last))
