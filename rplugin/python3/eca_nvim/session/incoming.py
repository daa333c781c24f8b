"""Incoming: the events of a server, each applied to its chat, and what it does beside them."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import dropwhile, groupby
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from eca_nvim.chat.handlers.questions import find_question
from eca_nvim.chat.model.chat import Chat, owner, route
from eca_nvim.chat.text.joined_text import join_text
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import agent_events, login, ops, turn_events
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    AgentGone,
    ChatCleared,
    ChatDeleted,
    ChatEvent,
    NoticeReceived,
    ProgressChanged,
    QuestionAsked,
    QuestionClosed,
    ReasoningText,
    TextReceived,
    ToolFinished,
    ToolOutput,
)
from eca_nvim.chat.vocabulary.options import (
    ALL_ABILITIES,
    AbilitiesChanged,
    OptionRefused,
    OptionsChanged,
)
from eca_nvim.chat.vocabulary.previews import ASIDE
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.digests import new_id
from eca_nvim.redaction import Redactor
from eca_nvim.session.chats import Chats
from eca_nvim.session.jobs import JobList
from eca_nvim.session.options import Options
from eca_nvim.session.trust import Trust
from eca_nvim.session.view import SHOW, View, report_fault

log = logging.getLogger(__name__)


_CREATES_NO_CHAT = (
    ChatCleared,
    ChatDeleted,
    OptionRefused,
    OptionsChanged,
    ProgressChanged,
    QuestionClosed,
    turn_events.TurnEvent,
    turn_events.UsageReported,
)
"""Events that are ignored when their chat is unknown."""

_ALONE = frozenset({ChatDeleted, OptionRefused, OptionsChanged})
"""Events that also concern the session; each is handled alone."""


MOST_TOOLS, TOOL_CELLS = 1000, 300
"""Tools of a tool server in the Lua API, and cells of what each does, at most."""
JOB_CELLS, NAME_CELLS, ERROR_CELLS = 40, 30, 200
QUIET_SECONDS: Final = 30.0
"""Time in which the same of a tool server is not said again."""
MOST_WARNED: Final = 100
"""Warnings that are remembered for that, and so how many may come in that time."""
_Warning: TypeAlias = tuple[str, agent_events.ToolServerState, bool]
"""The name of a tool server, its state, and whether its error is known."""
_TOLD: Final[Mapping[agent_events.ToolServerState, str]] = {
    agent_events.ToolServerState.FAILED: "failed: :Eca mcp shows it",
    agent_events.ToolServerState.NEEDS_LOGIN: "needs a login: :Eca login",
}
"""What is said of a tool server, by its state."""


class IncomingEvents:
    """Applies the events of a server to its chats; tasks, jobs and tool servers end with it."""

    def __init__(
        self,
        server: str,
        chats: Chats,
        options: Options,
        trust: Trust,
        view: View,
        redactor: Redactor,
        login_needed: Callable[[login.LoginNeeded], None],
    ) -> None:
        self._server = server
        self._chats = chats
        self._options = options
        self._trust = trust
        self._view = view
        self._redactor = redactor
        self._needs_login = login_needed
        self._tasks: dict[str, str] = {}  # titles by id, oldest first
        self.jobs = JobList(server)
        """The commands in the background, also those that have ended."""
        self._told_jobs: Sequence[Mapping[str, object]] = ()  # what the view has of them
        self.memory: dict[str, agent_events.MemoryLoaded] = {}
        """How much of the memory chats have, by their ids."""
        self.providers: tuple[agent_events.Provider, ...] | None = None
        """Who offers the models; None before somebody has asked."""
        self.tool_servers: dict[str, agent_events.ToolServerChanged] = {}
        """All that is known of the tool servers, by name, as the agent last told it."""
        self._warned: dict[_Warning, float] = {}  # when it was said
        self.apart: dict[str, Callable[[Addressed], None]] = {}
        """What receives the events of a session that no chat shows, by the id of its chat.

        Once it is over that is `dropped`: what still comes makes no chat.
        """
        self._readers: Mapping[type[agent_events.AgentEvent], Callable[[Any], None]] = {
            AbilitiesChanged: lambda it: chats.abilities_changed(server, it.abilities),
            agent_events.TrustWanted: lambda it: trust.server_wants(
                self.last_used_chat, wanted=it.wanted
            ),
            login.LoginNeeded: self._login_needed,
            agent_events.Welcomed: self._welcome,
            agent_events.MessageShown: lambda it: view.push(
                [ops.Notify(it.level, one_line(it.text))]
            ),
            agent_events.WorkChanged: self._work_changed,
            agent_events.JobsChanged: self._jobs_changed,
            agent_events.ProvidersChanged: lambda it: self._providers_changed(it.providers),
            agent_events.MemoryLoaded: self._memory_loaded,
            agent_events.ToolServerChanged: self._tool_server_changed,
        }
        self.welcome: str | None = None
        self.last_used_chat: str | None = None
        """The chat the user last used."""

    def receive(self, events: Sequence[agent_events.AgentEvent]) -> None:
        """Handle events in order; a fault in one of them never ends the agent's connection."""
        is_alone = len(events) == 1  # as most are while a model writes: there are no neighbours
        joined: Iterable[agent_events.AgentEvent] = events if is_alone else join_text(events)
        if self._redactor.typed:  # a secret may be cut anywhere: it is found in what is joined
            joined = [_without_typed(it, self._redactor) for it in joined]
        with nullcontext() if is_alone else self._chats.batch():
            for _, run in groupby(joined, _address):
                event, *more = run
                try:
                    if type(event) is Addressed:
                        self._apply([event, *more])
                    else:
                        self._readers[type(event)](event)
                        self._chats.changed()
                except Exception as fault:  # noqa: BLE001 - a bug of ours; go on with the next
                    report_fault(self._view, SHOW, event, fault)

    @property
    def has_work(self) -> bool:
        """Whether the agent does something beside its chats."""
        is_asked = any(it is not dropped for it in self.apart.values())
        return bool(self._tasks or self.jobs.in_background) or is_asked

    def agent_ended(self) -> None:
        """Clear what an agent that has ended was doing."""
        self._options.agent_ended()
        self._chats.abilities_changed(self._server, ALL_ABILITIES)
        self._tasks.clear()
        self.memory.clear()
        self._warned.clear()
        for known in [*self.tool_servers.values()]:
            self._tool_server_changed(replace(known, removed=True))
        if self.providers is not None:
            self._providers_changed(None)
        self._show_jobs(self.jobs.agent_ended())
        for chat_id, receive in [*self.apart.items()]:
            receive(Addressed(chat_id, AgentGone("the server has ended")))
        self._chats.changed()

    def _login_needed(self, event: login.LoginNeeded) -> None:
        if event.chat in self.apart:
            ended = turn_events.TurnEnded(TurnEnd.FAILED, event.reason)
            self.apart[event.chat](Addressed(event.chat, ended))
        self._needs_login(event)

    def _jobs_changed(self, event: agent_events.JobsChanged) -> None:
        self.jobs.update(event.jobs)
        self._show_jobs(event.jobs)

    def _providers_changed(self, providers: tuple[agent_events.Provider, ...] | None) -> None:
        self.providers = providers
        rows = [_public(it) for it in providers or ()]
        self._view.push([ops.SetProviders(rows, self._server)])

    def _memory_loaded(self, event: agent_events.MemoryLoaded) -> None:
        if event.chat_id in self._chats.table:
            self.memory[event.chat_id] = event

    def _work_changed(self, event: agent_events.WorkChanged) -> None:
        if event.done:
            self._tasks.pop(event.id, None)
        else:
            self._tasks[event.id] = one_line(event.title)
        self._show_work()

    def _show_work(self) -> None:
        """Show what the agent does beside its chats."""
        jobs = self.jobs.in_background
        count = "job" if len(jobs) == 1 else f"{len(jobs)} jobs"
        lines = [f"{count}: {truncate(one_line(it.title), JOB_CELLS)}" for it in jobs[:1]]
        self._view.push([ops.SetWork((*self._tasks.values(), *lines), self._server)])

    def _tool_server_changed(self, event: agent_events.ToolServerChanged) -> None:
        """Note a tool server; warn of one that has just come to need the user."""
        log.info("tool server %r: %s", event.name, event.status)
        before = self.tool_servers.get(event.name)
        self.tool_servers[event.name] = event
        if event.removed:
            del self.tool_servers[event.name]
        if before is None or self._public(before) != self._public(event):
            self._view.push([ops.SetToolServer(self._public(event))])
        if not event.removed and (before is None or before.tools != event.tools):
            self._view.push([_public_tools(self._server, event)])
        told = None if event.removed else _TOLD.get(event.status)
        known = before and (before.status, before.error)
        if told is not None and known != (event.status, event.error):
            name = truncate(one_line(event.name), NAME_CELLS)
            error = truncate(one_line(self._redactor.redact(event.error)), ERROR_CELLS)
            line = f"the MCP server {name} {f'failed: {error}' if error else told}"
            self._warn((event.name, event.status, bool(error)), line)

    def _warn(self, key: _Warning, line: str) -> None:
        """Warn of a tool server, not of the same again and again: ECA starts some twice.

        What its error says does not count: that may differ each time, as by a time in it.
        """
        now = time.monotonic()
        self._warned = {it: at for it, at in self._warned.items() if now - at < QUIET_SECONDS}
        if key not in self._warned and len(self._warned) < MOST_WARNED:
            self._warned[key] = now
            self._view.push([ops.Notify("warn", line)])

    def _public(self, known: agent_events.ToolServerChanged) -> Mapping[str, object]:
        """Return what other code may know of a tool server."""
        status = "removed" if known.removed else known.status.value
        told = {"name": known.name, "server_name": self._server, "status": status}
        error = {"error": self._redactor.redact(known.error)} if known.error else {}
        return told | {"kind": known.kind or "", "tools": len(known.tools or ())} | error

    def _show_jobs(self, jobs: Sequence[turn_events.Job]) -> None:
        """Show jobs at the calls that have started them, and what there is of them."""
        for job in jobs:
            if job.call_id is None:
                continue
            chat_id, child = route(self._chats.table, Addressed(job.chat_id, job))
            if chat_id in self._chats.table:
                self._chats.apply(self._chats.get(chat_id), [job], child)
        told = self.jobs.told(partial(owner, self._chats.table))
        if told != self._told_jobs:
            self._told_jobs = told
            self._view.push([ops.SetJobs(told, self._server)])
        self._show_work()

    def _apply(self, run: Sequence[Any]) -> None:
        """Apply events to their chat, whose address they share."""
        first: Addressed = run[0]
        told: list[ChatEvent] = [it.event for it in run]
        chat_id, child = first.chat_id, None
        if first.parent_id is not None or chat_id not in self._chats.table:
            if self._is_apart(run):
                return
            chat_id, child = route(self._chats.table, first)
        if first.chat_id is None:
            chat_id = self._chat_for(first.event)
        if chat_id is None:
            log.warning("no chat to show an event in: %r", first.event)
            return
        chat = self._chats.table.get(chat_id)
        if chat is None:
            told = [*dropwhile(lambda event: isinstance(event, _CREATES_NO_CHAT), told)]
            if not told or chat_id in self._chats.deleted:
                return
            chat = self._chats.get(chat_id, self._server)
            self._options.open_chat(chat)
        elif chat.server_name != self._server:
            line = "%s sent an event for another server's chat: %r"
            log.warning(line, self._server, first.event)
            return
        if child is None and isinstance(first.event, OptionsChanged | OptionRefused):
            self._options.apply(chat, first.event)
        else:
            self._chats.apply(chat, told, child)
        if child is None and isinstance(first.event, ChatDeleted):
            self._view.push([ops.Emit("EcaChatClosed", {"chat": chat_id})])

    def _is_apart(self, run: Sequence[Any]) -> bool:
        """Return whether events are of a session that no chat shows, which has them then."""
        first: Addressed = run[0]
        id_ = first.parent_id or first.chat_id or ""
        receive = self.apart.get(id_, dropped if id_.startswith(ASIDE) else None)
        if receive is None:
            return False
        for event in run:
            receive(event)
        return True

    def _chat_for(self, event: ChatEvent) -> str | None:
        """Return the chat for an event that names none."""
        if isinstance(event, QuestionClosed):  # it is for the chat that shows the question
            chats = self._chats.of(self._server)
            return next((it.id for it in chats if find_question(it, event.id) is not None), None)
        used = self._chats.table.get(self.last_used_chat or "")
        is_ours = used is not None and used.server_name == self._server
        if isinstance(event, QuestionAsked) and not is_ours:
            return new_id()  # a new chat: the agent waits for the answer
        return self.last_used_chat

    def _welcome(self, event: agent_events.Welcomed) -> None:
        self.welcome = event.text
        for chat in self._chats.of(self._server):
            self.show_welcome(chat)

    def show_welcome(self, chat: Chat) -> None:
        """Show what the agent says in a chat that has nothing in it."""
        if self.welcome and not chat.blocks:
            self._chats.apply(chat, [NoticeReceived(self.welcome.strip())])

    def chat_created(self, chat: Chat) -> None:
        """Apply to a chat that the user began what the agent announced before."""
        self.show_welcome(chat)
        self._options.begin(chat)
        self._trust.chat_created(chat)


