"""Commits: has an agent write the message of a commit, and shows it while it comes.

Rules kept here:
- The agent is prompted in a session of its own (`session.aside`), with what is staged and the last
  messages of the project: nothing is read from elsewhere.
- A message ends as ready or failed, whatever happens. One that the user has stopped shows nothing
  more.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import anyio

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import AgentFault
from eca_nvim.chat.text.rewritten import rewritten
from eca_nvim.chat.text.safe_text import clean, literal_name, one_line
from eca_nvim.chat.vocabulary.bases import Intent
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.previews import (
    FindStaged,
    PreviewState,
    SetMessage,
    StopMessage,
    WriteMessage,
)
from eca_nvim.session.aside import Aside
from eca_nvim.session.files.late_contexts import NoDiff
from eca_nvim.session.files.staged import Staged, read_staged
from eca_nvim.session.previews.rewrites import EMPTY, PACE, Answer, fenced
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View, isolated
from eca_nvim.threads import run_in_thread

MOST_LISTED: Final = 50
"""Names of files that the answer to `FindStaged` has."""
MOST_LINES: Final = 200
_PLAIN: Final = ("text",)  # an old text without fences and indentation

_HOW: Final = (
    "Write the message of the git commit for the staged changes below. The first line says what the"
    " commit does, in at most 72 characters; then, only if there is more to say, a blank line and"
    " why, wrapped at 72 columns. Answer with the message alone, in one code block, and nothing"
    " else. Change no file and run no command."
)
_STYLE: Final = "Write in the style and language of the last messages of this project:"


class Commits:
    """Handles the user's requests about messages of commits."""

    def __init__(self, servers: Servers, view: View, folders: Callable[[], Sequence[str]]) -> None:
        self._servers = servers
        self._view = view
        self._folders = folders
        self._running: dict[str, anyio.CancelScope] = {}
        self.table: Mapping[type[Intent], Callable[[Any], object]] = {
            FindStaged: self._find,
            WriteMessage: self._write,
            StopMessage: self._stop,
        }

    async def _find(self, intent: FindStaged) -> Mapping[str, object]:
        """Return what is staged, or why nothing is."""
        reading = partial(read_staged, intent.place, intent.index, names_only=True)
        try:
            staged = await run_in_thread(reading)
        except NoDiff as fault:
            return {"fault": one_line(str(fault))}
        names = [literal_name(it) for it in staged.names[:MOST_LISTED]]
        more = len(staged.names) - MOST_LISTED
        return {"root": staged.root, "files": names + [f"… {more} more"] * (more > 0)}

    def _stop(self, intent: StopMessage) -> None:
        if (scope := self._running.get(intent.id)) is not None:
            scope.cancel()

    async def _write(self, intent: WriteMessage) -> None:
        """Show the message that an agent proposes, or why there is none."""
        answer = Answer(_PLAIN)
        scope = self._running[intent.id] = anyio.CancelScope()
        try:
            with scope:
                notice = await self._ask(intent, answer)
                lines = message_of(answer.text)
                self._push(intent.id, PreviewState.READY, lines, notice=notice)
        except (AgentRefused, AgentFault, NoDiff) as fault:
            self._push(intent.id, PreviewState.FAILED, fault=one_line(str(fault)))
        except Exception:
            fault_line = "the plugin failed: see :Eca log"
            self._push(intent.id, PreviewState.FAILED, fault=fault_line)
            raise
        finally:
            answer.is_over = True
            answer.changed.set()
            del self._running[intent.id]

    async def _ask(self, intent: WriteMessage, answer: Answer) -> str:
        """Have an agent answer; returns what it was not shown. Raises what `_write` catches."""
        staged = await run_in_thread(partial(read_staged, intent.place, intent.index))
        server = self._servers.get(intent.server)
        agent = await server.process.ready()
        aside = Aside(server, self._folders(), intent.id, answer.hear)
        self._servers.start(partial(self._show, intent.id, answer))
        try:
            await aside.ask(agent, Prompt(intent.id, prompt_of(staged)))
        finally:
            self._servers.start(partial(self._close, aside))
        if not message_of(answer.text):
            raise AgentRefused(EMPTY)
        return "; ".join(_left_out(staged))

    async def _close(self, aside: Aside) -> None:
        with isolated(self._view, "close the session of a commit", aside):
            await aside.close()

    async def _show(self, message: str, answer: Answer) -> None:
        """Show a message while it comes."""
        with isolated(self._view, "show the message of a commit", message):
            while True:
                await answer.changed.wait()
                answer.changed = anyio.Event()
                if answer.is_over:
                    return
                lines = message_of(answer.text, is_whole=False)
                self._push(message, PreviewState.STREAMING, lines)
                await anyio.sleep(PACE)

    def _push(
        self, message: str, state: PreviewState, lines: Sequence[str] = (), **more: str
    ) -> None:
        self._view.push([SetMessage(message, state, lines, **more)])


def message_of(answer: str, *, is_whole: bool = True) -> list[str]:
    """Return the lines of a message; none of them is a comment for git."""
    lines = rewritten(clean(answer), _PLAIN, is_whole=is_whole)[:MOST_LINES]
    kept = [f" {line}" if line.startswith("#") else line.rstrip() for line in lines]
    return kept if any(kept) else []


def prompt_of(staged: Staged) -> str:
    """Return the prompt that has an agent write a message."""
    names = "\n".join(map(literal_name, staged.secret))
    last = fenced("\n\n".join(staged.last).splitlines(), "")
    parts = [
        _HOW,
        *([f"{_STYLE}\n{last}"] if staged.last else ()),
        f"The staged changes:\n{fenced(staged.diff.splitlines(), 'diff')}",
        *([f"This is not all: these are {staged.cut}."] if staged.cut else ()),
        *([f"Changed, too, but not shown, as they may have secrets:\n{names}"] if names else ()),
    ]
    return "\n\n".join(parts)


def _left_out(staged: Staged) -> Sequence[str]:
    cut = [f"the agent saw {staged.cut}"] if staged.cut else []
    names = ", ".join(map(literal_name, staged.secret[:3]))
    return [*cut, f"not shown to the agent: {names}"] if names else cut
