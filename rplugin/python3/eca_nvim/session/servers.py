"""The servers of a session, by name: what chats ask of one, what it offers, and what its end does.

A server is known from the first chat or command that names it; its process starts when it is
needed. What a chat asks of its agent passes here: it is sent at once, or held.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial

import anyio
from msgspec.structs import replace

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.user_actions.approvals import is_still_approved
from eca_nvim.chat.vocabulary import effects, events, ops, options, requests, states, turn_events
from eca_nvim.chat.vocabulary.contexts import Context, DiffContext
from eca_nvim.redaction import Redactor
from eca_nvim.review.ledger import Ledger
from eca_nvim.review.tree_changes import TreeRequest
from eca_nvim.server.find import Finding
from eca_nvim.session.chats import Chats
from eca_nvim.session.files.turn_recorder import TurnRecorder
from eca_nvim.session.incoming import IncomingEvents
from eca_nvim.session.login import Login
from eca_nvim.session.options import Options
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.server import Held, HeldCalls, MakeAgent, Server, ServerRequest, ServerState
from eca_nvim.session.trust import Trust
from eca_nvim.session.view import View, isolated
from eca_nvim.session.wanted_logins import WantedLogins

ANSWER_TIMEOUT = 5.0
"""Seconds that an agent has to list its chats."""

log = logging.getLogger(__name__)

Job = Callable[[], Coroutine[None, None, None]]
"""What runs beside the servers, as long as the session at most."""


NewChatOptions = Mapping[str, Mapping[str, options.OptionValue]]
"""The options of new chats, as the user's options say, by server."""


