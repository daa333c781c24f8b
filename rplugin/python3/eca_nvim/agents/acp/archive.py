"""Archive: lists, loads, pages, renames, copies and deletes the sessions that an agent keeps."""

import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, NoReturn, TypeAlias, TypeVar

from msgspec.structs import replace

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, ChatSummary, OpenedChat
from eca_nvim.agents.acp import exchanged
from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.prompt import typed_title
from eca_nvim.agents.acp.session import Session, TurnState
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.recap import is_title
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary import events
from eca_nvim.chat.vocabulary.options import Ability
from eca_nvim.jsonrpc import METHOD_NOT_FOUND
from eca_nvim.path_risks import real_path
from eca_nvim.protocol.acp import Request, sessions
from eca_nvim.transport import RemoteError

MOST_LISTED: Final = 20_000
"""Most sessions that are read of a list."""
MOST_PAGES: Final = 2_000
ANSWER_SECONDS: Final = 60.0
"""Time for the answer to each request here."""

NOT_SENT: Final = "The agent knows what was said in this chat, but has not sent it."
NEWEST: Final = 100
"""Messages that are shown of a copy at first."""

_CANNOT: Final = {
    Ability.LIST: "list its saved chats",
    Ability.DELETE: "delete chats",
    Ability.RENAME: "rename chats",
}
_Row: TypeAlias = tuple[str, str, str | None, int | None]
"""A chat, its session and title, and when it was used last (ms since 1970)."""
_ResultT = TypeVar("_ResultT")

logger = logging.getLogger(__name__)


def _lacks(why: str) -> Callable[..., Coroutine[object, object, NoReturn]]:
    """Make a method that no agent has: it raises AgentLacks."""

    async def lacks(*_args: object, **_more: object) -> NoReturn:
        raise AgentLacks(why)

    return lacks


