"""Terminals: commands that an agent runs with terminals of ours (terminal/*)."""

import logging
import posixpath
from collections.abc import Iterator, Mapping
from typing import Final

import anyio

from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.requests.acts import end, new_call_id, run_command
from eca_nvim.agents.acp.requests.command import Command
from eca_nvim.agents.acp.requests.consents import Consents
from eca_nvim.agents.acp.session import Session, TurnState
from eca_nvim.jsonrpc import INTERNAL_ERROR, REQUEST_CANCELLED, MessageId
from eca_nvim.path_risks import real_path
from eca_nvim.protocol.acp import TerminalRequest
from eca_nvim.protocol.acp import client_requests as wire
from eca_nvim.protocol.acp.lifecycle import INVALID_PARAMS, RESOURCE_NOT_FOUND
from eca_nvim.spawn import child_environment, find_program
from eca_nvim.transport import Guard, StartError
from eca_nvim.transport.terminal import Terminal, kill_terminals, start_terminal

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
_FAILED: Final = "the client failed to run the command"
_CANCELLED: Final = "the turn was stopped or has ended"

logger = logging.getLogger(__name__)


class _Refused(Exception):
    """Raised when a command is not run; the text is one line for the model."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Terminals:
    """Answers the requests about terminals of one agent process."""

    def __init__(self, link: Link, consents: Consents, guard: Guard | None) -> None:
        self._link = link
        self._consents = consents
        self._guard = guard
        self._starting: dict[MessageId, tuple[Session, anyio.CancelScope]] = {}
        """Commands that the user is asked about, or that are being started."""
        self._known: dict[str, Command] = {}  # until they are released
        self._running: set[Command] = set()  # also released ones

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

    def withdraw(self, request_id: MessageId) -> bool:
        """Close a request that the agent has cancelled."""
        if request_id in self._starting:
            self._starting[request_id][1].cancel()
            return True
        waits = any(command.wait_no_longer(request_id) for command in self._known.values())
        if waits:
            self._link.refuse(request_id, REQUEST_CANCELLED, "the request was cancelled")
        return waits

    def forget(self, session: Session) -> None:
        """Forget the terminals of a session that is gone."""
        for command in [*self._of(session)]:
            del self._known[command.id]

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
            try:
                command = await self._started(session, asked)
            except _Refused as refused:
                self._link.refuse(request_id, refused.code, str(refused))
            except Exception:  # a bug of ours; the agent waits for its answer
                logger.exception("cannot run a command")
                self._link.refuse(request_id, INTERNAL_ERROR, _FAILED)
            else:
                self._link.respond(request_id, wire.TerminalCreated(command.id))
        del self._starting[request_id]
        if scope.cancelled_caught:
            self._link.refuse(request_id, REQUEST_CANCELLED, _CANCELLED)

    async def _started(self, session: Session, asked: wire.CreateTerminal) -> Command:
        """Ask the user if that is needed, and start a command. Raises _Refused."""
        folder = _folder(asked.cwd, session)
        variables = {it.name: it.value for it in asked.env}
        environment = child_environment({**VARIABLES, **variables})
        words = _words(asked, environment, folder)
        act = run_command(words, folder, variables)
        if session.turn is TurnState.NONE:
            raise _Refused(REQUEST_CANCELLED, _CANCELLED)
        shown_by, ours = self._consents.call_of(session, act), new_call_id()
        if not await self._consents.allows(session, act, shown_by or ours):
            raise _Refused(INTERNAL_ERROR, _NOT_ALLOWED)
        if real_path(folder) != folder:
            raise _Refused(INTERNAL_ERROR, f"not run, a link leads elsewhere now: {folder}")
        was_asked = any(call_id == ours for call_id, _ in session.inbox.calls.open_calls())
        command = Command(session, act, asked.output_byte_limit, self._link)
        try:
            terminal = await start_terminal(words, environment, folder, command, self._guard)
        except StartError as fault:
            if was_asked:
                end(session, ours, failed=True, why=str(fault))
            raise _Refused(INTERNAL_ERROR, str(fault)) from fault
        command.terminal = terminal
        self._known[command.id] = command
        self._running.add(command)
        session.inbox.calls.add_screen(command)
        if shown_by is not None or was_asked:
            command.show(shown_by or ours, is_ours=shown_by is None)
        self._link.tasks.start_soon(self._run, command, terminal)
        return command

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
    """Return the real path of the folder where a command runs. Raises _Refused."""
    named = session.folder if cwd is None else cwd
    if not named.startswith("/"):
        raise _Refused(INVALID_PARAMS, f"cwd is not an absolute path: {named}")
    try:
        folder = real_path(named)
    except ValueError as fault:
        raise _Refused(INVALID_PARAMS, f"cwd is no path, {fault}: {named!r}") from fault
    if not posixpath.isdir(folder):
        raise _Refused(INVALID_PARAMS, f"there is no such folder: {named}")
    return folder
