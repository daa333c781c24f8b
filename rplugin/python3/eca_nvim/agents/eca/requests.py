"""Requests: answers what a server asks the editor, and shows its questions to the user.

Positions: the model sees diagnostics numbered as we send them, next to tools that count lines from
1, so they are 1-based by default; `base` 0 sends them 0-based, as in the editor. Definitions and
references are 1-based in both directions. Characters are UTF-16 code units. Each message of a
diagnostic ends with a line feed, because the server joins them without a separator.

Rules kept here:
- Every request gets exactly one response, if necessary an error, because a tool waits for it.
- A question becomes an event; it stays open until the user answers, dismisses it or stops the turn.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, count
from typing import Final, Literal, TypeAlias, assert_never

from anyio.abc import TaskGroup
from msgspec import Struct

from eca_nvim.agents.base import Diagnostic, EditorServices, Location, NoAnswer
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.process_agent import FAILED
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import Addressed, QuestionAsked
from eca_nvim.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, MessageId, NotOpen, Request
from eca_nvim.paths import LARGEST_LOADED, NotAFile, path_of, require_file, uri_of
from eca_nvim.protocol.eca import (
    DecodeError,
    Unknown,
    content,
    decode_server_request,
    editor,
    encode,
)
from eca_nvim.protocol.eca import editor as eca
from eca_nvim.transport import Connection, ConnectionClosed

Base: TypeAlias = Literal[0, 1]
Result: TypeAlias = eca.DiagnosticsResult | eca.NavigationResult

_SEVERITIES: Final[Mapping[str, eca.Severity]] = {
    "error": "error",
    "warning": "warning",
    "information": "info",
    "hint": "hint",
}


_UNANSWERED: Final[Mapping[NoAnswer, eca.NavigationResult]] = {
    NoAnswer.STARTING: eca.NavigationResult(status="starting"),
    NoAnswer.NO_SERVER: eca.NavigationResult(
        status="no-server", message="the editor has no language server for this file"
    ),
}


async def diagnostics(
    services: EditorServices, request: eca.GetDiagnostics, base: Base
) -> eca.DiagnosticsResult:
    """Answer editor/getDiagnostics. Raises NotAFile."""
    path = None if request.uri is None else path_of(request.uri)
    found = await services.diagnostics(path)
    return eca.DiagnosticsResult(diagnostics=tuple(_diagnostic(item, base) for item in found))


async def navigation(
    services: EditorServices, request: eca.GetDefinition | eca.GetReferences
) -> eca.NavigationResult:
    """Answer editor/getDefinition or editor/getReferences; failures are answers, too."""
    kind = "definition" if isinstance(request, eca.GetDefinition) else "references"
    try:
        path = path_of(request.uri)
        require_file(path, LARGEST_LOADED)
    except NotAFile as fault:
        return eca.NavigationResult(status="error", message=str(fault))
    position = request.position
    found = await services.locations(kind, path, position.line, position.character)
    if isinstance(found, NoAnswer):
        return _UNANSWERED[found]
    return eca.NavigationResult(status="success", locations=tuple(map(_location, found)))


_NO_SOURCE: Final = "Neovim"
"""Source of a diagnostic without one, because older servers require a source."""


def _diagnostic(found: Diagnostic, base: Base) -> eca.Diagnostic:
    return eca.Diagnostic(
        uri=uri_of(found.path),
        severity=_SEVERITIES.get(found.severity, "info"),
        source=found.source or _NO_SOURCE,
        range=editor.Range(
            start=editor.Position(
                line=found.start_line + base, character=found.start_column + base
            ),
            end=editor.Position(line=found.end_line + base, character=found.end_column + base),
        ),
        code=found.code,
        message=found.message + "\n",
    )


def _location(found: Location) -> eca.Location:
    return eca.Location(
        uri=uri_of(found.path),
        range=editor.Range(
            start=editor.Position(line=found.start_line, character=found.start_column),
            end=editor.Position(line=found.end_line, character=found.end_column),
        ),
    )


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
        base: Base,
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
            case content.AskQuestion():
                return (self._ask(request.id, asked),)
            case editor.GetDiagnostics() | editor.GetDefinition() | editor.GetReferences():
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
        result = content.AnswerResult(answer=text, cancelled=text is None)
        self._respond(question.request_id, result)
        return question.chat_id

    def cancel_questions(self, chat_id: str) -> None:
        """Cancel the questions of a chat whose turn is being stopped."""
        asked = [key for key, open_ in self._questions.items() if open_.chat_id == chat_id]
        for question_id in asked:
            self.answer(question_id, None)

    def _ask(self, request_id: MessageId, asked: content.AskQuestion) -> Addressed:
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
        self,
        request_id: MessageId,
        asked: editor.GetDiagnostics | editor.GetDefinition | editor.GetReferences,
    ) -> None:
        try:
            self._respond(request_id, await self._find(asked))
        except NotAFile as fault:
            self._refuse(request_id, INVALID_PARAMS, str(fault))
        except Exception:
            logger.exception("%s failed", asked.method)
            self._refuse(request_id, INTERNAL_ERROR, "the editor could not answer")

    async def _find(
        self, asked: editor.GetDiagnostics | editor.GetDefinition | editor.GetReferences
    ) -> Result:
        if isinstance(asked, editor.GetDiagnostics):
            return await diagnostics(self._services, asked, self._base)
        return await navigation(self._services, asked)

    def _respond(self, request_id: MessageId, result: Result | content.AnswerResult) -> None:
        with suppress(ConnectionClosed):
            self._connection.respond(request_id, encode(result))

    def _refuse(self, request_id: MessageId, code: int, message: str) -> None:
        with suppress(ConnectionClosed):
            self._connection.respond_error(request_id, code, message)
