"""Questions: has an agent answer questions about lines of a buffer, and shows it while it comes.

Rules kept here:
- A question and those below it are one conversation, in a session of its own (`session.aside`),
  which ends when the user closes the answer. A server that has ended since gets what was said.
- An answer ends as ready or failed, whatever happens. One that the user has stopped shows nothing
  more.
- A conversation can go on in a chat: that has a new session, which gets what was said.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import Agent, AgentFault
from eca_nvim.chat.render.whole_chat import recap
from eca_nvim.chat.text.joined_text import join_text
from eca_nvim.chat.text.rewritten import MOST_ANSWER
from eca_nvim.chat.text.safe_text import Cleaner, one_line, truncate
from eca_nvim.chat.user_actions.earlier_messages import Page, show_history
from eca_nvim.chat.vocabulary import events
from eca_nvim.chat.vocabulary.bases import Intent
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent, Role, TextReceived
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.previews import (
    AskInPlace,
    ContinueInChat,
    PreviewState,
    ShowAnswer,
    StopAnswer,
)
from eca_nvim.session.aside import Aside
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.files.late_contexts import read_late
from eca_nvim.session.previews.meanwhile import Meanwhile
from eca_nvim.session.previews.rewrites import EMPTY, PACE, ReadContexts, named_lines, passage
from eca_nvim.session.servers import NamedServer, Servers
from eca_nvim.session.view import View, isolated

LONG: Final = "the answer is too long: the rest was dropped"
STOPPED: Final = "stopped"
TITLE_CELLS: Final = 60
MOST_SAID: Final = 2000
"""Events of a conversation that a chat can go on with; of a longer one the first are left out."""

_HOW: Final = (
    "Answer briefly: the answer is shown in a small window beside these lines, as Markdown. Change"
    " no file and run no command."
)
_UNSAVED: Final = "The file has unsaved changes: these lines are as they stand in the editor."
_CALLS: Final = (
    events.ToolPreparing,
    events.ToolRequested,
    events.ToolRunning,
    events.ToolFinished,
    events.ToolRejected,
)
_THOUGHTS: Final = (events.ReasoningStarted, events.ReasoningText, events.ReasoningFinished)


class _Answer:
    """The answer to one question, while it comes."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.text = ""
        self.doing = ""
        self.is_over = False
        self.said: list[ChatEvent] = [TextReceived(Role.USER, question)]
        self.changed = anyio.Event()
        self._cleaner = Cleaner()
        self._shown = 0

    def hear(self, event: ChatEvent) -> None:
        """Take a piece of the answer, or note what the agent does meanwhile."""
        if self.is_over:
            return
        match event:
            case TextReceived(role=Role.ASSISTANT, text=text):
                gap = "\n\n" if self.doing and self.text else ""
                self.text, self.doing = self.text + gap + text, ""
            case _ if isinstance(event, _THOUGHTS):
                self.doing = "thinks"
            case _ if isinstance(event, _CALLS):
                self.doing = "looks"
            case _:
                return
        self.said.append(event)
        self.changed.set()

    def news(self, *, is_whole: bool = False) -> str:
        """Return what has come since the last call, safe to draw."""
        new = self.text[self._shown : MOST_ANSWER]
        self._shown += len(new)
        return self._cleaner.feed(new) + (self._cleaner.finish() if is_whole else "")

    def end(self) -> None:
        """Hear nothing more."""
        self.is_over = True
        self.changed.set()


class _Thread:
    """A question and those below it; `about` is the first one."""

    def __init__(self, about: AskInPlace, server: NamedServer, folders: Sequence[str]) -> None:
        self.about = about
        self.server = server
        self.aside = Aside(server, folders, about.id, self._hear)
        self.answers: list[_Answer] = []
        self.scope = anyio.CancelScope()

    def _hear(self, event: ChatEvent) -> None:
        self.answers[-1].hear(event)

    def said(self) -> Iterator[ChatEvent]:
        """Yield what was said."""
        for answer in self.answers:
            yield from answer.said


