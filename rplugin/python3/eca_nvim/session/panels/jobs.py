"""The panel of what runs in the background, and of what has run there: the jobs of all servers.

Rules kept here:
- Output is asked for once a second, only while the panel shows it and the job runs, and once more
  when the job has ended. One request at a time.
- What was read stays, also when the server has forgotten the job or has itself ended.
"""

import time
from collections.abc import Awaitable, Iterator, Mapping
from functools import partial
from typing import ClassVar, Final, TypeVar

import anyio
from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.agents.abilities import AgentRefused, Jobs
from eca_nvim.chat.model.chat import owner
from eca_nvim.chat.text.safe_text import duration
from eca_nvim.chat.vocabulary.panels import Action, Cell, Row
from eca_nvim.chat.vocabulary.turn_events import JobState
from eca_nvim.session.jobs import KnownJob
from eca_nvim.session.panels.job_output import INDENT, output_rows, whole_output
from eca_nvim.session.panels.panel import Answer, Panel, Scene, cell, column, note, rest
from eca_nvim.session.servers import NamedServer
from eca_nvim.session.view import Refused, isolated

READ_AGAIN: Final = 1.0
"""Seconds after which the output of a job that runs is asked for again."""
SLOW: Final = 2.0
"""Seconds after which a row says that an answer is awaited."""

_STATES: Final = {
    JobState.RUNNING: ("running", "EcaRunning"),
    JobState.COMPLETED: ("done", "EcaToolDone"),
    JobState.FAILED: ("failed", "EcaFailed"),
    JobState.KILLED: ("killed", "EcaMuted"),
    JobState.ENDED: ("ended", "EcaMuted"),
}

_ResultT = TypeVar("_ResultT")


class Question(Struct):
    """What a server was asked last; `since`: it is awaited from then on, None if it is not."""

    since: float | None = None
    fault: str = ""

    @property
    def line(self) -> str:
        """What to say about it, "" if there is nothing."""
        waited = 0.0 if self.since is None else time.monotonic() - self.since
        return f"no answer for {duration(waited * 1000)}" if waited >= SLOW else self.fault


