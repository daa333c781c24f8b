"""Probe: starts a server, waits for its answer to initialize, and says what it is.

Nothing else is sent: no session is opened, no model and no tool server is started.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import PurePath
from typing import Final, NamedTuple

import anyio

from eca_nvim.agents.acp.setup import EDITOR, McpOptions
from eca_nvim.agents.acp.setup import introduction as acp_introduction
from eca_nvim.agents.base import Workspace
from eca_nvim.agents.eca.introduction import introduction as eca_introduction
from eca_nvim.agents.path_map import MappedFraming, PathMap
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.guardian import EXIT_S, GOODBYE_S
from eca_nvim.jsonrpc import ContentLengthFraming, Framing, LineFraming
from eca_nvim.path_risks import Folders
from eca_nvim.protocol.acp import DecodeError, decode_result, encode, lifecycle
from eca_nvim.protocol.eca.lifecycle import Exit, Shutdown
from eca_nvim.protocol.eca.lifecycle import InitializeParams as EcaInitializeParams
from eca_nvim.redaction import without_keys
from eca_nvim.server.find import (
    ACP,
    ECA,
    KNOWN,
    BadServerOption,
    Finding,
    ServerCommand,
    ServerOptions,
    find_server,
)
from eca_nvim.server.installed import versions
from eca_nvim.server.offers import listed_at, newest
from eca_nvim.session.files.late_contexts import run_bounded
from eca_nvim.threads import run_in_thread
from eca_nvim.transport import (
    Connection,
    ConnectionClosed,
    Guard,
    RemoteError,
    StartError,
    open_connection,
    telling_line,
)

MOST_CELLS: Final = 400
"""Cells of a row's text."""
DEEPEST: Final = 3


class Row(NamedTuple):
    """A row: its level (ok, info, warn or error), its text, and advice in lines."""

    level: str
    text: str
    advice: tuple[str, ...] = ()


def safe(text: str) -> str:
    """Make a server's text fit for a row: one line of bounded length, without keys."""
    return truncate(one_line(without_keys(text[: 4 * MOST_CELLS])), MOST_CELLS)


def acp_rows(result: lifecycle.InitializeResult, answer: object, seconds: float) -> Iterator[Row]:
    """Describe an agent by its answer to initialize, which took so many seconds.

    answer: the whole answer, with capabilities that we do not read.
    """
    info = result.agent_info
    title = safe(f"{info.title or info.name} {info.version}") if info else "it has no name"
    if result.protocol_version == lifecycle.VERSION:
        yield Row(
            "ok", f"{title}, protocol version {lifecycle.VERSION}, answered after {seconds:.1f} s"
        )
    else:
        line = f"{title}, protocol version {result.protocol_version} instead of {lifecycle.VERSION}"
        yield Row("error", line, ("install a version of it that fits",))
    ways = ", ".join(method.name for method in result.auth_methods)
    yield Row("info", f"login: {safe(ways) or 'it offers none'}")
    capabilities = answer.get("agentCapabilities") if isinstance(answer, Mapping) else None
    names = ", ".join(_leaves(capabilities))
    yield Row("info", f"can: {safe(names) or 'nothing beyond prompts'}")


