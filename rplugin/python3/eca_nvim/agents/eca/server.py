"""Server: typed messages to and from one server process, in today's protocol.

Each message passes `older/`. A request that a server does not know is not sent again: the feature
is missing, and the error says so in the user's terms.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import anyio

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, ChatUnknown, CursorExpired
from eca_nvim.agents.eca.older.forms import read_result
from eca_nvim.agents.eca.older.translator import Translator
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
from eca_nvim.protocol.eca.code import CompletionParams
from eca_nvim.protocol.eca.memory import MemoryListParams
from eca_nvim.protocol.eca.tools import (
    JobKillParams,
    JobOutputParams,
    JobsListParams,
    McpAddParams,
    McpRemoveParams,
    McpUpdateParams,
)
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
    CompletionParams.method: "cannot complete code",
    MemoryListParams.method: "has no memory",
    JobsListParams.method: "cannot list what runs in the background",
    JobOutputParams.method: "cannot show what a command has printed",
    JobKillParams.method: "cannot end it",
    McpAddParams.method: "cannot add MCP servers",
    McpUpdateParams.method: "cannot change MCP servers",
    McpRemoveParams.method: "cannot remove MCP servers",
}
"""What a server cannot do if it does not know a method."""


class EcaServer:
    """One server process."""

    def __init__(self, connection: Connection, translator: Translator) -> None:
        self._connection = connection
        self.translator = translator
        self.dialect = translator.dialect
        self.ids = translator.ids
        self.notify = translator.notify

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
            raise self.refusal(method, fault) from fault
        except ConnectionClosed as fault:
            raise AgentRefused(f"{method} failed: {one_line(str(fault))}") from fault
        except DecodeError as fault:
            line = f"{method} failed: the answer is malformed: {one_line(str(fault))}"
            raise AgentRefused(line) from fault
        if isinstance(result, contexts.QueryContextResult):
            self.translator.note_resources(result.contexts)
        return result

    def refusal(self, method: str, fault: RemoteError) -> AgentRefused:
        """Return what a request was refused with; one that is not known is not sent again."""
        if fault.code == METHOD_NOT_FOUND:
            self.dialect.note_absent(method)
            return _lacks(method)
        return refusal(method, fault.code, fault.message)

    def start(self, params: Request[Any], on_answer: Callable[[PendingRequest], None]) -> None:
        """Queue a request whose response is read in order with the server's other messages."""
        written = self.translator.params(params)
        self._connection.start_request(params.method, written, on_answer)


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