class AcpArchive:
    """The sessions of one agent process (`abilities.Archive`).

    stop: ends the turn of a chat. release: ends what a session that is left has begun.
    """

    clear = _lacks("this agent cannot clear chats: :Eca new starts one")
    rollback = _lacks("this agent cannot roll back messages")
    add_flag = remove_flag = _lacks("this agent has no flags")

    def __init__(
        self,
        link: Link,
        sessions: Sessions,
        stop: Callable[[str], None],
        release: Callable[[Session], None],
    ) -> None:
        self._link = link
        self._sessions = sessions
        self._memory = sessions.memory
        self._folder = sessions.setup.cwd
        self._stop = stop
        self._release = release
        self.remembers = False
        """Whether the agent loads sessions and cannot list them: we list those that we remember."""

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        """Return the sessions of this folder, newest first (session/list)."""
        # An agent that loads sessions, and cannot list them, has those that this project remembers.
        rows: list[_Row]
        if self.remembers:
            used = self._memory.kept.used()
            rows = [(chat, it, title or None, int(when * 1000)) for chat, it, title, when in used]
        else:
            rows = await self._saved()
        self._memory.listed = {chat: (it, title) for chat, it, title, _ in rows}
        rows.sort(key=lambda row: row[-1] or 0, reverse=True)
        summaries = [ChatSummary(chat, title, updated_ms=when) for chat, _, title, when in rows]
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
        return replay.page(limit, before)

    async def rename(self, chat_id: str, title: str) -> None:
        """Rename a chat (session/set_title)."""
        session = await self._sessions.opened(chat_id)
        named = await self._ask(Ability.RENAME, sessions.SetTitleParams(session.id, title))
        session.say(events.TitleChanged(named.title or title))

    async def delete(self, chat_id: str) -> None:
        """Delete a chat for good (session/delete); its turn is stopped first."""
        session = self._sessions.of_chat(chat_id)
        session_id = session.id or self._memory.session_of(chat_id)
        if session.turn is not TurnState.NONE:
            self._stop(chat_id)
        if session_id:
            await self._ask(Ability.DELETE, sessions.DeleteSessionParams(session_id))
        self._release(session)
        self._sessions.forget(chat_id)

    async def begin_again(self, chat_id: str) -> None:
        """Go on in a new session (session/new), and close the old one (session/close)."""
        old = await exchanged.begin_again(self._sessions, chat_id)
        if old is not None:
            self._release(old)
            self._sessions.left(old)

    async def branch(self, chat_id: str, before: str | None) -> str:
        """Let a chat go on in a new session (session/new); the old one stays open."""
        if before is not None:
            raise AgentLacks("this agent cannot roll back messages")
        return await exchanged.branch(self._sessions, chat_id)

    async def exchange(self, chat_id: str, other_id: str) -> None:
        """Let two chats have each other's session, which is opened again if it is not open."""
        await exchanged.exchange(self._sessions, chat_id, other_id)

    async def fork(self, chat_id: str, content_id: str | None) -> tuple[str, OpenedChat]:
        """Copy a whole chat (session/fork)."""
        if content_id is not None:
            raise AgentLacks("this agent copies whole chats only")
        copy = await self._sessions.fork(chat_id)
        return copy.chat_id, self._shown(copy, NEWEST)

    def _is_here(self, cwd: str) -> bool:
        """Return whether a session's folder is ours; some agents resolve links, or name none."""
        with suppress(ValueError):  # no file can have this path
            return not cwd or real_path(cwd) == real_path(self._folder)
        return False

    def _shown(self, session: Session, limit: int | None) -> OpenedChat:
        """Return the newest messages of a session that was opened to be shown."""
        _, title = self._memory.listed.get(session.chat_id, ("", None))
        replay = self._memory.replays.get(session.chat_id)
        page = replay.page(limit) if replay else Page()
        notices = [] if replay else [events.NoticeReceived(NOT_SENT)]
        notices += session.past.take_notices()
        below = [events.Addressed(session.chat_id, it) for it in notices]
        shown = replace(page, events=[*page.events, *below])
        if self.remembers:  # else the list has the agent's own title
            title = session.inbox.title or title
        return OpenedChat(shown, title)

    async def _saved(self) -> list[_Row]:
        """Return the sessions that the agent has saved in this folder (session/list)."""
        listed = await self._listed()
        here = {cwd for cwd in {it.cwd for it in listed} if self._is_here(cwd)}
        found = {it.session_id: it for it in listed if it.cwd in here}
        chats = self._memory.kept.chats_of(found)
        return [
            (chat, it.session_id, self._title(it), _milliseconds(it.updated_at))
            for chat, it in zip(chats, found.values(), strict=True)
        ]

    def _title(self, listed: sessions.SessionSummary) -> str | None:
        """Return the title of a session; if the agent made it of a recap, the kept one."""
        if not is_title(listed.title or ""):
            return listed.title and typed_title(listed.title)
        kept = (title for _, it, title, _ in self._memory.kept.used() if it == listed.session_id)
        return next(kept, None)

    async def _listed(self) -> Sequence[sessions.SessionSummary]:
        """Read the pages of the list, until one names no further page, or one that was read."""
        found: list[sessions.SessionSummary] = []
        cursors: set[str | None] = {None}
        cursor: str | None = None
        while len(found) < MOST_LISTED and len(cursors) <= MOST_PAGES:
            page = await self._ask(Ability.LIST, sessions.ListSessionsParams(self._folder, cursor))
            found += page.sessions
            cursor = page.next_cursor
            if cursor in cursors:
                return found
            cursors.add(cursor)
        logger.warning("the list of sessions goes on after %d of them", len(found))
        return found[:MOST_LISTED]

    async def _ask(self, ability: Ability, params: Request[_ResultT]) -> _ResultT:
        """Send a request and return its result. Raises AgentRefused in one line."""
        cannot = f"this agent cannot {_CANNOT[ability]}"
        if ability not in self._link.abilities:
            raise AgentLacks(cannot)
        try:
            return await self._link.ask(params, f"{params.method} failed", ANSWER_SECONDS)
        except AgentRefused as refused:
            fault = refused.__cause__
            if not isinstance(fault, RemoteError) or fault.code != METHOD_NOT_FOUND:
                raise
            # It has announced the method: from now on it lacks that.
            self._link.announce(self._link.abilities - {ability})
            raise AgentLacks(cannot) from fault


def _milliseconds(when: str | None) -> int | None:
    """Return a time of ISO 8601 in ms since 1970, None if it is none."""
    try:
        time = datetime.fromisoformat(when or "")
    except ValueError:
        return None
    in_utc = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return int(in_utc.timestamp() * 1000)
