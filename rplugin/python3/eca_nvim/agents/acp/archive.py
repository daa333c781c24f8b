"""Archive: lists, loads, pages, renames, copies and deletes the sessions that an ACP agent keeps.

Rules kept here:
- Every request waits for its answer; every failure becomes one line (AgentRefused).
- An agent that cannot list its sessions, but loads them, has those that this project remembers.
- A list is read page by page, until the agent names no further page, names one again, or has
  listed enough.
- A method that the agent announced and does not know is a feature that it lacks from then on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from operator import itemgetter
from typing import Final, NoReturn, TypeVar

import anyio
from msgspec.structs import replace

from eca_nvim.agents.acp.faults import Faults
from eca_nvim.agents.acp.introduction import Abilities
from eca_nvim.agents.acp.memory import ListedSession, Memory
from eca_nvim.agents.acp.prompt import typed_title
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.archive import (
    AgentLacks,
    AgentRefused,
    ChatSummary,
    CursorExpired,
    OpenedChat,
)
from eca_nvim.agents.base import Emit
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary import events, options
from eca_nvim.jsonrpc import METHOD_NOT_FOUND
from eca_nvim.path_risks import real_path
from eca_nvim.protocol.acp import DecodeError, decode_result, encode
from eca_nvim.protocol.acp.sessions import (
    DeleteSessionParams,
    ListSessionsParams,
    SessionSummary,
    SetTitleParams,
)
from eca_nvim.protocol.base.types import Request
from eca_nvim.transport import Connection, ConnectionClosed, RemoteError

MOST_LISTED: Final = 20_000
"""Most sessions that are read of a list."""
MOST_PAGES: Final = 2_000
ANSWER_SECONDS: Final = 60.0
"""Time for the answer to each request here."""

NOT_SENT: Final = "The agent knows what was said in this chat, but has not sent it."
NEWEST: Final = 100
"""Messages that are shown of a copy at first."""

_CANNOT: Final = {
    options.Ability.LIST: "list its saved chats",
    options.Ability.DELETE: "delete chats",
    options.Ability.RENAME: "rename chats",
}

_ResultT = TypeVar("_ResultT")

logger = logging.getLogger(__name__)


class AcpArchive:
    """The sessions of one agent process (`archive.Archive`); `stop` ends the turn of a chat."""

    def __init__(
        self,
        connection: Connection,
        sessions: Sessions,
        memory: Memory,
        faults: Faults,
        cwd: str,
        stop: Callable[[str], None],
        abilities: Abilities,
        emit: Emit,
    ) -> None:
        self._connection = connection
        self._sessions = sessions
        self._memory = memory
        self._faults = faults
        self._cwd = cwd
        self._stop = stop
        self._abilities = abilities
        self._emit = emit
        self.remembers = False
        """Whether the agent cannot list its sessions: those that we remember are listed."""

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        """Return the sessions of this folder, newest first (session/list)."""
        if self.remembers:
            return self._remembered()[:limit]
        sessions = await self._listed()
        here = {cwd for cwd in {it.cwd for it in sessions} if self._is_here(cwd)}
        found = {it.session_id: it for it in sessions if it.cwd in here}
        chats = self._memory.kept.chats_of(found)
        listed = dict(zip(chats, found.values(), strict=True))
        self._memory.listed = {
            chat: ListedSession(it.session_id, it.title and typed_title(it.title))
            for chat, it in listed.items()
        }
        summaries = [
            ChatSummary(
                chat, self._memory.listed[chat].title, updated_ms=_milliseconds(it.updated_at)
            )
            for chat, it in listed.items()
        ]
        summaries.sort(key=lambda it: it.updated_ms or 0, reverse=True)
        return summaries[:limit]

    async def open_chat(self, chat_id: str, limit: int | None = None) -> OpenedChat:
        """Load a chat with its newest messages (session/load)."""
        if self._memory.session_of(chat_id) is None:
            raise AgentRefused("the agent does not have this chat")
        return self._shown(await self._sessions.load(chat_id), limit)

    async def history(self, chat_id: str, before: str, limit: int | None = None) -> Page:
        """Return the messages before a cursor, of what the agent sent when it loaded the chat."""
        replay = self._memory.replays.get(chat_id)
        if replay is None:
            raise AgentRefused("the older messages of this chat are not kept any more")
        try:
            return replay.page(limit, before)
        except CursorExpired as fault:
            raise AgentRefused(str(fault)) from fault

    async def rename(self, chat_id: str, title: str) -> None:
        """Rename a chat (session/set_title)."""
        session = await self._sessions.opened(chat_id)
        named = await self._ask(options.Ability.RENAME, SetTitleParams(session.id, title))
        self._emit([events.Addressed(chat_id, events.TitleChanged(named.title or title))])

    async def delete(self, chat_id: str) -> None:
        """Delete a chat for good (session/delete); its turn is stopped first."""
        session_id = self._memory.session_of(chat_id)
        session = self._sessions.of_chat(chat_id)
        if session.turn_runs:
            self._stop(chat_id)
        if session_id or session.id:
            await self._ask(
                options.Ability.DELETE, DeleteSessionParams(session.id or session_id or "")
            )
        self._sessions.forget(chat_id)

    async def fork(self, chat_id: str, content_id: str | None) -> tuple[str, OpenedChat]:
        """Copy a whole chat (session/fork)."""
        if content_id is not None:
            raise AgentLacks("this agent copies whole chats only")
        copy = await self._sessions.fork(chat_id)
        return copy.chat_id, self._shown(copy, NEWEST)

    async def clear(self, chat_id: str) -> NoReturn:  # noqa: ARG002
        """Raise AgentLacks."""
        raise AgentLacks("this agent cannot clear chats: :Eca new starts one")

    async def rollback(
        self,
        chat_id: str,  # noqa: ARG002
        content_id: str,  # noqa: ARG002
        *,
        messages: bool,  # noqa: ARG002
        tools: bool,  # noqa: ARG002
    ) -> NoReturn:
        """Raise AgentLacks."""
        raise AgentLacks("this agent cannot roll back messages")

    async def add_flag(self, chat_id: str, content_id: str, text: str) -> NoReturn:  # noqa: ARG002
        """Raise AgentLacks."""
        raise AgentLacks("this agent has no flags")

    async def remove_flag(self, chat_id: str, flag_id: str) -> NoReturn:  # noqa: ARG002
        """Raise AgentLacks."""
        raise AgentLacks("this agent has no flags")

    def _is_here(self, cwd: str) -> bool:
        """Return whether a session's folder is ours; some agents resolve links, or name none."""
        with suppress(ValueError):  # no file can have this path
            return not cwd or real_path(cwd) == real_path(self._cwd)
        return False

    def _shown(self, session: Session, limit: int | None) -> OpenedChat:
        """Return the newest messages of a session that was opened to be shown."""
        listed = self._memory.listed.get(session.chat_id)
        replay = self._memory.replays.get(session.chat_id)
        page = replay.page(limit) if replay else Page()
        notices = [*([] if replay else [events.NoticeReceived(NOT_SENT)]), *session.take_notices()]
        below = [events.Addressed(session.chat_id, it) for it in notices]
        shown = replace(page, events=[*page.events, *below])
        title = None if listed is None else listed.title
        if self.remembers:  # else the list has the agent's own title
            title = session.inbox.title or title
        return OpenedChat(shown, title)

    def _remembered(self) -> Sequence[ChatSummary]:
        """Return the chats that were used in this project, newest first."""
        used = sorted(self._memory.kept.used(), key=itemgetter(-1), reverse=True)
        self._memory.listed = {
            chat: ListedSession(session_id, title or None) for chat, session_id, title, _ in used
        }
        return [
            ChatSummary(chat, title=title or None, updated_ms=int(when * 1000))
            for chat, _, title, when in used
        ]

    async def _listed(self) -> Sequence[SessionSummary]:
        """Read the pages of the list."""
        found: list[SessionSummary] = []
        cursors: set[str | None] = {None}
        cursor: str | None = None
        while len(found) < MOST_LISTED and len(cursors) <= MOST_PAGES:
            page = await self._ask(options.Ability.LIST, ListSessionsParams(self._cwd, cursor))
            found += page.sessions
            cursor = page.next_cursor
            if cursor in cursors:
                return found
            cursors.add(cursor)
        logger.warning("the list of sessions goes on after %d of them", len(found))
        return found[:MOST_LISTED]

    async def _ask(self, ability: options.Ability, params: Request[_ResultT]) -> _ResultT:
        """Send a request and return its result. Raises AgentRefused."""
        if not self._abilities.has(ability):
            raise AgentLacks(f"this agent cannot {_CANNOT[ability]}")
        failed = f"{params.method} failed"
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                answer = await self._connection.request(params.method, encode(params))
            return decode_result(type(params), answer)
        except TimeoutError:
            raise AgentRefused(f"{failed}: no answer after {ANSWER_SECONDS:.0f} s") from None
        except RemoteError as fault:
            if fault.code == METHOD_NOT_FOUND:
                self._abilities.lost(ability)
                raise AgentLacks(f"this agent cannot {_CANNOT[ability]}") from fault
            raise AgentRefused(self._faults.line(failed, fault)) from fault
        except DecodeError as fault:
            raise AgentRefused(self._faults.line(failed, fault)) from fault
        except ConnectionClosed as fault:
            raise AgentRefused(f"{failed}: the agent has ended") from fault


def _milliseconds(when: str | None) -> int | None:
    """Return a time of ISO 8601 in ms since 1970, None if it is none."""
    try:
        time = datetime.fromisoformat(when or "")
    except ValueError:
        return None
    return int(_in_utc(time).timestamp() * 1000)


def _in_utc(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
