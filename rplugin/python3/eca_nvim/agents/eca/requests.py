"""Requests: answers a server's requests to the editor, and shows its questions to the user.

Rules kept here:
- Every request gets exactly one response, if necessary an error, because a tool waits for it.
- A question becomes an event; it stays open until the user answers, dismisses it or stops the turn.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, count
from typing import Final, assert_never

from anyio.abc import TaskGroup
from msgspec import Struct

from eca_nvim.agents.base import EditorServices
from eca_nvim.agents.eca import editor_requests
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.reading import FAILED
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import Addressed, QuestionAsked
from eca_nvim.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, MessageId, NotOpen, Request
from eca_nvim.paths import NotAFile
from eca_nvim.protocol.eca import DecodeError, Unknown, decode_server_request, encode
from eca_nvim.protocol.eca.content import AnswerResult, AskQuestion
from eca_nvim.protocol.eca.editor import GetDefinition, GetDiagnostics, GetReferences
from eca_nvim.transport import Connection, ConnectionClosed

INVALID_PARAMS: Final = -32602
"""Error code for a request with malformed parameters."""

logger = logging.getLogger(__name__)


class _OpenQuestion(Struct, frozen=True):
    request_id: MessageId
    chat_id: str | None  # ours


class ServerRequests:
    """Answers the requests of one server process.

    base: the first line and character number in diagnostics.
    """

    def __init__(
        self,
        connection: Connection,
        tasks: TaskGroup,
        services: EditorServices,
        chats: ChatIds,
        base: editor_requests.Base,
    ) -> None:
        self._connection = connection
        self._tasks = tasks
        self._services = services
        self._chats = chats
        self._base = base
        self._questions: dict[str, _OpenQuestion] = {}

    def start(self, request: Request) -> Sequence[AgentEvent]:
        """Start to answer a request; a question is returned as an event."""
        try:
            asked = decode_server_request(request.method, request.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("refused a request: %s", fault)
            self._refuse(request.id, INVALID_PARAMS, str(fault))
            return ()
        match asked:
            case AskQuestion():
                return (self._ask(request.id, asked),)
            case GetDiagnostics() | GetDefinition() | GetReferences():
                self._tasks.start_soon(self._answer, request.id, asked)
            case Unknown():
                self._refuse(request.id, METHOD_NOT_FOUND, f"{asked.method} is not known here")
            case _:
                assert_never(asked)
        return ()

    def fail(self, request_id: MessageId) -> None:
        """Answer a request that could not be read because of a bug: the server waits for it."""
        with suppress(NotOpen):  # it was answered before the bug
            self._refuse(request_id, INTERNAL_ERROR, FAILED)

    def answer(self, question_id: str, text: str | None) -> str | None:
        """Answer a question; None cancels it. A closed question is ignored.

        Returns our id of the chat it was asked in, None if that is unknown.
        """
        question = self._questions.pop(question_id, None)
        if question is None:
            logger.debug("question %s is closed already", question_id)
            return None
        result = AnswerResult(answer=text, cancelled=text is None)
        self._respond(question.request_id, result)
        return question.chat_id

    def cancel_questions(self, chat_id: str) -> None:
        """Cancel the questions of a chat whose turn is being stopped."""
        asked = [key for key, open_ in self._questions.items() if open_.chat_id == chat_id]
        for question_id in asked:
            self.answer(question_id, None)

    def _ask(self, request_id: MessageId, asked: AskQuestion) -> Addressed:
        chat_id = None if asked.chat_id is None else self._chats.ours(asked.chat_id)
        question_id = self._new_id(asked.request_id or str(request_id))
        self._questions[question_id] = _OpenQuestion(request_id, chat_id)
        options = tuple((option.label, option.description or "") for option in asked.options or ())
        question = QuestionAsked(
            id=question_id,
            question=asked.question,
            options=options,
            allow_freeform=asked.allow_freeform or not options,
            tool_call_id=asked.tool_call_id,
        )
        return Addressed(chat_id, question)

    def _new_id(self, wanted: str) -> str:
        """Return the wanted id, or one like it if an open question has it."""
        names = (f"{wanted} ({number})" for number in count(2))
        return next(name for name in chain([wanted], names) if name not in self._questions)

    async def _answer(
        self, request_id: MessageId, asked: GetDiagnostics | GetDefinition | GetReferences
    ) -> None:
        try:
            self._respond(request_id, await self._find(asked))
        except NotAFile as fault:
            self._refuse(request_id, INVALID_PARAMS, str(fault))
        except Exception:
            logger.exception("%s failed", asked.method)
            self._refuse(request_id, INTERNAL_ERROR, "the editor could not answer")

    async def _find(
        self, asked: GetDiagnostics | GetDefinition | GetReferences
    ) -> editor_requests.Result:
        if isinstance(asked, GetDiagnostics):
            return await editor_requests.diagnostics(self._services, asked, self._base)
        return await editor_requests.navigation(self._services, asked)

    def _respond(
        self, request_id: MessageId, result: editor_requests.Result | AnswerResult
    ) -> None:
        with suppress(ConnectionClosed):
            self._connection.respond(request_id, encode(result))

    def _refuse(self, request_id: MessageId, code: int, message: str) -> None:
        with suppress(ConnectionClosed):
            self._connection.respond_error(request_id, code, message)
