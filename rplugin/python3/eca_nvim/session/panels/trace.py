"""The panel of the trace: what went over the connection of a server, newest first.

Rules kept here:
- Messages are read only while the panel is shown, some at a time: a server that sends fast is not
  slowed down.
- What is shown and saved has its secrets hidden.
- The first row stays where it is: from there the cursor sees what comes.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import ClassVar, Final

import anyio.lowlevel

from eca_nvim.agents.trace import Kind, Traced
from eca_nvim.chat.text.output import document
from eca_nvim.chat.text.safe_text import duration
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.panels import Action, Ask, Cell, Row
from eca_nvim.digests import new_id
from eca_nvim.session.panels.messages import Messages, Shown
from eca_nvim.session.panels.panel import Answer, Panel, Scene, cell, column, note, rest
from eca_nvim.session.view import Refused
from eca_nvim.threads import run_in_thread
from eca_nvim.transport import Tape

AT_ONCE: Final = 400
"""Pieces that are read for one drawing."""
LONGEST_EXCERPT: Final = 32 << 10
"""Bytes of a message of which a line is shown among others."""
MOST_LINES: Final = 200
"""Rows of a message's or a group's details."""
LONGEST_LINE: Final = 2000
"""Cells of a row of details; a saved trace has the rest."""
LONG_WAIT: Final = 10.0
"""Seconds after which a request that waits is marked."""
METHOD: Final = 29
TOOK: Final = 6
"""Cells of columns."""
_HEAD: Final = "head"


class TracePanel(Panel):
    """The messages of the server of the chat from which the panel was opened."""

    ACTIONS: ClassVar = (
        Action("open", "o", "show or hide it"),
        Action("filter", "f", "filter", (Ask("filter", "Method or chat (empty: all):"),), True),
        Action("save", "s", "save", (Ask("file", "Save the trace as:"),), True),
        Action("chat", "t", "only this chat, or all", everywhere=True),
        Action("clear", "c", "show only what comes now", everywhere=True),
    )

    def __init__(self, scene: Scene, chat_id: str | None) -> None:
        super().__init__(scene, chat_id)
        self._filter = ""
        self._is_of_chat = False
        self._messages: Messages | None = None
        self._opened = dict[str, tuple[int, Sequence[Row]]]()
        """The details that are shown, by row, and of how many messages they are."""
        self._titles: Mapping[str, str] = {}
        self._values: Mapping[str, str] = {}

    # --- what is shown ----------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """Whose messages are shown, and which."""
        of_chat = ", only this chat" if self._is_of_chat else ""
        matching = f", filter: {cell(self._filter, 20)}" if self._filter else ""
        return f"trace of {cell(self.server.name, 20)}{of_chat}{matching}"

    def rows(self) -> Iterator[Row]:
        """Yield what the trace is, then its messages, newest first."""
        messages = self._follow()
        if messages is None:
            yield note("nothing was sent yet: the server has not been started since Neovim runs")
            return
        self._note_titles(messages)
        messages.read(AT_ONCE)
        if messages.is_behind:
            self.scene.chats.changed()
        yield self._head(messages)
        for shown in reversed(messages.shown):
            yield self._row(messages, shown)
            yield from self._details(shown)

    async def begin(self) -> None:
        """Read what is there in pieces, so that nothing else waits."""
        while (messages := self._follow()) is not None and messages.is_behind:
            messages.read(AT_ONCE)
            await anyio.lowlevel.checkpoint()

    def _follow(self) -> Messages | None:
        """Return the messages of the server as it was started last."""
        trace = self.server.process.trace
        if trace is not None and (self._messages is None or self._messages.trace is not trace):
            self._messages = Messages(trace, self._is_wanted)
            self._choose()
        return self._messages

    def _choose(self) -> None:
        """Show what is wanted now."""
        name = "".join(it if it.isalnum() or it in "-_." else "-" for it in self.server.name)
        self._values = {"file": f"eca-trace-{name}.jsonl", "filter": cell(self._filter)}
        if self._messages is not None:
            self._messages.choose()

    def _note_titles(self, messages: Messages) -> None:
        """Make all rows again if a chat has another title."""
        titles = {it.id: it.title or "new chat" for it in self.scene.chats.table.values()}
        if titles != self._titles:
            self._titles = titles
            messages.choose()

    def _is_wanted(self, message: Traced) -> bool:
        if self._is_of_chat and message.chat != self.chat_id:
            return False
        wanted = self._filter.lower()
        return wanted in message.name.lower() or wanted in self._chat_title(message).lower()

    def _chat_title(self, message: Traced) -> str:
        return self._titles.get((message.request or message).chat or "", "")

    # --- rows -------------------------------------------------------------------------------------

    def _head(self, messages: Messages) -> Row:
        tape = messages.trace.tape
        began = time.strftime("%H:%M:%S", time.localtime(tape.wall_clock))
        line = [rest(f"recorded since {began}", "EcaMuted")]
        if tape.ended is not None:
            ended = tape.ended - tape.began
            line.append(rest(f"; the server has ended after {ended:.3f} s", "EcaWarning"))
        if not messages.shown:
            line.append(rest("; none of its messages is shown", "EcaMuted"))
        return Row(_HEAD, line, values=self._values)

    def _row(self, messages: Messages, shown: Shown) -> Row:
        first = shown.first
        waits = first.kind is Kind.REQUEST and first.answer is None
        if shown.row is None or waits:
            start = [_time(first, 0), column(_way(first), 1)]
            is_fault = first.kind in (Kind.FAULT, Kind.GAP)
            cells = self._fault(first) if is_fault else self._message(shown, messages.trace.tape)
            actions = () if first.kind is Kind.GAP else ("open",)
            shown.row = Row(shown.id, [*start, *cells], actions, self._values)
        return shown.row

    def _fault(self, fault: Traced) -> Sequence[Cell]:
        size = f", {_size(fault.size)}" if fault.size else ""
        return [rest(f"{self._hidden(fault.name)}{size}", "EcaFailed")]

    def _message(self, shown: Shown, tape: Tape) -> Sequence[Cell]:
        first = shown.first
        count = f" \N{MULTIPLICATION SIGN}{shown.count}" if shown.count > 1 else ""
        name = first.name
        if first.kind is Kind.ANSWER:
            name = f"answer to {first.request.name if first.request else 'nothing kept'}"
        error = (first.answer or first).error
        cells = [
            column(cell(name, METHOD - len(count)) + count, METHOD, "EcaFailed" if error else ""),
            column(*_took(first, tape)),
            column(_size(shown.size), 7, "EcaMuted"),
            rest(self._chat_title(first), "EcaMuted"),
        ]
        if error:
            cells.append((f"  {cell(self._hidden(error))}", "EcaFailed", 0))
        return cells

    def _details(self, shown: Shown) -> Iterator[Row]:
        if shown.id not in self._opened:
            return
        if shown.count == 1:
            parts, rows = self._opened[shown.id]
            if parts < _parts(shown.first) and shown.size <= LONGEST_EXCERPT:
                self._opened[shown.id] = self._json_rows(shown.id, shown.first)
                _, rows = self._opened[shown.id]
            yield from rows
            return
        for message in islice(reversed(shown.messages), MOST_LINES):
            row_id = f"{shown.id}.{message.number}"
            if message.number not in shown.lines:
                line = [_time(message, 4), rest(self._excerpt(message))]
                shown.lines[message.number] = Row(row_id, line, ("open",), self._values)
            yield shown.lines[message.number]
            yield from self._opened.get(row_id, (1, ()))[1]
        if shown.count > MOST_LINES:
            yield note(f"    … {shown.count - MOST_LINES} earlier ones")

    def _excerpt(self, message: Traced) -> str:
        """Return the params in one line, without the chat: that is the row's."""
        if message.size > LONGEST_EXCERPT:
            return _size(message.size)
        try:
            return message.read(self._params)
        except ValueError as fault:
            return f"not shown, {fault}: {_size(message.size)}"

    def _params(self, message: object) -> str:
        said = self.scene.servers.redactor.redact_json(message)
        params = said.get("params") if isinstance(said, dict) else None
        if isinstance(params, dict):
            params = {
                name: it for name, it in params.items() if name not in ("chatId", "sessionId")
            }
        return json.dumps(params, ensure_ascii=False)

    def _json(self, message: object) -> str:
        return document(self.scene.servers.redactor.redact_json(message))

    # --- actions ----------------------------------------------------------------------------------

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:
        """Show a message, filter what is shown, or save all that is kept."""
        match action:
            case "open":
                await self._toggle(row)
            case "filter":
                self._filter = values["filter"].strip()
                self._choose()
            case "chat":
                if self.chat_id is None:
                    raise Refused("the panel was not opened from a chat: open it again from one")
                self._is_of_chat = not self._is_of_chat
                self._choose()
            case "clear" if self._messages is not None:
                self._messages.clear()
            case "save":
                await self._save(values["file"].strip())
        return None

    async def _toggle(self, row: str) -> None:
        row = row.partition("/")[0]  # a line of JSON belongs to its message
        if self._opened.pop(row, None) is not None:
            return
        number = int(row.rpartition(".")[2])
        message = None if self._messages is None else self._messages.get(number)
        if message is None:
            raise Refused("this message is not kept any more")
        self._opened[row] = await run_in_thread(partial(self._json_rows, row, message))

    def _json_rows(self, row: str, message: Traced) -> tuple[int, Sequence[Row]]:
        """Return the rows that show a message and the answer to it, and how many these are."""
        found: list[Row] = []
        for at, part in enumerate(filter(None, (message, message.answer))):
            lines = self._json_lines(part)
            more = len(lines) - MOST_LINES
            shown = [*lines[:MOST_LINES], *([f"… {more} more lines"] if more > 0 else [])]
            for index, line in enumerate(shown):
                text = line.lstrip(" ")
                way = _way(part) if index == 0 else " "
                start = f"  {way} {'':{len(line) - len(text)}}"
                cells = [(start + cell(text, LONGEST_LINE), "EcaMuted" if at else "", 0)]
                found.append(Row(f"{row}/{at}.{index}", cells, ("open",), self._values))
        return _parts(message), found

    def _json_lines(self, message: Traced) -> Sequence[str]:
        try:
            return message.read(self._json).split("\n")
        except ValueError as fault:
            if message.kind is not Kind.FAULT:  # of a piece of JSON not all secrets are known
                return [f"not shown, {fault}: {_size(message.size)}"]
            text = self._hidden(message.body.decode(errors="replace"))
            left = message.size - len(message.body)
            return [*text.splitlines(), *([f"… {_size(left)} more"] if left > 0 else [])]

    def _hidden(self, text: str) -> str:
        return self.scene.servers.redactor.redact(text)

    async def _save(self, name: str) -> None:
        if self._messages is None:
            raise Refused("there is nothing to save yet")
        if not name:
            raise Refused("the trace is not saved: it needs a file name")
        path = _path(next(iter(self.scene.chats.folders), "/"), name)
        lines = self._messages.trace.recording(self.scene.servers.redactor.redact_json)
        try:
            count = await run_in_thread(partial(_write, path, lines))
        except FileExistsError:
            raise Refused(f"{cell(path.name)} is there already: type another name") from None
        except OSError as fault:
            raise Refused(f"not saved, {fault.strerror}: {path}") from None
        self.scene.view.push([Notify("info", f"saved {count} messages: {cell(path)}")])


