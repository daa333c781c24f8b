"""Terminals: commands that an agent runs with terminals of ours (terminal/*)."""

import codecs
import posixpath
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from shlex import quote
from typing import Final

import anyio

from eca_nvim.agents.acp.link import UNREAD, Link, NotDone
from eca_nvim.agents.acp.requests import acts
from eca_nvim.agents.acp.requests.jobs import TerminalJobs
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.session import Session, TurnState
from eca_nvim.agents.acp.updates.tool_calls import Screen
from eca_nvim.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, REQUEST_CANCELLED, MessageId
from eca_nvim.path_risks import real_path
from eca_nvim.protocol.acp import TerminalRequest
from eca_nvim.protocol.acp import client_requests as wire
from eca_nvim.protocol.acp.lifecycle import RESOURCE_NOT_FOUND
from eca_nvim.spawn import LINKS, LINKS_FROM, child_environment, find_program
from eca_nvim.transport import Exit, Guard, StartError
from eca_nvim.transport.pipes import Printed
from eca_nvim.transport.terminal import Terminal, kill_terminals, start_terminal

MOST_BYTES: Final = 1 << 22
"""Bytes of output that are kept for the agent, at most."""
SHOWN_BYTES: Final = 1 << 18
"""Bytes of output that are kept for the chat."""
MOST_WAITS: Final = 100
"""Requests that wait for the end of a command, at most."""
MOST_TERMINALS: Final = 32
"""Terminals of a session that are not released, at most; one that has ended makes room."""
SHOWN_AFTER_S: Final = 0.5
"""Seconds after which a call of ours shows a command that no other call shows."""
VARIABLES: Final[Mapping[str, str]] = {
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
"""Variables of every command: it may use colours, and no pager that would wait for keys."""

_NOT_ALLOWED: Final = "the user has not allowed this command"
_TOO_MANY: Final = f"{MOST_TERMINALS} commands run already: wait for one to end, or kill one"
_CANCELLED: Final = "the turn was stopped or has ended"


class Command(Screen):
    """A command; `limit`: so many bytes of output the agent wants to read, None if it says nothing.

    Listens to its terminal. on_end: called with it once it has ended.
    """

    def __init__(
        self,
        session: Session,
        act: acts.Act,
        limit: int | None,
        link: Link,
        on_end: Callable[["Command"], None],
    ) -> None:
        super().__init__(_line(act, real_path(session.folder)))
        self.session = session
        self.terminal: Terminal | None = None
        self.status: wire.ExitStatus | None = None
        """How it ended; None while it runs."""
        self.started = time.time()
        self.was_ended = False
        """It was ended from outside while it ran."""
        self._on_end = on_end
        self._act = act
        self._limit = MOST_BYTES if limit is None else min(max(0, limit), MOST_BYTES)
        self._printed = Printed(max(self._limit, SHOWN_BYTES))
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._last = ""
        self._link = link
        self._waits: list[MessageId] = []
        self._is_settled = False  # which call shows it, unless the agent embeds it in another one

    def text(self) -> str:
        """Return the end of what it has printed, and how it ended if it failed."""
        return self._printed.text(SHOWN_BYTES)[0] + self._last

    def output(self, request_id: MessageId) -> None:
        """Answer a request by what the command has printed."""
        if self._link.is_full:
            self._link.refuse_excess(request_id, UNREAD)
            return
        text, is_cut = self._printed.text(self._limit)
        self._link.respond(request_id, wire.OutputSoFar(text, is_cut, self.status))

    def wait(self, request_id: MessageId) -> None:
        """Answer a request when the command has ended."""
        if self.status is not None:
            self._link.respond(request_id, self.status)
        elif len(self._waits) >= MOST_WAITS:
            self._link.refuse_excess(request_id, "too many requests wait")
        else:
            self._waits.append(request_id)
            self._link.on_cancel(request_id, partial(self._wait_no_longer, request_id))

    def end(self) -> None:
        """Begin to end it."""
        if self.terminal is not None:
            self.was_ended = self.was_ended or self.status is None
            self.terminal.end()

    def released(self) -> None:
        """Keep no more of the output than the chat shows: the agent reads no more."""
        self._printed.shrink(SHOWN_BYTES)

    def show(self, call_id: str, *, is_ours: bool) -> None:
        """Show it in a call, by the agent's id."""
        self._is_settled = True
        self.own_call = call_id if is_ours else None
        self.session.say(*self.session.inbox.calls.show(self, call_id))

    def show_alone(self) -> None:
        """Show it in a call of ours, once, if no call shows it."""
        if not self._is_settled and self.call is None:
            call_id = acts.new_call_id()
            acts.begin(self.session, self._act, call_id)
            self.show(call_id, is_ours=True)
            self._end_own_call()

    # --- what its terminal says -----------------------------------------------------------------

    def printed(self, data: bytes) -> None:
        """Take the next piece of its output."""
        self._printed.add(data)
        self._show(self._decoder.decode(data))

    def awaits_input(self, *, waits: bool) -> None:
        """Note that it waits for input, or does so no longer."""
        self._show("", awaits_input=waits)

    def ended(self, ending: Exit) -> None:
        """Answer who waits for the end, and show it in the chat if it was a failure."""
        self.status = _status(ending)
        for request_id in self._waits:
            self._link.respond(request_id, self.status)
        self._waits.clear()
        rest = self._decoder.decode(b"", final=True)
        if ending.code != 0:
            last = self._printed.text(4)[0][-1:]  # a character has at most four bytes
            break_ = "" if last in ("", "\n") else "\n"
            self._last = f"{break_}[{ending}]\n"
        self._show(rest + self._last)
        self._end_own_call()
        self._on_end(self)

    def _wait_no_longer(self, request_id: MessageId) -> None:
        self._waits.remove(request_id)
        self._link.refuse_cancelled(request_id)

    def _end_own_call(self) -> None:
        if self.own_call is not None and self.status is not None:
            acts.end(self.session, self.own_call, failed=self.status.exit_code != 0)

    def _show(self, text: str, *, awaits_input: bool = False) -> None:
        printed = self.session.inbox.calls.printed(self, text, awaits_input=awaits_input)
        self.session.say(*printed)


class Terminals:
    """Answers the requests about terminals of one agent process."""

    def __init__(self, link: Link, permissions: Permissions, guard: Guard | None) -> None:
        self._link = link
        self._permissions = permissions
        self._guard = guard
        self._starting: dict[MessageId, tuple[Session, anyio.CancelScope]] = {}
        """Commands that the user is asked about, or that are being started."""
        self._known: dict[str, Command] = {}  # until they are released
        self._running: set[Command] = set()  # also released ones
        self.jobs = TerminalJobs(link)

    @property
    def is_running(self) -> bool:
        """Whether a command runs, or is about to."""
        return bool(self._running or self._starting)

    def start(self, request_id: MessageId, session: Session, asked: TerminalRequest) -> None:
        """Answer a request, or start to do so."""
        if isinstance(asked, wire.CreateTerminal):
            if self._has_room(session):
                scope = anyio.CancelScope()
                self._starting[request_id] = session, scope
                self._link.on_cancel(request_id, scope.cancel)
                self._link.tasks.start_soon(self._create, request_id, session, asked, scope)
            else:
                self._link.refuse(request_id, INTERNAL_ERROR, _TOO_MANY)
            return
        command = self._known.get(asked.terminal_id)
        if command is None or command.session is not session:
            reason = "there is no such terminal in this session"
            self._link.refuse(request_id, RESOURCE_NOT_FOUND, reason)
            return
        match asked:
            case wire.ReadOutput():
                command.output(request_id)
            case wire.WaitForExit():
                command.wait(request_id)
            case wire.KillTerminal():
                command.end()
                self._link.respond(request_id, wire.Done())
            case wire.ReleaseTerminal():
                command.end()
                self._forget(command)
                self._link.respond(request_id, wire.Done())

    def cancel(self, session: Session) -> None:
        """End the commands of a session: its turn was stopped or has ended.

        Nobody could see a command afterwards, stop it, or review what it changes.
        """
        for owner, scope in self._starting.values():
            if owner is session:
                scope.cancel()
        for command in self._running:
            if command.session is session:
                command.show_alone()
                command.end()

    def forget(self, session: Session) -> None:
        """Forget the terminals of a session that is gone."""
        for command in [*self._of(session)]:
            self._forget(command)

    def kill_now(self) -> None:
        """End all commands without an event loop."""
        kill_terminals(it.terminal for it in self._running if it.terminal is not None)

    def _of(self, session: Session) -> Iterator[Command]:
        return (it for it in self._known.values() if it.session is session)

    def _has_room(self, session: Session) -> bool:
        """Return whether a session may have one more; the oldest that has ended is released."""
        starting = sum(owner is session for owner, _ in self._starting.values())
        known = [*self._of(session)]
        if starting + len(known) < MOST_TERMINALS:
            return True
        ended = next((it for it in known if it.status is not None), None)
        if ended is not None:
            self._forget(ended)
        return ended is not None

    def _forget(self, command: Command) -> None:
        command.released()
        del self._known[command.id]

    async def _create(
        self,
        request_id: MessageId,
        session: Session,
        asked: wire.CreateTerminal,
        scope: anyio.CancelScope,
    ) -> None:
        with scope:
            await self._link.answer(request_id, self._started(session, asked))
        del self._starting[request_id]
        if scope.cancelled_caught:
            self._link.refuse(request_id, REQUEST_CANCELLED, _CANCELLED)

    async def _started(self, session: Session, asked: wire.CreateTerminal) -> wire.TerminalCreated:
        """Ask the user if that is needed, and start a command. Raises NotDone."""
        folder = _folder(asked.cwd, session)
        variables = {it.name: it.value for it in asked.env}
        whole = self._link.program.environment or {}
        links = {LINKS: whole[LINKS]} if LINKS in whole else {}
        server = whole.get(LINKS_FROM, "")
        environment = child_environment({**VARIABLES, **links, **variables}, server)
        words = _words(asked, environment, folder)
        act = acts.run_command(words, folder, variables)
        if session.turn is TurnState.NONE:
            raise NotDone(_CANCELLED, REQUEST_CANCELLED)
        shown_by, ours = self._permissions.call_of(session, act), acts.new_call_id()
        if not await self._permissions.allows(session, act, shown_by or ours):
            raise NotDone(_NOT_ALLOWED)
        if real_path(folder) != folder:
            raise NotDone(f"not run, a link leads elsewhere now: {folder}")
        was_asked = any(call_id == ours for call_id, _ in session.inbox.calls.open_calls())
        limit = asked.output_byte_limit
        command = Command(session, act, limit, self._link, self.jobs.ended)
        try:
            terminal = await start_terminal(words, environment, folder, command, self._guard)
        except StartError as fault:
            if was_asked:
                acts.end(session, ours, failed=True, why=str(fault))
            raise NotDone(str(fault)) from fault
        command.terminal = terminal
        self._known[command.id] = command
        self._running.add(command)
        self.jobs.began(command)
        session.inbox.calls.add_screen(command)
        if shown_by is not None or was_asked:
            command.show(shown_by or ours, is_ours=shown_by is None)
        self._link.tasks.start_soon(self._run, command, terminal)
        return wire.TerminalCreated(command.id)

    async def _run(self, command: Command, terminal: Terminal) -> None:
        """Run a command to its end; a call of ours shows it if no other call does."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(terminal.run)
                await anyio.sleep(SHOWN_AFTER_S)
                command.show_alone()
        finally:
            self._running.discard(command)


def _words(
    asked: wire.CreateTerminal, environment: Mapping[str, str], folder: str
) -> tuple[str, ...]:
    """Return the program that is run, with its arguments.

    Some agents give a whole line and no arguments (goose 1.34.0). A shell reads it, unless it is
    the name of a program.
    """
    program = asked.command
    place = posixpath.join(folder, program) if "/" in program else program
    if asked.args or find_program(place, environment.get("PATH")) is not None:
        return (program, *asked.args)
    return ("sh", "-c", program)


def _folder(cwd: str | None, session: Session) -> str:
    """Return the real path of the folder where a command runs. Raises NotDone."""
    named = session.folder if cwd is None else cwd
    if not named.startswith("/"):
        raise NotDone(f"cwd is not an absolute path: {named}", INVALID_PARAMS)
    if "\0" in named:
        raise NotDone(f"cwd has a NUL byte: {named!r}", INVALID_PARAMS)
    folder = real_path(named)
    if not posixpath.isdir(folder):
        raise NotDone(f"there is no such folder: {named}", INVALID_PARAMS)
    return folder


def _line(act: acts.Act, usual: str) -> str:
    """Return what is run, as a shell line; with its folder, if it is not usual, and variables."""
    named = (it.partition("=") for it in act.variables)
    variables = "".join(f"{name}={quote(value)} " for name, _, value in named)
    folder = "" if act.folder == usual else f"cd {quote(act.folder)} && "
    return f"{folder}{variables}{act.subject}"


def _status(ending: Exit) -> wire.ExitStatus:
    if ending.signal is None:
        return wire.ExitStatus(exit_code=ending.code)
    try:
        return wire.ExitStatus(signal=signal.Signals(ending.signal).name)
    except ValueError:  # a real-time signal
        return wire.ExitStatus(signal=f"SIG{ending.signal}")