class Questions:
    """Handles the user's questions in place."""

    def __init__(
        self,
        servers: Servers,
        chats: Chats,
        view: View,
        read_contexts: ReadContexts,
        meanwhile: Meanwhile,
    ) -> None:
        self._servers = servers
        self._chats = chats
        self._view = view
        self._read_contexts = read_contexts
        self._meanwhile = meanwhile
        self._threads: dict[str, _Thread] = {}
        self.table: Mapping[type[Intent], Callable[[Any], object]] = {
            AskInPlace: self._ask,
            StopAnswer: self._stop,
            ContinueInChat: self._continue,
        }

    def _ask(self, intent: AskInPlace) -> None:
        """Begin to answer; a stop that comes with the question finds it."""
        thread = self._threads.get(intent.id)
        if thread is None:
            server = self._servers.get(intent.server)
            thread = self._threads[intent.id] = _Thread(intent, server, self._chats.folders)
        answer = _Answer(intent.question)
        thread.answers.append(answer)
        thread.scope = anyio.CancelScope()
        self._servers.start(partial(self._show, intent.id, thread, answer))
        self._servers.start(partial(self._run, intent, thread, answer, thread.scope))

    async def _run(
        self, intent: AskInPlace, thread: _Thread, answer: _Answer, scope: anyio.CancelScope
    ) -> None:
        """Show the answer of an agent, or why there is none."""
        fault = "the plugin failed: see :Eca log"
        with isolated(self._view, "answer a question", intent):
            try:
                with scope:
                    await anyio.lowlevel.checkpoint()  # it may be stopped already
                    await self._answer(thread, answer, intent.contexts)
                is_long = len(answer.text) > MOST_ANSWER
                fault = "" if not scope.cancelled_caught else LONG if is_long else STOPPED
            except (AgentRefused, AgentFault) as failed:
                fault = one_line(str(failed))
            finally:
                answer.end()
                self._end(intent.id, thread, answer, fault)

    def _end(self, place: str, thread: _Thread, answer: _Answer, fault: str) -> None:
        if self._threads.get(place) is thread:
            self._push(place, answer, PreviewState.FAILED if fault else PreviewState.READY, fault)
            self._servers.start(partial(self._rest, thread.aside))

    async def _answer(self, thread: _Thread, answer: _Answer, contexts: Sequence[object]) -> None:
        """Have an agent answer. Raises AgentRefused and AgentFault."""
        agent = await thread.server.process.ready()
        read, notices = await read_late(tuple(self._read_contexts(contexts)))
        self._view.push([Notify("warn", line) for line in notices])
        prompt = self._prompt(thread, agent, tuple(read))
        with self._meanwhile.watched(thread.about.id, answer.question):
            await thread.aside.ask(agent, prompt, in_place=True)
        if not answer.text.strip():
            raise AgentRefused(EMPTY)

    def _prompt(self, thread: _Thread, agent: Agent, contexts: tuple[Context, ...]) -> Prompt:
        """Return the next prompt; a session that knows nothing yet gets the lines, and the rest."""
        place, question = thread.about.id, thread.answers[-1].question
        if thread.aside.is_open(agent):
            return Prompt(place, question, contexts)
        earlier = [
            f"User: {it.question}\n\nAssistant: {it.text}" for it in thread.answers[:-1] if it.text
        ]
        asked = replace(thread.about, question=question)
        return Prompt(place, prompt_of(asked), contexts, "\n\n".join(earlier) or None)

    async def _show(self, place: str, thread: _Thread, answer: _Answer) -> None:
        """Show an answer while it comes."""
        with isolated(self._view, "show an answer", place):
            while True:
                await answer.changed.wait()
                answer.changed = anyio.Event()
                if answer.is_over:
                    return
                if len(answer.text) > MOST_ANSWER:
                    thread.scope.cancel()  # it may never end
                    return
                self._push(place, answer, PreviewState.STREAMING)
                await anyio.sleep(PACE)

    def _push(self, place: str, answer: _Answer, state: PreviewState, fault: str = "") -> None:
        text = answer.news(is_whole=state is not PreviewState.STREAMING)
        self._view.push([ShowAnswer(place, state, text, answer.doing, fault)])

    def _stop(self, intent: StopAnswer) -> None:
        thread = self._threads.get(intent.id)
        if thread is None:
            return
        if intent.closes:
            self._close(intent.id)
        thread.scope.cancel()

    def _close(self, place: str) -> None:
        thread = self._threads.pop(place)
        self._servers.start(partial(self._rest, thread.aside, closes=True))

    async def _rest(self, aside: Aside, *, closes: bool = False) -> None:
        with isolated(self._view, "end the session of a question", aside):
            await (aside.close if closes else aside.rest)()

    def _continue(self, intent: ContinueInChat) -> None:
        """Show a conversation in a new chat; its first prompt takes along what was said."""
        thread = self._threads.get(intent.id)
        if thread is None or intent.chat in self._chats.table:
            return
        chat = self._chats.get(intent.chat, thread.server.name)
        said = join_text(Addressed(chat.id, it) for it in [*thread.said()][-MOST_SAID:])
        page = Page([it for it in said if isinstance(it, Addressed)])
        self._chats.show(show_history(chat, page, now()))
        title = truncate(one_line(thread.about.question), TITLE_CELLS)
        self._chats.apply(chat, [events.TitleChanged(title)])
        asked = f"The user has asked about {named_lines(thread.about)}."
        chat.recap = "\n\n".join([asked, *passage(thread.about), recap(chat, None, now())])
        thread.server.incoming.chat_created(chat)
        thread.scope.cancel()
        self._close(intent.id)


def prompt_of(wanted: AskInPlace) -> str:
    """Return the prompt with a question, and with the lines that it is about."""
    unsaved = [_UNSAVED] if wanted.modified and wanted.path else []
    about = f"A question about {named_lines(wanted)}: {wanted.question}"
    return "\n\n".join([about, *passage(wanted), *unsaved, _HOW])