def _took(request: Traced, tape: Tape) -> tuple[str, int, str]:
    """Return the column with how long the answer took, or since when it is waited for."""
    if request.kind is not Kind.REQUEST:
        return "", TOOK, ""
    if request.answer is not None:
        milliseconds = (request.answer.at - request.at) * 1000
        return duration(milliseconds) or f"{milliseconds:.0f}ms", TOOK, "EcaTime"
    if request.is_lost:
        return "lost", TOOK, "EcaMuted"
    if tape.ended is not None:
        return "never", TOOK, "EcaFailed"
    waited = max(time.monotonic() - tape.began - request.at, 0)
    group = "EcaWarning" if waited > LONG_WAIT else "EcaRunning"
    # What waits long changes rarely: all rows above are drawn with it.
    step = 1 if waited < 60 else 60
    return f"{duration(waited // step * step * 1000)}…", TOOK, group


def _parts(message: Traced) -> int:
    return 1 if message.answer is None else 2


def _way(message: Traced) -> str:
    if message.kind is Kind.GAP:
        return ""
    return "→" if message.is_sent else "←"


def _time(message: Traced, indent: int) -> Cell:
    return (f"{'':{indent}}{message.at:8.3f}", "EcaTime", indent + 8)


def _size(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    number, unit = (size / 1000, "kB") if size < 1_000_000 else (size / 1_000_000, "MB")
    return f"{number:.{1 if number < 99 else 0}f} {unit}"


def _path(folder: str, name: str) -> Path:
    return Path(folder, os.path.expanduser(name))  # noqa: PTH111 - it must not raise


def _write(path: Path, lines: Iterator[str]) -> int:
    """Write a new file that only the user can read; returns the number of lines. Raises OSError.

    Its name is taken only by the whole file: what fails leaves nothing.
    """
    fresh, count = path.with_name(f".eca-trace-{new_id()}"), 0
    try:
        with os.fdopen(_create(fresh), "w", encoding="utf-8") as file:
            for line in lines:
                file.write(line + "\n")
                count += 1
        os.close(_create(path))  # not all file systems have links, which would refuse, too
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return count


def _create(path: Path) -> int:
    """Open a new file, never one that is there. Raises OSError."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
