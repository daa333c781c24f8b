"""Editor: what the host asks Neovim, for itself and for agents: diagnostics, locations, files.

A file that is loaded in Neovim is read with its unsaved changes, and written through its buffer
(`lua/eca/editor/agent_files.lua`). Any other is read and written on disk; no buffer is made.
"""

import asyncio
import codecs
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Final, TypeVar

import anyio
from msgspec import Struct, ValidationError, convert

from eca_nvim.agents.base import (
    Diagnostic,
    FileChanged,
    FileMissing,
    FileRefused,
    Location,
    NoAnswer,
    OpenBuffer,
)
from eca_nvim.chat.vocabulary.intents import CallReturned
from eca_nvim.digests import text_digest
from eca_nvim.disk.replacing import open_folder, replace
from eca_nvim.nvim.frames import UNSENDABLE
from eca_nvim.paths import LARGEST_LOADED, NotAFile, open_regular, path_fault
from eca_nvim.review.text_changes import is_latin1, text_of
from eca_nvim.threads import run_in_thread

# All Lua code that is sent to Neovim; data travels as arguments.
ALIVE = "require('eca.host').alive()"
APPLY = "require('eca.view.frames').receive(...)"
CALL = "require('eca.view.editor_calls').call(...)"

CALL_TIMEOUT = 25.0
"""Seconds that a call waits for its answer: an agent waits half a minute."""

log = logging.getLogger(__name__)

Run = Callable[[str, Sequence[object]], None]
"""Runs one of the constants above with arguments; never waits."""


class CallFailed(Exception):
    """Raised when a call failed in Neovim; the text is Neovim's reason."""


class Unanswered(Exception):
    """Raised when Neovim does not answer in time, because it waits for the user."""


