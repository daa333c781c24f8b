"""The servers of a session, by name: what each offers, what is held for it, its part in the chats.

Rules kept here:
- A chat belongs to one server. What happens to a server concerns its own chats alone.
- A server is known from the first chat or command that names it. Its process starts when it is
  needed.
- Effects for a server that is not ready are held. Prompts that can no longer be sent go back to the
  input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial

import anyio
from msgspec.structs import replace

from eca_nvim.agents.base import Agent, AgentExit
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary import agent_events, effects, ops, options, states, turn_events
from eca_nvim.chat.vocabulary.events import AgentGone, ChatCleared, NoticeReceived
from eca_nvim.redaction import Redactor
from eca_nvim.session.chats import Chats
from eca_nvim.session.files.late_contexts import is_late, read_late, without_late
from eca_nvim.session.incoming import IncomingEvents
from eca_nvim.session.login import Login
from eca_nvim.session.options import Options
from eca_nvim.session.outgoing import HeldEffects, deliver
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.secrets import without_secrets, without_typed
from eca_nvim.session.server import MakeAgent, Server, ServerRequest, ServerState
from eca_nvim.session.trust import Trust
from eca_nvim.session.view import View, isolated

Perform = Callable[[effects.Effect, str], None]
"""Performs an effect for a server, by its name."""

Job = Callable[[], Coroutine[None, None, None]]
"""What runs beside the servers, as long as the session at most."""


class NamedServer:
    """A server and what the session knows of it (`server.Listener`)."""

    def __init__(self, name: str, servers: Servers) -> None:
        self.name = name
        self._servers = servers
        self._chats = servers.chats
        self._view = servers.view
        self.trust = Trust(name, self._chats, servers.persistence)
        self.held = HeldEffects()
        self.login = Login(
            name,
            self._chats,
            self._view,
            servers.persistence,
            self.held,
            lambda: self.process,
            servers.start,
            servers.perform,
            self._open_chats,
            lambda work: self.incoming.receive([work]),
        )
        self.options = Options(
            name,
            self._chats,
            servers.persistence,
            self._view,
            lambda: self.process.agent,
            lambda: servers.configured.get(name, {}),
        )
        self.incoming = IncomingEvents(
            name, self._chats, self.options, self.trust, self._view, self.login.needed
        )
        self.process = Server(name, servers.make_agent, self, self._receive)

    def _receive(self, events: Sequence[agent_events.AgentEvent]) -> None:
        self.incoming.receive(without_typed(events, self._servers.redactor))

    def begin(self, chat: Chat) -> None:
        """Apply to a chat that the user began what the server announced before."""
        self.incoming.chat_created(chat)

    def forget(self, chat: Chat) -> None:
        """Forget a chat that is gone, and what waits in it: a login, and prompts not sent yet."""
        self.login.cancel(chat.id)
        self.held.take(chat.id)
        self.options.forget(chat)

    def release(self, chat: Chat) -> None:
        """Forget a chat that goes to another server, and take what is ours out of it."""
        self.forget(chat)
        self.trust.forget(chat)
        self._chats.apply(chat, [options.OptionsChanged(()), ChatCleared(usage=True)])
        chat.trust = False

    def deliver(self, effect: effects.Effect) -> None:
        """Send an effect to the agent, or hold it until the agent is ready.

        A prompt is also held while contexts of it are read, and with it what follows in its chat.
        It is queued if the chat would ask less than was set in it.
        """
        if isinstance(effect, effects.TellPrompt) and not self.options.sending(effect):
            return
        agent, waits = self.process.agent, self.held.precedes(effect)
        self.process.used()
        if isinstance(effect, effects.TellPrompt):
            self.login.sending(effect)
        match effect:
            case effects.TellTrust(chat):
                self.options.tell_trust(self._chats.get(chat))
            case effects.TellPrompt() if agent is not None and is_late(effect):
                self.held.hold(effect)
                self._servers.start(partial(self._read_late, effect))
            case effects.TellAnswer() | effects.TellForm() if (
                asking := self.process.asking
            ) is not None:
                deliver(asking, effect)
            case _ if agent is not None and not waits:
                deliver(agent, effect)
            case effects.TellPrompt():
                self.held.hold(effect)
                self.process.ensure()
            case effects.TellStop(chat):
                self._cancel_unsent(chat)
            case _:
                self.held.hold(effect)

    async def _read_late(self, prompt: effects.TellPrompt) -> None:
        """Read the contexts of a held prompt; then send it and what waits for it.

        If that fails the prompt goes without them, and a line in the chat says why. Nothing is done
        if the prompt went back to the input meanwhile.
        """
        read = without_late(prompt)
        with isolated(self._view, "read the contexts", prompt):
            read = await read_late(prompt.contexts)
        if not self.held.has(prompt):
            return
        chat = self._chats.get(prompt.chat)
        self._chats.apply(chat, [NoticeReceived(line) for line in read.notices])
        for effect in self.held.take(prompt.chat):
            self.deliver(replace(prompt, contexts=read.contexts) if effect is prompt else effect)

    def _cancel_unsent(self, chat_id: str) -> None:
        """End a turn whose prompt was never sent."""
        if self._return_prompts(chat_id):
            self._chats.apply(self._chats.get(chat_id), [turn_events.TurnEnded()])

    def _return_prompts(self, chat_id: str | None = None) -> bool:
        """Put the held prompts of a chat, or of all chats, back into the input."""
        prompts = [
            effect for effect in self.held.take(chat_id) if isinstance(effect, effects.TellPrompt)
        ]
        self._view.push([ops.SetInput(prompt.chat, prompt.text) for prompt in prompts])
        return bool(prompts)

    def server_changed(self, state: ServerState, label: str) -> None:
        """Show the state; when the agent is ready, send what was held for it."""
        self._view.push([ops.SetServer(state.value, label, self.name)])
        self._chats.server_changed(self.name, state.value, self.process.folder)
        self.login.state_changed(state)
        if state is ServerState.STARTING:
            self.trust.server_starts(self.process.identity)
        else:
            self._servers.has_started.set()
        if state is ServerState.READY:
            self._open_chats()
            for effect in self.held.take():
                self._servers.perform(effect, self.name)

    def _open_chats(self) -> None:
        """Ask the agent for the options of all chats; those it has not opened are opened."""
        for chat in self._chats.of(self.name):
            self.options.open_chat(chat)

    def server_slow(self, label: str, seconds: float, last_words: str) -> None:
        """Say in every chat that the server is not ready yet, and what the user can do."""
        line = (
            f"{label} is not ready after {seconds:g} s, still waiting: "
            ":Eca log may say why, :Eca stop gives a prompt back, :Eca restart starts it again"
        )
        if last_words:
            line += f"\nIt last wrote: {one_line(self._servers.redactor.redact(last_words))}"
        for chat in self._chats.of(self.name):
            self._chats.apply(chat, [NoticeReceived(line)])

    def is_at_rest(self) -> bool:
        """Return whether neither the user nor the agent waits for the other, nor a task runs."""
        agent = self.process.agent
        if agent is None or agent.is_busy or self.held.effects or self.incoming.has_work:
            return False
        if self.login.is_running:
            return False
        chats = self._chats.of(self.name)
        return not any(
            it.pending or it.queue or it.has_turn or it.history is states.History.CHANGING
            for it in chats
        )

    def server_ended(self, ending: AgentExit, request: ServerRequest | None) -> None:
        """End the turns of the server's chats and show the reason in each.

        Unsent prompts wait for the next agent if one is starting, else they return to the input.
        An agent that sleeps says nothing: no turn ran, and the winbar shows it.
        """
        ending = without_secrets(ending, self._servers.redactor)
        if self.process.state is not ServerState.STARTING:
            self._return_prompts()
        waiting = self.held.keep_prompts()
        self.incoming.agent_ended()
        chats = self._chats.of(self.name)
        is_asleep = request is ServerRequest.SLEEP
        for chat in chats:
            if chat.id in waiting or (is_asleep and not chat.has_turn):
                continue
            if ending.expected and not chat.has_turn:
                self._chats.apply(chat, [NoticeReceived(ending.reason)])
            else:
                tail = () if ending.expected else ending.stderr_tail
                self._chats.apply(chat, [AgentGone(ending.reason, tail)])
        if not chats and not is_asleep:
            self._view.push([ops.Notify("error", ending.reason)])


class Servers:
    """The servers of a session, by name, and what all of them need."""

    def __init__(
        self,
        make_agent: MakeAgent,
        chats: Chats,
        view: View,
        persistence: Persistence,
        redactor: Redactor,
        perform: Perform,
    ) -> None:
        self.make_agent = make_agent
        self.chats = chats
        self.view = view
        self.persistence = persistence
        self.redactor = redactor
        self.perform = perform
        self.configured: Mapping[str, Mapping[str, options.OptionValue]] = {}
        """The options of new chats, as the user's options say, by server."""
        self.has_started = anyio.Event()
        """Set once a server has started, or could not."""
        self._named: dict[str, NamedServer] = {}
        self._jobs_in, self._jobs = anyio.create_memory_object_stream[Job](math.inf)

    def __iter__(self) -> Iterator[NamedServer]:
        return iter(tuple(self._named.values()))

    def get(self, name: str | None = None) -> NamedServer:
        """Return a server by its name, None for the default one; it becomes known now."""
        name = name or self.chats.default_server
        if name not in self._named:
            self._named[name] = NamedServer(name, self)
            self.start(self._named[name].process.run)
        return self._named[name]

    def of(self, chat: Chat) -> NamedServer:
        """Return the server of a chat."""
        return self.get(chat.server_name)

    def agent_of(self, chat_id: str) -> Agent | None:
        """Return the agent of a chat if it is ready."""
        chat = self.chats.table.get(chat_id)
        return None if chat is None else self.of(chat).process.agent

    def move(self, chat: Chat, name: str) -> None:
        """Make an empty chat one of another server."""
        self.of(chat).release(chat)
        self.chats.assign(chat, name)
        self.of(chat).begin(chat)

    async def run(self) -> None:
        """Run every server that becomes known, and the other jobs, until cancelled."""
        async with self._jobs, self._jobs_in, anyio.create_task_group() as tasks:
            async for job in self._jobs:
                tasks.start_soon(job)

    def start(self, job: Job) -> None:
        """Start a job beside the servers."""
        self._jobs_in.send_nowait(job)

    def kill(self) -> None:
        """End all agents without the event loop; called as this process exits."""
        for server in self:
            server.process.kill()
