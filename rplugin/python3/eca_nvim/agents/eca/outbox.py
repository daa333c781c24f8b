"""Outbox: turns what the user does into messages to the server.

Messages are queued in the order of the calls; no call waits.
"""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Final

from eca_nvim.agents.abilities import AgentLacks, AgentRefused
from eca_nvim.agents.attached_files import fit
from eca_nvim.agents.base import Emit
from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.older.forms import read_result
from eca_nvim.agents.eca.prompts import (
    Mentions,
    SelectedPrompt,
    Selection,
    prompt_params,
    with_command,
    with_steer,
)
from eca_nvim.agents.eca.server import EcaServer
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.agents.process_agent import Tasks
from eca_nvim.chat.vocabulary import events
from eca_nvim.chat.vocabulary.completion import COMMAND
from eca_nvim.chat.vocabulary.contexts import Context, Tokened
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.options import OptionValue
from eca_nvim.chat.vocabulary.previews import Rewrite
from eca_nvim.jsonrpc import METHOD_NOT_FOUND
from eca_nvim.protocol.eca import DecodeError, chat, chats, code, editor
from eca_nvim.transport import ConnectionClosed, PendingRequest, RemoteError

_CANCEL: Final = "cancel"
"""The text that cancels a login."""

logger = logging.getLogger(__name__)