class EditorCalls:
    """Calls and subscriptions, by number, which their answers carry (intent `returned`).

    So nothing blocks, and a failure in Neovim is an answer, too.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._numbers = count(1)
        self._pending: dict[int, asyncio.Future[CallReturned]] = {}
        self._subscriptions: dict[int, Callable[[object], None]] = {}

    async def call(
        self, name: str, arguments: Mapping[str, object], seconds: float = CALL_TIMEOUT
    ) -> object:
        """Call a function of `lua/eca/view/editor_calls.lua` and return its value.

        seconds: how long to wait for the answer. Raises CallFailed, Unanswered.
        """
        number, loop = next(self._numbers), asyncio.get_running_loop()
        pending = self._pending[number] = loop.create_future()
        try:
            self._run(CALL, [number, name, arguments])
            with anyio.fail_after(seconds):
                answer = await pending
        except TimeoutError as late:
            raise Unanswered(f"{name}: no answer within {seconds} s") from late
        except UNSENDABLE as fault:
            raise CallFailed(f"{name}: cannot be sent, {fault}") from fault
        finally:
            del self._pending[number]
        if not answer.ok:
            raise CallFailed(f"{name}: {answer.value}")
        return answer.value

    def subscribe(self, name: str, listener: Callable[[object], None]) -> None:
        """Make a call that Neovim answers whenever its value changes."""
        number = next(self._numbers)
        self._subscriptions[number] = listener
        self._run(CALL, [number, name, {}])

    def returned(self, answer: CallReturned) -> None:
        """Handle an answer (intent `returned`); one that comes too late is dropped."""
        if (pending := self._pending.get(answer.call)) is not None:
            if not pending.done():
                pending.set_result(answer)
        elif (listener := self._subscriptions.get(answer.call)) is not None:
            if answer.ok:
                listener(answer.value)
            else:
                log.error("Neovim ended a subscription: %s", answer.value)


DIAGNOSTICS_TIMEOUT: Final = 1.0
"""Seconds until we answer with the diagnostics that Neovim sent last."""
READ_TIMEOUT: Final = 5.0
"""Seconds until a file is read from the disk, because Neovim waits for the user."""
WRITE_TIMEOUT: Final = 20.0
"""Seconds until a write is refused. Neovim does not write later either."""

Built = TypeVar("Built", Diagnostic, Location, OpenBuffer)
Returned = TypeVar("Returned")


class _Written(Struct):
    """How Neovim answered a write (`eca.AgentWriteResult`)."""

    state: str
    why: str = ""
    unsaved: str | None = None
    encoding: str = ""
    bomb: bool = False


class Editor:
    """The editor's services (`agents.base.EditorServices`), and its files."""

    def __init__(self, calls: EditorCalls) -> None:
        self._calls = calls
        self._known: dict[str, Sequence[Diagnostic]] = {}

    def watch(self) -> None:
        """Subscribe to changes of diagnostics.

        In some states Neovim answers nothing: at the hit-enter and more prompts, with half a
        command typed, while a program runs in the foreground. Then the last ones are the answer.
        """
        self._calls.subscribe("watch", self._diagnostics_changed)

    def _diagnostics_changed(self, value: object) -> None:
        """Store all diagnostics of some files: a list of {path, items}."""
        for file in _tables(value):
            self._known[str(file["path"])] = _diagnostics(file.get("items"))

    async def diagnostics(self, path: str | None) -> Sequence[Diagnostic]:
        """Return the diagnostics of a file, or of all files of the workspace folders for None.

        They are in order of their places. Raises CallFailed.
        """
        arguments = {} if path is None else {"path": path}
        try:
            value = await self._calls.call("diagnostics", arguments, DIAGNOSTICS_TIMEOUT)
        except Unanswered:
            log.info("Neovim does not answer now: using the diagnostics that it sent last")
            known = self._known if path is None else {path: self._known.get(path, ())}
            return _in_order(chain(*known.values()))
        return _in_order(_diagnostics(value))

    async def locations(
        self, kind: str, path: str, line: int, column: int
    ) -> Sequence[Location] | NoAnswer:
        """Return the definitions or references of the symbol at a position.

        Raises CallFailed, Unanswered.
        """
        place = {"kind": kind, "path": path, "line": line, "column": column}
        value = await self._calls.call("locations", place)
        if isinstance(value, str):
            return NoAnswer(value)
        return tuple(_build(Location, table) for table in _tables(value))

    async def open_buffers(self) -> Sequence[OpenBuffer]:
        """Return the open files, the one used last first. Raises CallFailed, Unanswered."""
        value = await self._calls.call("open_buffers", {})
        return tuple(_build(OpenBuffer, table) for table in _tables(value))

    async def unsaved(
        self, paths: Sequence[str], seconds: float = CALL_TIMEOUT
    ) -> Mapping[str, str]:
        """Return the texts of those files that have unsaved changes, by path.

        Raises CallFailed, Unanswered.
        """
        value = await self._calls.call("unsaved", {"paths": list(paths)}, seconds)
        files = value if isinstance(value, list) else ()
        return {str(file["path"]): str(file["text"]) for file in files if isinstance(file, dict)}

    async def read_text(self, path: str) -> str:
        """Return the whole text of a file, with unsaved changes. Raises FileRefused.

        path: a real one. Neovim may let us wait, and no link that is made meanwhile is followed.
        """
        _require_path(path)
        try:
            unsaved = await self.unsaved([path], READ_TIMEOUT)
        except (CallFailed, Unanswered):
            unsaved = {}
        if path in unsaved:
            return unsaved[path]
        return await _in_thread(path, lambda: _text(path, _content(path)))

    async def write_text(
        self, path: str, text: str, expected: str | None = None, *, replaces_unsaved: bool = True
    ) -> bytes | None:
        """Give a file a new text, through its buffer if it is loaded. Raises FileRefused.

        path: as for `read_text`. Returns what the file would have been with unsaved changes, None
        if there were none.
        """
        _require_path(path)
        if "\0" in text:
            raise FileRefused(f"not written, a text cannot have a NUL byte: {path}")
        written = await self._write_buffer(path, text, expected, replaces_unsaved)
        if written is not None:
            return _unsaved(written)
        await _in_thread(path, lambda: _write(path, text, expected))
        return None

    async def _write_buffer(
        self, path: str, text: str, expected: str | None, replaces_unsaved: bool
    ) -> _Written | None:
        """Write a file through its buffer; returns None if it has none."""
        arguments = {
            "path": path,
            "text": text,
            "expires": int(time.time() + WRITE_TIMEOUT),
            "replaces_unsaved": replaces_unsaved,
            **({} if expected is None else {"expected": expected}),
        }
        try:
            value = await self._calls.call("write", arguments, WRITE_TIMEOUT)
            written = convert(value, _Written)
        except Unanswered as fault:
            why = "Neovim is waiting for the user"
            raise FileRefused(f"not written, {why}: {path}") from fault
        except (CallFailed, ValidationError) as fault:
            raise FileRefused(f"not written, {fault}: {path}") from fault
        if written.state == "changed":
            raise FileChanged(path)
        if written.state == "refused":
            raise FileRefused(f"not written, {written.why}: {path}")
        return written if written.state == "written" else None