class NamedServer(effects.Outside):
    """A server and what the session knows of it (`server.Listener`)."""

    def __init__(self, name: str, servers: Servers) -> None:
        self.name = name
        self._servers = servers
        self._chats = servers.chats
        self._view = servers.view
        self.trust = Trust(name, self._chats, servers.persistence)
        self.held = HeldCalls()
        self.login = Login(
            name,
            self._chats,
            self._view,
            servers.persistence,
            servers.wanted_logins,
            self.held,
            lambda: self.process,
            servers.start,
            self._send_held,
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
            *(name, self._chats, self.options, self.trust, self._view),
            *(servers.redactor, self.login.needed),
        )
        self.process = Server(name, servers.make_agent, self, self.incoming.receive)

    def forget(self, chat: Chat) -> None:
        """Forget a chat that is gone, and what waits in it: a login, and prompts not sent yet."""
        self.login.cancel(chat.id)
        self.trust.forget(chat)
        self.held.take(chat.id)
        self.options.forget(chat)

    def release(self, chat: Chat) -> None:
        """Forget a chat that goes to another server, and take what is ours out of it."""
        self.forget(chat)
        cleared = events.ChatCleared(usage=True, moves=True)
        self._chats.apply(chat, [options.OptionsChanged(()), cleared])
        chat.trust = False

    # --- what chats ask for -----------------------------------------------------------------------

    def prompt(self, prompt: effects.Prompt) -> None:
        """Send a prompt, or hold it until the agent is ready and its contexts are read.

        It is queued if the chat would ask less than was set in it.
        """
        if not self.options.sending(prompt):
            return
        agent = self.process.use()
        if agent is not None and any(isinstance(it, DiffContext) for it in prompt.contexts):
            self.held.hold(prompt)
            self._servers.start(partial(self._read_late, prompt))
        elif agent is not None and not self.held.precedes(prompt.chat_id):
            self._servers.prompted(prompt)
            agent.prompt(prompt)
        else:
            self.held.hold(prompt)
            self.process.ensure()

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        """Steer a turn, after its prompt."""
        self._steering(chat_id, lambda it: it.steer(chat_id, text, contexts))

    def unsteer(self, chat_id: str) -> None:
        """Withdraw steers."""
        self._steering(chat_id, lambda it: it.unsteer(chat_id))

    def _steering(self, chat_id: str, call: Callable[[effects.AgentCalls], None]) -> None:
        agent = self.process.use()
        if agent is None or self.held.precedes(chat_id):
            self.held.calls.append(Held(chat_id, call))
        else:
            call(agent)

    def stop(self, chat_id: str) -> None:
        """Stop a turn, or end one whose prompt was never sent."""
        agent = self.process.use()
        if agent is not None and not self.held.precedes(chat_id):
            agent.stop(chat_id)
        elif self._return_prompts(chat_id):
            self._chats.apply(self._chats.get(chat_id), [turn_events.TurnEnded()])

    def give_up(self, chat_id: str) -> None:
        """Wait no more for a chat to be opened."""
        if agent := self.process.use():
            agent.give_up(chat_id)

    def decide(self, decision: effects.Decision) -> None:
        """Answer a call. An approval does not overtake one that waits for its tree."""
        recorder, ledger = self._servers.recorder, self._servers.ledger
        if not decision.allows:
            self._decide(decision)
        elif ledger.is_watched(decision.home, decision.block) or recorder.waiting_count:
            recorder.after_tree(partial(self._approve, decision))
        else:
            ledger.approved(decision.home, decision.block)
            self._decide(decision)

    def _decide(self, decision: effects.Decision) -> None:
        if agent := self.process.use():
            said = (decision.chat_id, decision.call.id, decision.choice, decision.call)
            agent.decide(*said, decision.writes)

    def _approve(self, decision: effects.Decision, tree: TreeRequest) -> None:
        """Approve a call after its tree, unless the turn was stopped or the call has changed."""
        chat = self._chats.table.get(decision.home)
        if chat is not None and is_still_approved(chat, decision):
            with isolated(self._view, "allow the call", decision):
                block = chat.blocks.get(decision.block)
                if isinstance(block, ToolBlock):
                    block.is_unsure = not tree.is_done
                self._servers.ledger.approved(decision.home, decision.block, tree)
                self._decide(decision)

    def answer(self, question_id: str, text: str | None) -> None:
        """Answer a question: of the agent, or one that we ask about trust or for a login."""
        is_ours = self.trust.handle_answer(question_id, text)
        if is_ours or self.login.answered(question_id, text):
            return
        if agent := self.process.asking():
            agent.answer(question_id, text)

    def answer_form(self, question_id: str, content: Mapping[str, requests.Value] | None) -> None:
        """Answer a form."""
        if agent := self.process.asking():
            agent.answer_form(question_id, content)

    def answer_login(self, chat_id: str, text: str | None) -> None:
        """Answer what a login of the agent's own asks for."""
        if agent := self.process.use():
            agent.answer_login(chat_id, text)

    def trust_changed(self, chat_id: str) -> None:
        """Tell the agent of a chat's trust."""
        self.process.use()
        self.options.tell_trust(self._chats.get(chat_id))

    def find_files(self, request: effects.FindFiles) -> None:
        """Find out which paths are files."""
        self._servers.find_files(request)

    def ask_turn(self, turn: effects.SilentTurn) -> None:
        """Ask the agent whether a turn runs, and end it if that is over."""
        self._servers.start(partial(self._ask_turn, turn))

    async def _ask_turn(self, turn: effects.SilentTurn) -> None:
        agent, running = self.process.agent, None
        with isolated(self._view, "ask if a turn runs", turn), anyio.move_on_after(ANSWER_TIMEOUT):
            try:
                listed = () if agent is None else await agent.archive.list_chats()
                running = next((it.running for it in listed if it.id == turn.chat_id), None)
            except AgentRefused as refused:
                log.info("the chats cannot be listed: %s", refused)
        log.info("%s is silent; the agent reports running=%s", turn, running)
        chat = self._chats.table.get(turn.chat_id)
        if chat is not None and not running:
            lapsed = turn_events.TurnLapsed(turn.number, turn.times_asked, is_idle=running is False)
            self._chats.apply(chat, [lapsed])

    # --- prompts that wait ------------------------------------------------------------------------

    async def _read_late(self, prompt: effects.Prompt) -> None:
        """Read the contexts of a held prompt; then send it and what waits for it.

        If that fails the prompt goes without them, and a line in the chat says why. Nothing is done
        if the prompt went back to the input meanwhile.
        """
        from eca_nvim.session.files.late_contexts import read_late  # noqa: PLC0415 - few are late

        contexts: Sequence[Context] = [
            it for it in prompt.contexts if not isinstance(it, DiffContext)
        ]
        notices: Sequence[str] = ()
        with isolated(self._view, "read the contexts", prompt):
            contexts, notices = await read_late(prompt.contexts)
        if not self.held.has(prompt):
            return
        chat = self._chats.get(prompt.chat_id)
        self._chats.apply(chat, [events.NoticeReceived(line) for line in notices])
        for held in self.held.take(prompt.chat_id):
            if held.prompt is prompt:
                self.prompt(replace(prompt, contexts=tuple(contexts)))
            else:
                held.make(self)

    def _send_held(self, chat_id: str | None = None) -> None:
        """Send what is held for a chat, or for all."""
        for held in self.held.take(chat_id):
            held.make(self)

    def _return_prompts(self, chat_id: str | None = None) -> bool:
        """Put the held prompts of a chat, or of all chats, back into the input."""
        prompts = self.held.take_prompts(chat_id)
        self._view.push([ops.SetInput(prompt.chat_id, prompt.text) for prompt in prompts])
        return bool(prompts)

    # --- what happens to the process --------------------------------------------------------------

    def server_changed(self, state: ServerState, label: str) -> None:
        """Show the state; when the agent is ready, send what was held for it."""
        self._view.push([ops.SetServer(state.value, label, self.name)])
        self._chats.server_changed(self.name, state.value, self.process.folder)
        self._chats.changed()
        self.login.state_changed(state)
        if state is ServerState.STARTING:
            self.trust.server_starts(self.process.identity)
        else:
            self._servers.has_started.set()
        if state is ServerState.READY:
            self._open_chats()
            self._send_held()

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
            self._chats.apply(chat, [events.NoticeReceived(line)])

    def is_at_rest(self) -> bool:
        """Return whether neither the user nor the agent waits for the other, nor a task runs."""
        agent = self.process.agent
        is_busy = agent is not None and agent.is_busy
        if is_busy or self.held.calls or self.incoming.has_work or self.login.chat is not None:
            return False
        chats = self._chats.of(self.name)
        return not any(
            it.waiting or it.queue or it.has_turn or it.history is states.History.CHANGING
            for it in chats
        )

    def server_ended(self, ending: AgentExit, request: ServerRequest | None) -> None:
        """End the turns of the server's chats and show the reason in each.

        Unsent prompts wait for the next agent if one is starting, else they return to the input.
        An agent that sleeps says nothing: no turn ran, and the winbar shows it.
        """
        redact = self._servers.redactor.redact
        tail = tuple(map(redact, ending.stderr_tail))
        ending = replace(ending, reason=redact(ending.reason), stderr_tail=tail)
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
                self._chats.apply(chat, [events.NoticeReceived(ending.reason)])
            else:
                told = () if ending.expected else tail
                self._chats.apply(chat, [events.AgentGone(ending.reason, told)])
        if not chats and not is_asleep:
            level = "info" if ending.expected else "error"
            self._view.push([ops.Notify(level, ending.reason)])


class Servers:
    """The servers of a session, by name, and what all of them need."""

    def __init__(
        self,
        make_agent: MakeAgent,
        chats: Chats,
        view: View,
        persistence: Persistence,
        redactor: Redactor,
        ledger: Ledger,
        recorder: TurnRecorder,
        find_files: Callable[[effects.FindFiles], None],
        prompted: Callable[[effects.Prompt], None],
    ) -> None:
        self.make_agent = make_agent
        self.chats = chats
        chats.outside = self.get
        self.view = view
        self.persistence = persistence
        self.wanted_logins = WantedLogins(persistence.shared)
        self.redactor = redactor
        self.ledger = ledger
        self.recorder = recorder
        self.find_files = find_files
        self.prompted = prompted
        self.configured: NewChatOptions = {}
        self.finding = Finding()
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

    def move(self, chat: Chat, name: str) -> None:
        """Make an empty chat one of another server."""
        self.of(chat).release(chat)
        self.chats.assign(chat, name)
        self.of(chat).incoming.chat_created(chat)

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