def dropped(_: Addressed) -> None:
    """Receive what nobody waits for any more."""


def _public_tools(server: str, known: agent_events.ToolServerChanged) -> ops.SetTools:
    """Return what the Lua API says of the tools of a tool server."""
    tools = [
        {
            "name": one_line(it.name),
            "description": truncate(one_line(it.description), TOOL_CELLS),
            "disabled": it.disabled,
        }
        for it in (known.tools or ())[:MOST_TOOLS]
    ]
    return ops.SetTools(server, tools, None if known.kind == "native" else one_line(known.name))


def _public(provider: agent_events.Provider) -> Mapping[str, object]:
    """Return what the Lua API says of a provider."""
    source, expires = one_line(provider.source), provider.expires
    return {
        "id": one_line(provider.id),
        "name": one_line(provider.name),
        "logged_in": provider.state in agent_events.USABLE,
        "models": len(provider.models),
        **({"source": source} if source else {}),
        **({"expires": expires} if expires is not None else {}),
    }


def _without_typed(event: agent_events.AgentEvent, redactor: Redactor) -> agent_events.AgentEvent:
    """Return an event with the secrets hidden that the user has typed.

    Only texts that are read are changed: what is asked about stays as it is.
    """
    match event:
        case Addressed(event=ToolFinished() as call):
            shown = tuple(map(redactor.without_typed, call.outputs))
            return replace(event, event=replace(call, outputs=shown))
        case Addressed(
            event=TextReceived() | ReasoningText() | NoticeReceived() | ToolOutput() as told
        ):
            return replace(event, event=replace(told, text=redactor.without_typed(told.text)))
        case agent_events.MessageShown(text=text):
            return replace(event, text=redactor.without_typed(text))
        case _:
            return event


def _address(event: agent_events.AgentEvent) -> object:
    """Return what neighbours for the same chat share; an event that comes alone shares nothing."""
    if type(event) is Addressed and event.chat_id and type(event.event) not in _ALONE:
        return (event.chat_id, event.parent_id)
    return object()
