"""Server: typed messages to and from one server process, in today's protocol.

Older servers are reached through `older/`. A request that a server does not know is not sent again:
the feature is missing, and the error says so in the user's terms.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

import anyio

from eca_nvim.agents.archive import AgentLacks, AgentRefused, ChatUnknown, CursorExpired
from eca_nvim.agents.eca.dialect import Generation
from eca_nvim.agents.eca.older.forms import read_notification, read_result
from eca_nvim.agents.eca.older.translator import Translator
from eca_nvim.agents.eca.prompts import SelectedPrompt
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.jsonrpc import METHOD_NOT_FOUND
from eca_nvim.protocol.eca import (
    DecodeError,
    Request,
    chat,
    chats,
    contexts,
    lifecycle,
)
from eca_nvim.protocol.eca.tools import JobKillParams
from eca_nvim.transport import Connection, ConnectionClosed, PendingRequest, RemoteError

ANSWER_SECONDS: Final = 60.0
"""Time for the response to a request: prompts may wait with it."""

_ResultT = TypeVar("_ResultT")

_FAULTS: Final[Mapping[int | str | None, type[AgentRefused]]] = {
    "cursor_expired": CursorExpired,
    "chat_not_found": ChatUnknown,
}
_FEATURES: Final[Mapping[str, str]] = {
    chats.ChatListParams.method: "cannot list its saved chats",
    chats.ChatOpenParams.method: "cannot open a chat again",
    chats.ChatHistoryParams.method: "cannot show older messages",
    chats.ChatUpdateParams.method: "cannot rename chats",
    chats.ChatClearParams.method: "cannot clear chats",
    chats.ChatDeleteParams.method: "cannot delete chats",
    chats.ChatRollbackParams.method: "cannot roll back messages",
    chats.ChatForkParams.method: "cannot fork chats",
    chats.ChatAddFlagParams.method: "cannot set flags",
    chats.ChatRemoveFlagParams.method: "cannot remove flags",
    JobKillParams.method: "cannot end it",
}
"""What a server cannot do if it does not know a method."""

logger = logging.getLogger(__name__)


OnAnswer = Callable[[str | None, str | None, bool], None]
"""Called with the response to a prompt: the model that works on it; else why it was refused, if the
server says so; and whether it was accepted."""


class EcaServer:
    """One server process."""

    def __init__(self, connection: Connection, translator: Translator) -> None:
        self._connection = connection
        self.translator = translator
        self.dialect = translator.dialect
        self.ids = translator.ids
        self.notify = translator.notify

    def read(self, method: str, params: object) -> Sequence[object]:
        """Read a notification: today's messages, maybe none; a malformed one is skipped."""
        try:
            message = read_notification(method, params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("skipped a message: %s", fault)
            return ()
        return self.translator.read(message)

    async def introduce(self, params: lifecycle.InitializeParams) -> chat.ConfigUpdated:
        """Send initialize and initialized; returns what the server says of its choices.

        Raises RemoteError, DecodeError and ConnectionClosed.
        """
        written = self.translator.params(params)
        raw = await self._connection.request(params.method, written)
        config = self.translator.introduction(read_result(type(params), raw))
        self.notify(lifecycle.Initialized())
        return config

    # --- requests --------------------------------------------------------------------------------

    async def ask(self, params: Request[_ResultT], seconds: float | None = None) -> _ResultT:
        """Send a request and return its result. Raises AgentRefused and its subclasses."""
        method, seconds = params.method, ANSWER_SECONDS if seconds is None else seconds
        if not self.dialect.may_know(method):
            raise _lacks(method)
        try:
            with anyio.fail_after(seconds):
                raw = await self._connection.request(method, self.translator.params(params))
            result = read_result(type(params), raw)
        except TimeoutError:
            raise AgentRefused(f"{method} failed: no answer after {seconds:.0f} s") from None
        except RemoteError as fault:
            raise self._refusal(method, fault) from fault
        except ConnectionClosed as fault:
            raise AgentRefused(f"{method} failed: {one_line(str(fault))}") from fault
        except DecodeError as fault:
            line = f"{method} failed: the answer is malformed: {one_line(str(fault))}"
            raise AgentRefused(line) from fault
        if isinstance(result, contexts.QueryContextResult):
            self.translator.note_resources(result.contexts)
        return result

    def _refusal(self, method: str, fault: RemoteError) -> AgentRefused:
        if fault.code == METHOD_NOT_FOUND:
            self.dialect.note_absent(method)
            return _lacks(method)
        return refusal(method, fault.code, fault.message)

    async def clear(self, chat_id: str) -> None:
        """Remove all messages of a chat (chat/clear). Raises AgentRefused."""
        try:
            await self.ask(chats.ChatClearParams(chat_id=chat_id, messages=True))
        except AgentLacks:
            if self.dialect.is_today:
                raise
            await self.delete(chat_id)  # its next prompt starts another one

    async def delete(self, chat_id: str) -> None:
        """Delete a chat (chat/delete). Raises AgentRefused."""
        try:
            await self.ask(chats.ChatDeleteParams(chat_id=chat_id))
        except AgentLacks:
            if self.dialect.generation > Generation.DRAFT:
                raise  # the draft has nothing to delete: it is enough that we no longer name it
        self.translator.forget(chat_id)

    # --- prompts ---------------------------------------------------------------------------------

    def prompt(
        self,
        prompt: SelectedPrompt,
        today: Callable[[], chat.PromptParams],
        on_answer: OnAnswer,
        *,
        is_login: bool = False,
    ) -> None:
        """Queue a prompt, or what the user answers to a login (chat/prompt).

        today: builds it for a server of today.
        """
        params = self.translator.prompt(prompt, today)
        starts_chat = params.chat_id is None and not is_login
        if not is_login:
            self.translator.prompted(prompt, starts_chat=starts_chat)
        with suppress(ConnectionClosed):
            self._connection.start_request(
                params.method,
                self.translator.params(params),
                partial(self._answered, prompt, on_answer, starts_chat),
            )

    def _answered(
        self,
        prompt: SelectedPrompt,
        on_answer: OnAnswer,
        starts_chat: bool,
        pending: PendingRequest,
    ) -> None:
        """Read the response to a prompt.

        The server shows an error in the chat before the response, unless it refuses the chat id.
        """
        result, fault = None, None
        try:
            result = read_result(chat.PromptParams, pending.answer())
        except RemoteError as error:
            fault = str(self._refusal(chat.PromptParams.method, error))
        except DecodeError as error:
            logger.warning("unexpected answer to a prompt: %s", error)
        except ConnectionClosed:
            return
        if starts_chat and self.translator.is_replaced(prompt):
            self.translator.leave(prompt.chat_id, result.chat_id if result else None)
            return
        failed = result is not None and result.status is chat.PromptStatus.ERROR
        accepted = fault is None and not failed
        is_first = self.translator.answered(prompt, result, accepted=accepted)
        if result is not None and failed:
            silent = "the server refused the prompt without a reason" if is_first else None
            fault = result.result_message or silent
        on_answer(result.model if result and accepted else None, fault, accepted)


def _lacks(method: str) -> AgentLacks:
    feature = _FEATURES.get(method)
    told = f"{feature}: it does not know" if feature else "does not know"
    return AgentLacks(f"this server {told} {method}")


def refusal(method: str, code: int | str | None, message: str) -> AgentRefused:
    """Return what a request failed with, by its code (a word in the server's own errors)."""
    kind, told = _FAULTS.get(code, AgentRefused), one_line(message)
    if told == "Internal error":  # the server writes the detail to stderr only
        told += "; :Eca log may say why"
    return kind(f"{method} failed: {told}")