def newer_rows(name: str, told: str, folder: str | None) -> Iterator[Row]:
    """Yield what is known of a newer version of a server, by what was listed last; blocks.

    told: the words of the server, or its own, that name its version. folder: of what is installed,
    and of the lists.
    """
    known, at = (newest(folder, name), listed_at(folder, name)) if folder else ("", None)
    is_ours = versions(folder, name).current is not None
    if name not in KNOWN and not is_ours and not known:
        return  # a server of the user's own
    version = next(filter(None, map(_numbers, told.split())), ())
    if at is None:
        of_eca = ":Eca update" if is_ours else ":Eca install eca"
        ask = of_eca if name == ECA else "R in :Eca server"
        yield Row("info", f"whether there is a newer version was not asked yet: {ask} asks")
    elif not version or not _numbers(known):
        what = "the list has no version of it" if version else "it tells no version"
        yield Row("info", f"whether there is a newer version is not known: {what}")
    elif _numbers(known) > version:
        way = f":Eca update {name}" if is_ours or name not in KNOWN else KNOWN[name].remedy
        yield Row("info", f"version {safe(known)} is known: {way}")
    else:
        yield Row("ok", f"no newer version was known on {time.strftime('%F', time.localtime(at))}")


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparing; empty for what has none."""
    parts = version.lstrip("v").partition("-")[0].split(".")
    return tuple(map(int, parts)) if all(it.isdecimal() for it in parts) else ()


def mcp_rows(usable: Sequence[str], left_out: Sequence[str]) -> Iterator[Row]:
    """Describe the MCP servers of the option `mcp`: the names of some, a line about each other."""
    if usable:
        yield Row("info", f"MCP servers that it gets: {safe(', '.join(usable))}")
    yield from (Row("warn", safe(line)) for line in left_out)


def _leaves(capabilities: object, path: str = "", depth: int = 0) -> Iterator[str]:
    """Yield what is true in nested objects, as `session.list`; an empty object counts as true."""
    if not isinstance(capabilities, Mapping) or depth > DEEPEST:
        return
    for key, value in capabilities.items():
        name = f"{path}{key.removesuffix('Capabilities')}"
        if value is True or value == {}:
            yield name
        elif key != "_meta":
            yield from _leaves(value, f"{name}.", depth + 1)


VERSION_BYTES: Final = 4096
"""Bytes of the output of `eca --version` that are read."""


class Probe:
    """Probes one server, and reports once.

    deadline: a time of the event loop's clock; by then all rows are there.
    """

    def __init__(
        self,
        name: str,
        finding: Finding,
        folder: str,
        deadline: float,
        guard: Guard,
        report: Callable[[Sequence[Row]], None],
    ) -> None:
        self._name = name
        self._finding, self._servers = finding, finding.servers
        self._folder = folder
        told = finding.servers.get(name, ServerOptions()).paths
        self._paths = PathMap(name, told) if told else None
        self._deadline = deadline
        self._guard = guard
        self._report = report
        self._installed: str | None = None
        self._program: list[Row] = []
        self._handshake: Sequence[Row] = ()

    async def run(self) -> None:
        """Report the rows, then wait until the server has ended."""
        try:
            found = find_server(self._name, self._servers, self._finding.folder)
        except BadServerOption as fault:
            self._report([Row("error", str(fault))])
            return
        if self._paths is not None and self._paths.fault is not None:
            self._report([Row("error", self._paths.fault)])
            return
        current = versions(self._finding.folder, self._name).current
        if current is not None and current.command[0] == found.command[0]:
            self._installed = current.version
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._look_at, found)
            tasks.start_soon(self._greet, found)

    def _report_whole(self) -> None:
        if self._program and self._handshake:
            self._report([*self._program, *self._handshake])

    # --- the program ----------------------------------------------------------------------------

    async def _look_at(self, found: ServerCommand) -> None:
        """Note the program; only ECA's is asked for its version, as agents say theirs.

        That of one that was installed by us is known, also if it answers too late.
        """
        if PurePath(found.command[0]).name == ECA:
            self._program = await self._version(found)
        elif self._installed is not None:
            self._program = [Row("ok", f"{found.label}: {safe(self._installed)}")]
            self._program += await self._newer(self._installed)
        else:
            self._program = [Row("ok", found.label)]
        self._report_whole()

    async def _newer(self, told: str) -> list[Row]:
        folder = self._finding.folder
        return await run_in_thread(lambda: [*newer_rows(self._name, told, folder)])

    async def _version(self, found: ServerCommand) -> list[Row]:
        run = partial(
            run_bounded,
            (found.command[0], "--version"),
            found.environment,
            most=VERSION_BYTES,
            seconds=self._deadline - anyio.current_time(),
        )
        with suppress(OSError):
            printed = await run_in_thread(run)
            version, *_ = printed.content.decode(errors="replace").splitlines() or [""]
            if printed.succeeded and any(map(str.isdigit, version)):
                row = Row("ok", f"{found.label}: {safe(version)}")
                return [row, *await self._newer(version)]
        advice = "is it the ECA server? It comes from editor-code-assistant/eca on GitHub"
        return [Row("error", f"{found.label} does not report a version", (advice,))]

    # --- the handshake --------------------------------------------------------------------------

    async def _greet(self, found: ServerCommand) -> None:
        is_acp = found.protocol == ACP
        try:
            async with self._connect(found, is_acp=is_acp) as connection:
                self._handshake = await self._answer(found, connection, is_acp=is_acp)
                self._report_whole()
                if not is_acp:  # the rows are out: nobody waits for the end
                    await _shut_down(connection)
                await connection.aclose(EXIT_S)
        except StartError as fault:
            self._handshake = [Row("error", str(fault))]
            self._report_whole()

    def _connect(
        self, found: ServerCommand, *, is_acp: bool
    ) -> AbstractAsyncContextManager[Connection]:
        return open_connection(
            found.command,
            _ignore,
            env=found.environment,
            cwd=self._folder,
            framing=self._framing(is_acp=is_acp),
            guard=self._guard,
            on_stderr=_ignore,
        )

    def _framing(self, *, is_acp: bool) -> Framing:
        framing = LineFraming() if is_acp else ContentLengthFraming()
        return framing if self._paths is None else MappedFraming(framing, self._paths)

    async def _answer(
        self, found: ServerCommand, connection: Connection, *, is_acp: bool
    ) -> Sequence[Row]:
        """Return what the server says of itself, or why it says nothing."""
        seconds = max(0.0, self._deadline - anyio.current_time())
        shake = partial(self._shake_acp, found) if is_acp else self._shake_eca
        try:
            with anyio.move_on_after(seconds):
                return await shake(connection)
        except ConnectionClosed as closed:
            words = [telling_line(closed.exit.stderr_tail)]
            return [self._fault(found, f"it ended before it answered, {closed.exit}", words)]
        except (RemoteError, DecodeError) as fault:
            return [self._fault(found, "it refused to start", [str(fault)])]
        slow = f"it has not answered after {seconds:.1f} s"
        words = [connection.last_stderr]
        advice = f"a chat waits longer, and this may be a busy moment: :Eca server {self._name}"
        return [Row("warn", _told(slow, words), (advice,))]

    async def _shake_acp(self, found: ServerCommand, connection: Connection) -> Sequence[Row]:
        params = acp_introduction(has_terminals=self._paths is None)
        began = anyio.current_time()
        answer = await connection.request(params.method, encode(params))
        result = decode_result(lifecycle.InitializeParams, answer)
        rows: Sequence[Row] = [*acp_rows(result, answer, anyio.current_time() - began)]
        told = self._servers.get(self._name, ServerOptions()).mcp
        path = found.environment.get("PATH")
        mcp = McpOptions(
            self._name, told, path, editor=lambda: (EDITOR,), is_elsewhere=self._paths is not None
        )
        usable, left_out = mcp.usable(result.agent_capabilities.mcp_capabilities)
        if self._installed is None:
            version = result.agent_info.version if result.agent_info else ""
            rows = [*rows, *await self._newer(version)]
        return [*rows, *mcp_rows([server["name"] for server in usable], left_out)]

    async def _shake_eca(self, connection: Connection) -> Sequence[Row]:
        process = os.getpid() if self._paths is None else None
        params = eca_introduction(Workspace(Folders((self._folder,)), "Neovim", process))
        began = anyio.current_time()
        decode_result(EcaInitializeParams, await connection.request(params.method, encode(params)))
        seconds = anyio.current_time() - began
        return [Row("ok", f"it speaks the protocol of ECA, answered after {seconds:.1f} s")]

    def _fault(self, found: ServerCommand, what: str, words: Sequence[str]) -> Row:
        """Return what went wrong, with the server's last words."""
        kind = "an ACP agent" if found.protocol == ACP else "an ECA server"
        advice = [f"is it {kind}? Check servers.{self._name}.command and protocol"]
        if found.protocol == ACP and self._name in KNOWN:
            advice.append(f"an old version may not speak the protocol: {KNOWN[self._name].remedy}")
        return Row("error", _told(what, words), tuple(advice))


def _told(what: str, words: Sequence[str]) -> str:
    return ": ".join((what, *map(safe, filter(None, words))))


def _ignore(_: object) -> None:
    """Drop what the server says beside its answer."""


async def _shut_down(connection: Connection) -> None:
    with anyio.move_on_after(GOODBYE_S), suppress(ConnectionClosed, RemoteError):
        await connection.request(Shutdown.method)
        connection.notify(Exit.method)
        await connection.wait_closed()
