"""Attempts: a prompt is sent once more, and its answers are gone through.

Each answer has a session of the agent of its own, which goes first; then the view changes. All
functions raise AgentRefused.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, Archive
from eca_nvim.chat.model.attempts import AttemptsBlock
from eca_nvim.chat.model.blocks import TextBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.whole_chat import recap as recap_before
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.user_actions import attempts
from eca_nvim.chat.user_actions.history_edits import files_restored
from eca_nvim.chat.vocabulary import query_intents as intents
from eca_nvim.chat.vocabulary.options import MODEL, Ability, ChatOption, first_of
from eca_nvim.chat.vocabulary.turn_events import Job
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.incoming import dropped
from eca_nvim.session.options.lines import no_option, require_offered
from eca_nvim.session.requests.history_edits import (
    ChangingHistories,
    can_roll_back,
    known,
    require_idle,
)
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import Refused

ONE_ANSWER = "this prompt has only one answer: :Eca retry asks for another"
NO_PROMPT = "nothing to send again: this chat has no prompt yet"
OPEN_ELSEWHERE = "that answer is open as a chat of its own: see :Eca chats"


class Attempts:
    """Handles the user's requests to ask again, and to see another answer."""

    def __init__(self, chats: Chats, servers: Servers, histories: ChangingHistories) -> None:
        self._chats = chats
        self._servers = servers
        self._histories = histories
        self.table: Mapping[type[intents.Intent], Callable[[Any], object]] = {
            intents.RetryPrompt: self._retry,
            intents.ShowAttempt: self._show,
        }

    async def _retry(self, intent: intents.RetryPrompt) -> bool:
        """Send the last prompt again; the session of the answer that there is stays as it is."""
        chat = known(self._chats, intent.chat)
        model = None if intent.model is None else _offered(chat, intent.model)
        async with self._changing(chat) as archive:
            prompt = attempts.last_prompt(chat)
            if prompt is None:
                raise AgentRefused(NO_PROMPT)
            if intent.tools:
                await self._restore_files(chat, prompt, archive)
            before = _before(chat, prompt)
            said = None if before is not None else recap_before(chat, prompt, now())
            async with self._new_session(chat):
                kept_as = await archive.branch(chat.id, before)
            self._servers.of(chat).incoming.apart[kept_as] = dropped
            if model is not None:
                self._servers.of(chat).options.set(chat, MODEL, model, is_saved=False)
            name = _model_name(chat, model)
            again = attempts.ask_again(chat, prompt, kept_as, name, now(), said)
            self._chats.show(again)
        return True

    async def _restore_files(self, chat: Chat, prompt: TextBlock, archive: Archive) -> None:
        """Have the agent restore what its tools have changed since a prompt."""
        if not can_roll_back(chat, prompt) or prompt.content_id is None:
            raise AgentLacks("this agent cannot restore files from before this prompt")
        await archive.rollback(chat.id, prompt.content_id, messages=False, tools=True)
        self._chats.show(files_restored(chat, now()))

    async def _show(self, intent: intents.ShowAttempt) -> int:
        """Show another answer; the agent goes on in its session, with its model."""
        chat = known(self._chats, intent.chat)
        async with self._changing(chat) as archive:
            row = attempts.attempts_at(chat, intent.block)
            if row is None:
                raise AgentRefused(ONE_ANSWER)
            place = (row.place + intent.step) % len(row.attempts)
            wanted = row.attempts[place]
            if wanted.kept_as in self._chats.table:
                raise AgentRefused(OPEN_ELSEWHERE)
            async with self._new_session(chat):
                await archive.exchange(chat.id, left := wanted.kept_as)
            self._chats.show(attempts.show_attempt(chat, row, place, now()))
            self._chats.apply(chat, self._jobs(chat, left))
            self._use_model(chat, wanted.model)
            rows = (it for it in chat.root.blocks if isinstance(it, AttemptsBlock))
            return next((it.id for it in rows if it.shown is wanted), 0)

    def _jobs(self, chat: Chat, other_id: str) -> Sequence[Job]:
        """Return what is known of the commands of an answer, which may have ended meanwhile."""
        known = (it.job for it in self._servers.of(chat).incoming.jobs)
        return [it for it in known if it.call_id is not None and it.chat_id in (chat.id, other_id)]

    @asynccontextmanager
    async def _changing(self, chat: Chat) -> AsyncIterator[Archive]:
        """Let prompts wait while a chat without a turn changes."""
        async with self._histories.change(chat.id):
            archive = (await self._servers.of(chat).process.ready()).archive
            require_idle(chat)
            yield archive

    @asynccontextmanager
    async def _new_session(self, chat: Chat) -> AsyncIterator[None]:
        """Set the chat's options again in the session that it gets inside."""
        options = self._servers.of(chat).options
        options.session_ended(chat)
        try:
            yield
        finally:
            options.open_chat(chat)

    def _use_model(self, chat: Chat, name: str) -> None:
        """Select the model of an answer, if it is on offer."""
        option = first_of(chat.options, MODEL)
        value = option.meant(name) if option is not None and name else None
        if option is not None and value is not None and option.accepts(value):
            self._servers.of(chat).options.set(chat, MODEL, value, is_saved=False)


def _before(chat: Chat, prompt: TextBlock) -> str | None:
    """Return the prompt's id if the agent can copy what was said before it; there is something."""
    can_copy = Ability.FORK_HERE in chat.abilities and can_roll_back(chat, prompt)
    is_first = chat.older is None and attempts.is_first(chat, prompt)
    return prompt.content_id if can_copy and not is_first else None


def _offered(chat: Chat, word: str) -> str:
    """Return the value of the model that a word names. Raises Refused."""
    option = first_of(chat.options, MODEL)
    if option is None:
        raise Refused(no_option(MODEL))
    value = option.meant(word)
    require_offered(option, value)
    return str(value)


def _model_name(chat: Chat, model: str | None) -> str:
    """Return the name of a model as users read it; None: the one that is selected."""
    option: ChatOption | None = first_of(chat.options, MODEL)
    if option is None:
        return one_line(model or "")
    return option.name_of(option.value if model is None else model)