class Outbox:
    """Sends messages to one server process."""

    def __init__(
        self,
        server: EcaServer,
        tasks: Tasks,
        emit: Emit,
        mentions: Mentions,
        turns: Turns,
        options: ChatOptions,
    ) -> None:
        self._server = server
        self._tasks = tasks
        self._emit = emit
        self._mentions = mentions
        self._turns = turns
        self._options = options
        self._sent: dict[str, Selection] = {}  # by our chat id, the selection sent last
        self._reported: set[tuple[str, str]] = set()  # our chat id and a line about a context

    def prompt(self, prompt: Prompt, *, in_place: bool = False) -> None:
        """Send a prompt (chat/prompt); its response names the model.

        in_place: of an inline chat, if the server has these.
        """
        chat_id = prompt.chat_id
        if COMMAND.match(prompt.text) and (line := with_command(prompt.contexts)):
            self._tell(chat_id, events.NoticeReceived(line))
        # The server does not remember a prompt's agent or variant: each has the whole selection.
        chosen = self._sent[chat_id] = self._options.selection(chat_id)
        contexts = self._fit(chat_id, prompt.contexts) if prompt.contexts else ()
        if prompt.recap is not None:
            self._server.translator.begin_again(chat_id)
            self._mentions.emptied(chat_id)
        fitted = SelectedPrompt(chat_id, prompt.text, contexts, prompt.recap, chosen)
        self._turns.prompted(chat_id)
        params = prompt_params(fitted, *self._mentions.write(fitted))
        params = self._server.translator.prompt(fitted, params)
        if in_place and self._server.dialect.may_know(code.InlinePromptParams.method):
            self._start_in_place(prompt, fitted, params)
            return
        self._server.start(params, partial(self._answered, fitted, params.chat_id is None))

    def _start_in_place(
        self, prompt: Prompt, fitted: SelectedPrompt, params: chat.PromptParams
    ) -> None:
        """Send a prompt of an inline chat (chat/inlinePrompt).

        Its model and variant are those that the server's configuration has for these chats.
        """
        inline = code.InlinePromptParams(
            chat_id=prompt.chat_id,
            message=params.message,
            agent=params.agent,
            contexts=params.contexts,
        )
        self._server.start(inline, partial(self._answered_in_place, prompt, fitted))

    def _answered_in_place(
        self, prompt: Prompt, fitted: SelectedPrompt, pending: PendingRequest
    ) -> None:
        """Read the response to the prompt of an inline chat: older servers do not know these."""
        try:
            pending.answer()
        except RemoteError as fault:
            if fault.code == METHOD_NOT_FOUND:
                self._server.dialect.note_absent(code.InlinePromptParams.method)
                self._mentions.emptied(prompt.chat_id)
                self.prompt(prompt)
                return
        except ConnectionClosed:
            return
        self._answered(fitted, False, pending)

    def answer_login(self, chat_id: str, text: str | None) -> None:
        """Answer the running login (chat/prompt); None sends the text that cancels it, once."""
        if text is None:
            if self._turns.is_leaving(chat_id):
                return
            self._turns.login_left(chat_id)
        self._turns.login_answered(chat_id)
        chosen = self._sent.get(chat_id, Selection())
        answer = SelectedPrompt(chat_id, _CANCEL if text is None else text, selection=chosen)
        params = prompt_params(answer, answer.text)  # a secret: no word of it names a file
        params = self._server.translator.login_answer(answer, params, cancels=text is None)
        self._server.start(params, partial(self._answered, answer, False))

    def _answered(self, prompt: SelectedPrompt, starts_chat: bool, pending: PendingRequest) -> None:
        """Read the response to a prompt: the model that answers, and what it means for the turn.

        The server shows an error in the chat before the response, unless it refuses the chat id.
        """
        chat_id, translator = prompt.chat_id, self._server.translator
        result, fault = None, None
        try:
            result = read_result(chat.PromptParams, pending.answer())
        except RemoteError as error:
            fault = str(self._server.refusal(chat.PromptParams.method, error))
        except DecodeError as error:
            logger.warning("unexpected answer to a prompt: %s", error)
        except ConnectionClosed:
            return
        if starts_chat and translator.leave(prompt, result.chat_id if result else None):
            return
        failed = result is not None and result.status is chat.PromptStatus.ERROR
        accepted = fault is None and not failed
        is_first = translator.answered(prompt, result, accepted=accepted)
        if result is not None and failed:
            silent = "the server refused the prompt without a reason" if is_first else None
            fault = result.result_message or silent
        model = result.model if result and accepted else None
        newest = self._sent.get(chat_id, prompt.selection)
        is_news = newest.model == prompt.selection.model  # the user chose no other
        said = self._options.answered(chat_id, model if is_news else None)
        turn = self._turns.answered(chat_id, accepted=accepted, fault=fault)
        self._emit([*said, *(events.Addressed(chat_id, event) for event in turn)])

    def _fit(self, chat_id: str, contexts: Sequence[Context]) -> tuple[Context, ...]:
        """Return what of contexts is sent, and report the rest."""
        fitted = [fit(context) for context in contexts]
        for context, it in zip(contexts, fitted, strict=True):
            # What the prompt names is reported each time, what belongs to every prompt once.
            is_named = isinstance(context, Tokened) and context.token
            if it.message and (is_named or (chat_id, it.message) not in self._reported):
                self._reported.add((chat_id, it.message))
                self._tell(chat_id, events.NoticeReceived(it.message))
        return tuple(it.context for it in fitted if it.context is not None)

    def forget(self, chat_id: str) -> None:
        """Forget a chat; answers to its prompts may still come."""
        self._mentions.emptied(chat_id)
        self._sent.pop(chat_id, None)
        self._reported = {it for it in self._reported if it[0] != chat_id}

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        """Send text to the running turn (chat/promptSteer); it can only name files and folders.

        Other contexts that the text names are reported: the server would drop them silently.
        """
        if line := with_steer(contexts):
            self._tell(chat_id, events.NoticeReceived(line))
        written = self._mentions.write_steer(text, self._fit(chat_id, contexts))
        self._server.notify(chat.PromptSteer(chat_id=chat_id, message=written))

    def set_option(self, chat_id: str, option_id: str, value: OptionValue) -> None:
        """Set an option of a chat, and send what has changed in its selection since then."""
        self._emit(self._options.set(chat_id, option_id, value))
        chosen, sent = self._options.selection(chat_id), self._sent.get(chat_id, Selection())
        self._sent[chat_id] = chosen
        if chosen.agent and chosen.agent != sent.agent:
            self._server.notify(chat.SelectedAgentChanged(chat_id=chat_id, agent=chosen.agent))
        if not self._options.is_known(chat_id):  # the server would lose it; its prompt has it
            return
        is_other = (chosen.model, chosen.variant) != (sent.model, sent.variant)
        if chosen.model and is_other:
            variant = chosen.variant or None
            self._server.notify(
                chat.SelectedModelChanged(chat_id=chat_id, model=chosen.model, variant=variant)
            )
        # At once, for the turn that runs; a call that waits already is not released by it.
        update = chats.ChatUpdateParams(chat_id=chat_id, trust=chosen.trust)
        if chosen.trust != sent.trust and self._server.dialect.may_know(update.method):
            self._tasks.start_soon(self._update_trust, update)

    async def _update_trust(self, update: chats.ChatUpdateParams) -> None:
        try:
            await self._server.ask(update)
        except AgentLacks:
            line = f"this server does not know {update.method}; trust is sent with the next prompt"
            self._tell(update.chat_id, events.NoticeReceived(line))
        except AgentRefused as fault:
            self._tell(update.chat_id, events.NoticeReceived(str(fault), is_error=True))

    async def rewrite(self, wanted: Rewrite) -> None:
        """Have lines rewritten (rewrite/prompt); its contents follow. Raises AgentRefused.

        The server reads what is around them from the disk.
        """
        lines, end = wanted.lines, len(wanted.lines[-1]) + 1
        params = code.RewriteParams(
            id=wanted.id,
            text="\n".join(lines),
            prompt=wanted.instruction,
            path=wanted.path or None,
            range=editor.Range(
                start=editor.Position(line=wanted.first, character=1),
                end=editor.Position(line=wanted.last, character=end),
            ),
        )
        await self._server.ask(params)

    def _tell(self, chat_id: str, event: events.ChatEvent) -> None:
        self._emit([events.Addressed(chat_id, event)])