class JobsPanel(Panel):
    """The jobs of all servers; what one has printed can be shown below its row."""

    ACTIONS: ClassVar = (
        Action("output", "za", "output"),
        Action("kill", "x", "end it", sure="End {}?"),
        Action("chat", "c", "go to its chat"),
        Action("all", "o", "whole output"),
    )

    def __init__(self, scene: Scene, chat_id: str | None) -> None:
        super().__init__(scene, chat_id)
        self._asked: dict[str, Question] = {}  # by server, or by the key of a job
        self._followed = set[str]()

    async def begin(self) -> None:
        """Ask all servers: they do not say when they forget a job."""
        async with anyio.create_task_group() as tasks:
            for server in self.scene.servers:
                tasks.start_soon(self._refresh, server)

    def end(self) -> None:
        """Ask for no more output."""
        self.opened.clear()

    @property
    def title(self) -> str:
        """How many jobs run, and how many have ended."""
        states = [it.is_running for _, it in self._jobs()]
        ended = f", {states.count(False)} ended" if False in states else ""
        return f"jobs: {states.count(True)} running{ended}"

    def rows(self) -> Iterator[Row]:
        """Yield the jobs: those that run first, then those that have ended last."""
        jobs = sorted(self._jobs(), key=lambda it: _order(it[1]))
        are_several = len({server.name for server, _ in jobs}) > 1
        for server, known in jobs:
            row = self._row(server if are_several else None, known)
            yield row
            if known.key in self.opened:
                yield from self._details(server, known, row)
        if not jobs:
            yield note("nothing runs in the background")
        for server in self.scene.servers:
            if line := self._question(server.name).line:
                yield note(f"{server.name}: {line}", "EcaWarning")

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:  # noqa: ARG002 - nothing is asked for
        """Show its output, end it, or go to its chat."""
        key, _, place = row.partition("\n")
        found = next((it for it in self._jobs() if it[1].key == key), None)
        if found is None:
            raise Refused("this job is gone")
        server, known = found
        match action:
            case "chat":
                return self._chat(known)
            case "kill":
                await self._kill(server, known)
            case "output":
                self._toggle(server, known)
            case _:
                await self._read(server, known)
                self.scene.view.push([whole_output(known, place)])
        return None

    # --- rows -------------------------------------------------------------------------------------

    def _jobs(self) -> Iterator[tuple[NamedServer, KnownJob]]:
        for server in self.scene.servers:
            for known in server.incoming.jobs:
                yield server, known

    def _row(self, server: NamedServer | None, known: KnownJob) -> Row:
        """Return the row of a job; server: whose it is, if that is to be said."""
        seconds, ends = known.seconds(time.time()), () if known.is_running else ("kill",)
        took = "" if seconds is None else duration(seconds // 1 * 1000) or "0s"
        named = () if server is None else (column(server.name, 12, "EcaMuted"),)
        return Row(
            id=known.key,
            line=(
                _state(known),
                column(took, 8, "EcaTime"),
                *named,
                column(self._chat_title(known), 18, "EcaMuted"),
                rest(known.job.title),
            ),
            actions=[it.name for it in self.ACTIONS if it.name not in ends],
            values={"name": cell(known.job.title, 40)},
        )

    def _details(self, server: NamedServer, known: KnownJob, row: Row) -> Iterator[Row]:
        """Yield what is to be read of a job besides its row, and what it has printed."""
        title, code = self._chat_title(known), known.job.exit_code
        facts = [f"server {server.name}"]
        facts += [f"chat {title}"] if title else []
        facts += [f"began {_clock(known.began)}"] if known.job.started is not None else []
        facts += [f"exit code {code}"] if code is not None else []
        facts += [] if known.is_known else ["its server does not know it any more"]
        yield _below(row, "facts", " · ".join(facts), "EcaMuted")
        if known.output is not None:
            yield from output_rows(row, known.output)
        question = self._question(known.key)
        if question.line:
            yield _below(row, "said", question.line, "EcaWarning")
        elif known.output is None:
            said = "…" if question.since is not None else "what it printed is not known any more"
            yield _below(row, "said", said, "EcaMuted")
        elif not known.output.lines:
            so_far = " so far" if known.is_running else ""
            yield _below(row, "said", f"it has printed nothing{so_far}", "EcaMuted")

    def _chat_title(self, known: KnownJob) -> str:
        table = self.scene.chats.table
        chat = table.get(owner(table, known.job.chat_id or ""))
        return (chat and chat.title) or ""

    def _question(self, about: str) -> Question:
        return self._asked.get(about, Question())

    # --- actions ----------------------------------------------------------------------------------

    def _chat(self, known: KnownJob) -> Answer:
        chat_id = owner(self.scene.chats.table, known.job.chat_id or "")
        if chat_id not in self.scene.chats.table:
            raise Refused("its chat is not open: :Eca resume lists saved chats")
        return {"chat": chat_id}

    async def _kill(self, server: NamedServer, known: KnownJob) -> None:
        """End a job, and wait until it has ended: so its state says."""
        jobs = _jobs_of(server)
        if not known.is_running:
            raise Refused("it has ended already")
        if jobs is None:
            raise Refused(f"{server.name} cannot end it")
        try:
            await jobs.kill(known.job.id)
        except AgentRefused:
            await self._refresh(server)  # if it has ended, it is listed as such now
            if known.is_running:
                raise
        await known.over.wait()

    def _toggle(self, server: NamedServer, known: KnownJob) -> None:
        self.toggle(known.key)
        if known.key in self.opened and known.key not in self._followed:
            self._followed.add(known.key)
            self._asked[known.key] = Question(time.monotonic())
            self.scene.servers.start(partial(self._follow, server, known))

    # --- what servers are asked for ---------------------------------------------------------------

    async def _follow(self, server: NamedServer, known: KnownJob) -> None:
        """Read what a job prints while that is shown."""
        runs = True
        with isolated(self.scene.view, "read the output of a job", known.job):
            while runs and known.key in self.opened:
                runs = known.is_running
                await self._read(server, known)
                with anyio.move_on_after(READ_AGAIN if runs else 0):
                    await known.over.wait()
        self._followed.discard(known.key)

    async def _read(self, server: NamedServer, known: KnownJob) -> None:
        """Read what a job has printed; what is known of it stays if the server knows no more."""
        jobs = _jobs_of(server)
        if jobs is None or not known.is_known:
            self._asked.pop(known.key, None)
            return
        lines = await self._ask(known.key, jobs.output(known.job.id))
        if lines is not None:
            known.read(lines)
        elif not self._question(known.key).fault:
            await self._refresh(server)
        self.scene.chats.changed()

    async def _refresh(self, server: NamedServer) -> None:
        jobs = _jobs_of(server)
        if jobs is not None:
            await self._ask(server.name, jobs.refresh())

    async def _ask(self, about: str, asking: Awaitable[_ResultT]) -> _ResultT | None:
        """Return an answer; None if there is none, whose row then says why."""
        self._asked[about] = replace(self._question(about), since=time.monotonic())
        try:
            answer = await asking
        except AgentRefused as refused:
            self._asked[about] = Question(fault=str(refused))
            return None
        self._asked.pop(about, None)
        return answer


def _jobs_of(server: NamedServer) -> Jobs | None:
    """Return what a server can be asked, None if it does not run or has no jobs."""
    agent = server.process.agent
    return None if agent is None else agent.jobs


def _order(known: KnownJob) -> tuple[bool, float]:
    return (not known.is_running, -(known.began if known.is_running else known.ended or 0.0))


def _state(known: KnownJob) -> Cell:
    word, group = _STATES[known.job.state]
    code = known.job.exit_code
    return column(f"{word} {code}" if code else word, 10, group)


def _below(row: Row, name: str, text: str, group: str) -> Row:
    """Return a row of a job that is about it as the job's own row is."""
    return replace(row, id=f"{row.id}\n{name}", line=[INDENT, rest(text, group)])


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
