"""Code: completes what the user writes in a file, if that file may be sent to an agent.

Rules kept here:
- One request at a time: a newer one cancels the one before, at the agent, too.
- Never sent are files outside of the workspace, those that may have secrets, and those that git
  ignores; where git cannot say that, nothing is sent.
- A server that the user has stopped, or that has failed, is started again only if the user asks.
"""

import logging
import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from shutil import which
from typing import Final

import anyio

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, CodePlace, Queries
from eca_nvim.agents.base import AgentFault
from eca_nvim.chat.text.safe_text import clean, one_line
from eca_nvim.chat.vocabulary.completion import CancelCode, CompleteCode
from eca_nvim.path_risks import is_inside, may_be_project, may_have_secrets, real_path
from eca_nvim.review.git import clean_environment
from eca_nvim.session.files.late_contexts import run_bounded
from eca_nvim.session.server import Server, ServerState
from eca_nvim.session.servers import NamedServer, Servers
from eca_nvim.session.view import Refused
from eca_nvim.threads import run_in_thread

MOST_CHARACTERS: Final = 1 << 14
"""Longest text that is offered: nobody looks through a longer one at the cursor."""
GIT_SECONDS: Final = 3.0
FRESH_SECONDS: Final = 10.0
"""Seconds in which git is not asked again whether it ignores a file."""
MOST_KNOWN: Final = 100
IGNORED, NOT_IGNORED = 0, 1  # what `git check-ignore` exits with

log = logging.getLogger(__name__)


class CodeCompletion:
    """Completes code. folders: those of the workspace."""

    def __init__(self, servers: Servers, folders: Sequence[str]) -> None:
        self._servers = servers
        self._folders = folders
        self._running = anyio.CancelScope()
        self._ignored: dict[str, tuple[float, bool]] = {}

    async def complete(self, wanted: CompleteCode) -> Mapping[str, object] | None:
        """Return what an agent would insert, or why there is nothing; None once it is cancelled."""
        self._running.cancel()
        with anyio.CancelScope() as self._running:
            try:
                await run_in_thread(partial(self._check, wanted.path, wanted.text))
            except Refused as fault:
                return {"fault": one_line(str(fault)), "about": "file"}
            server = self._server()
            try:
                queries = await self._queries(server.process, asked=wanted.asked)
                place = (wanted.text, wanted.version, wanted.line, wanted.character)
                return {"text": _offered(await queries.code(CodePlace(*place)))}
            except AgentLacks:
                return {"fault": f"{server.name} cannot complete code", "about": "server"}
            except (AgentRefused, AgentFault) as fault:
                return {"fault": one_line(str(fault)), "about": "server"}
        return None

    def cancel(self, _intent: CancelCode) -> None:
        """Cancel the request that runs."""
        self._running.cancel()

    def _server(self) -> NamedServer:
        """Return the default server, or one that is ready and can complete, if that cannot."""
        default = self._servers.get()
        if (agent := default.process.agent) is not None and agent.queries is None:
            others = (it for it in self._servers if it.process.agent and it.process.agent.queries)
            return next(others, default)
        return default

    async def _queries(self, process: Server, *, asked: bool) -> Queries:
        """Return the queries of a server once it is ready. Raises AgentFault and AgentLacks."""
        has_run = process.state is ServerState.STOPPED and process.identity
        if not asked and (has_run or process.state is ServerState.FAILED):
            raise AgentFault("the server is not running; :Eca start starts it")
        queries = (await process.ready()).queries
        if queries is None:
            raise AgentLacks
        return queries

    def _check(self, path: str, text: str) -> None:
        """Raise Refused if a file must not be sent, or cannot be; blocks."""
        name = PurePosixPath(path).name
        try:
            real, _ = real_path(path), text.encode()
        except ValueError:  # a name with a NUL, half a character
            raise Refused(f"{name} is not a file of text: it is not sent") from None
        if not is_inside(real, filter(may_be_project, self._folders)):
            raise Refused(f"{name} is not in a folder of the workspace: it is not sent")
        if may_have_secrets(path, self._folders):
            raise Refused(f"{name} may have secrets in it: it is not sent")
        checked_at, is_ignored = self._ignored.get(real, (0.0, False))
        if checked_at + FRESH_SECONDS < time.monotonic() or real not in self._ignored:
            is_ignored = _is_ignored(PurePosixPath(real))
            if len(self._ignored) >= MOST_KNOWN:
                self._ignored.clear()
            self._ignored[real] = time.monotonic(), is_ignored
        if is_ignored:
            raise Refused(f"git ignores {name}: it is not sent")


def _is_ignored(path: PurePosixPath) -> bool:
    """Ask git whether it ignores a file, if that is in a repository. Raises Refused."""
    if not any(os.path.lexists(folder / ".git") for folder in path.parents):
        return False
    folder = next(it for it in map(Path, path.parents) if it.is_dir())
    # A repository's configuration may name programs that git would start.
    options = ("-c", "core.fsmonitor=false", "-C", str(folder))
    command = (which("git") or "git", *options, "check-ignore", "--quiet", "--", str(path))
    environment = clean_environment() | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        status = run_bounded(command, environment, most=1, seconds=GIT_SECONDS).status
    except OSError:
        status = None
    if status not in (IGNORED, NOT_IGNORED):
        raise Refused(f"git cannot say whether it ignores {path.name}: it is not sent")
    return status == IGNORED


def _offered(text: str) -> str:
    """Return a text that can be inserted as it is shown, else nothing."""
    text = text.replace("\r\n", "\n")
    if clean(text) != text or len(text) > MOST_CHARACTERS:
        log.info("a completion of %d characters is left out: it cannot be shown", len(text))
        return ""
    return text