def _diagnostics(value: object) -> Sequence[Diagnostic]:
    return tuple(_build(Diagnostic, table) for table in _tables(value))


def _in_order(found: Iterable[Diagnostic]) -> Sequence[Diagnostic]:
    return tuple(sorted(found, key=lambda it: (it.path, it.start_line, it.start_column)))


def _tables(value: object) -> Sequence[Mapping[str, object]]:
    """Return a list of tables; an empty one may arrive as a map or not at all."""
    if not isinstance(value, list):
        return ()
    return [table for table in value if isinstance(table, Mapping)]


def _build(kind: type[Built], table: Mapping[str, object]) -> Built:
    """Build a diagnostic or a location from its table. Raises CallFailed if a field is missing."""
    build: Callable[..., Built] = kind
    known = kind.__struct_fields__
    try:
        return build(**{key: value for key, value in table.items() if key in known})
    except TypeError as lacking:
        raise CallFailed(str(lacking)) from lacking


def _unsaved(written: _Written) -> bytes | None:
    """Return what the file would have been with its unsaved changes."""
    if written.unsaved is None:
        return None
    mark = codecs.BOM_UTF8 if written.bomb else b""
    try:
        return mark + written.unsaved.encode(written.encoding or "utf-8")
    except (LookupError, UnicodeEncodeError):  # Vim knows an encoding that Python does not
        return mark + written.unsaved.encode(errors="surrogateescape")


def _require_path(path: str) -> None:
    if fault := path_fault(path):
        raise FileRefused(f"{fault}: {path!r}")


async def _in_thread(path: str, work: Callable[[], Returned]) -> Returned:
    """Run something with a file in a thread. Raises FileRefused."""
    try:
        return await run_in_thread(work)
    except FileNotFoundError as fault:
        raise FileMissing(f"there is no such file: {path}") from fault
    except OSError as fault:
        raise FileRefused(f"{fault.strerror}: {path}") from fault
    except NotAFile as fault:
        raise FileRefused(f"{fault}: {path}") from fault


def _content(path: str) -> bytes:
    with open_folder(str(Path(path).parent)) as folder, open_regular(path, folder) as file:
        content = file.read(LARGEST_LOADED + 1)
    if len(content) > LARGEST_LOADED:
        raise FileRefused(f"larger than {LARGEST_LOADED >> 20} MiB: {path}")
    return content


def _text(path: str, content: bytes) -> str:
    text = text_of(content)
    if text is None:
        raise FileRefused(f"not a text file: {path}")
    return text


def _write(path: str, text: str, expected: str | None) -> None:
    try:
        before = _content(path)
    except FileNotFoundError:
        if expected not in (None, text_digest("")):
            raise FileChanged(path) from None
        replace(path, text.encode())
        return
    if expected is not None and text_digest(_text(path, before)) != expected:
        raise FileChanged(path)
    if not os.access(path, os.W_OK):
        raise FileRefused(f"not written, it is read-only: {path}")
    replace(path, _encoded_like(before, text, path))


def _encoded_like(before: bytes, text: str, path: str) -> bytes:
    """Encode a text as the file was: with its line ends, its byte order mark, or in Latin-1."""
    if b"\r\n" in before and before.count(b"\r\n") == before.count(b"\n"):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if before and is_latin1(before):
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError as fault:
            letter = text[fault.start]
            raise FileRefused(f"not written, Latin-1 has no {letter!r}: {path}") from fault
    mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
    return mark + text.removeprefix("\ufeff").encode()
