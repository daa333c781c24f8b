"""Requests: answers what a server asks the editor, and shows its questions to the user.

Positions: the model sees diagnostics numbered as we send them, next to tools that count lines from
1, so they are 1-based by default; `base` 0 sends them 0-based, as in the editor. Definitions and
references are 1-based in both directions. Characters are UTF-16 code units.

Every request gets exactly one response, if necessary an error, because a tool waits for it.
"""

import logging
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Final, Literal, TypeAlias, assert_never

from eca_nvim.agents.base import Diagnostic, EditorServices, Location, NoAnswer
from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.agents.process_agent import Tasks
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import Addressed, QuestionAsked
from eca_nvim.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, MessageId, Request
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
from eca_nvim.transport import Connection

Base: TypeAlias = Literal[0, 1]
Asked: TypeAlias = eca.GetDiagnostics | eca.GetDefinition | eca.GetReferences
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


_NO_SOURCE: Final = "Neovim"
"""Source of a diagnostic without one, because older servers require a source."""


def _diagnostic(found: Diagnostic, base: Base) -> eca.Diagnostic:
    return eca.Diagnostic(
        uri=uri_of(found.path),
        severity=_SEVERITIES.get(found.severity, "info"),
        source=found.source or _NO_SOURCE,
        range=_range(found, base),
        code=found.code,
        message=found.message + "\n",  # the server joins them without a separator
    )


def _range(found: Diagnostic | Location, base: int = 0) -> editor.Range:
    first, last = found.start_line + base, found.end_line + base
    return editor.Range(
        start=editor.Position(line=first, character=found.start_column + base),
        end=editor.Position(line=last, character=found.end_column + base),
    )


_FAILED: Final = "the editor could not answer"

logger = logging.getLogger(__name__)


class ServerRequests:
    """Answers the requests of one server process.

    base: the first line and character number in diagnostics.
    """

    def __init__(
        self,
        connection: Connection,
        tasks: Tasks,
        services: EditorServices,
        chats: ChatIds,
        base: Base,
    ) -> None:
        self._connection = connection
        self._tasks = tasks
        self._services = services
        self._chats = chats
        self._base = base
        # By its id, the request of an open question, and our id of its chat. It stays open until
        # the user answers or dismisses it, or stops the turn.
        self._questions: dict[str, tuple[MessageId, str | None]] = {}

    def start(self, request: Request) -> Sequence[AgentEvent]:
        """Start to answer a request; a question is returned as an event."""
        try:
            asked = decode_server_request(request.method, request.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("refused a request: %s", fault)
            self._connection.respond_error(request.id, INVALID_PARAMS, str(fault))
            return ()
        match asked:
            case content.AskQuestion():
                return (self._ask(request.id, asked),)
            case editor.GetDiagnostics() | editor.GetDefinition() | editor.GetReferences():
                self._tasks.start_soon(self._answer, request.id, asked)
            case Unknown():
                unknown = f"{asked.method} is not known here"
                self._connection.respond_error(request.id, METHOD_NOT_FOUND, unknown)
            case _:
                assert_never(asked)
        return ()

    def answer(self, question_id: str, text: str | None) -> str | None:
        """Answer a question; None cancels it. A closed question is ignored.

        Returns our id of the chat it was asked in, None if that is unknown.
        """
        if question_id not in self._questions:
            logger.debug("question %s is closed already", question_id)
            return None
        request_id, chat_id = self._questions.pop(question_id)
        answered = content.AnswerResult(answer=text, cancelled=text is None)
        self._connection.respond(request_id, encode(answered))
        return chat_id

    def cancel_questions(self, chat_id: str) -> None:
        """Cancel the questions of a chat whose turn is being stopped."""
        for question_id in [key for key, (_, chat) in self._questions.items() if chat == chat_id]:
            self.answer(question_id, None)

    def _ask(self, request_id: MessageId, asked: content.AskQuestion) -> Addressed:
        chat_id = None if asked.chat_id is None else self._chats.ours(asked.chat_id)
        wanted = asked.request_id or str(request_id)
        names = chain([wanted], (f"{wanted} ({number})" for number in count(2)))
        question_id = next(name for name in names if name not in self._questions)
        self._questions[question_id] = (request_id, chat_id)
        options = tuple((option.label, option.description or "") for option in asked.options or ())
        question = QuestionAsked(
            id=question_id,
            question=asked.question,
            options=options,
            allow_freeform=asked.allow_freeform or not options,
            tool_call_id=asked.tool_call_id,
        )
        return Addressed(chat_id, question)

    async def _answer(self, request_id: MessageId, asked: Asked) -> None:
        try:
            result: Result
            if isinstance(asked, editor.GetDiagnostics):
                result = await self._diagnostics(asked)
            else:
                result = await self._locations(asked)
            self._connection.respond(request_id, encode(result))
        except NotAFile as fault:
            self._connection.respond_error(request_id, INVALID_PARAMS, str(fault))
        except Exception:
            logger.exception("%s failed", asked.method)
            self._connection.respond_error(request_id, INTERNAL_ERROR, _FAILED)

    async def _diagnostics(self, asked: eca.GetDiagnostics) -> eca.DiagnosticsResult:
        path = None if asked.uri is None else path_of(asked.uri)
        found = await self._services.diagnostics(path)
        return eca.DiagnosticsResult(diagnostics=tuple(_diagnostic(it, self._base) for it in found))

    async def _locations(
        self, asked: eca.GetDefinition | eca.GetReferences
    ) -> eca.NavigationResult:
        """Find definitions or references; a failure is an answer, too."""
        kind = "definition" if isinstance(asked, eca.GetDefinition) else "references"
        try:
            path = path_of(asked.uri)
            require_file(path, LARGEST_LOADED)
        except NotAFile as fault:
            return eca.NavigationResult(status="error", message=str(fault))
        position = asked.position
        found = await self._services.locations(kind, path, position.line, position.character)
        if isinstance(found, NoAnswer):
            return _UNANSWERED[found]
        locations = tuple(eca.Location(uri=uri_of(it.path), range=_range(it)) for it in found)
        return eca.NavigationResult(status="success", locations=locations)
