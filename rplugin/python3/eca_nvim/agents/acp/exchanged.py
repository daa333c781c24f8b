"""Exchanged: a chat gets a new session, or that of another chat, and what it had is kept."""

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.acp.setup import Way


async def begin_again(sessions: Sessions, chat_id: str) -> Session | None:
    """Open a new session for a chat; return the old one, which is no chat's any more.

    Raises AgentRefused.
    """
    memory, by_chat = sessions.memory, sessions.by_chat
    old, was_renewed = by_chat.pop(chat_id, None), chat_id in memory.renewed
    memory.renewed.add(chat_id)
    try:
        await sessions.opened(chat_id)
    except AgentRefused:
        if chat_id in by_chat:  # else the chat is gone
            if not was_renewed:
                memory.renewed.discard(chat_id)
            by_chat[chat_id] = old or by_chat[chat_id]
            raise
    return old


async def branch(sessions: Sessions, chat_id: str) -> str:
    """Open a new session for a chat; return the id of the chat that has the old one.

    Raises AgentRefused.
    """
    old = await begin_again(sessions, chat_id)
    other_id = sessions.memory.set_aside(chat_id)
    sessions.memory.shown.add(other_id)
    if old is not None:
        old.chat_id, sessions.by_chat[other_id] = other_id, old
    return other_id


async def exchange(sessions: Sessions, chat_id: str, other_id: str) -> None:
    """Let two chats have each other's session; the first one's is open then.

    Raises AgentRefused, and nothing has changed.
    """
    wanted = sessions.of_chat(other_id)
    if not wanted.is_open and sessions.memory.session_of(other_id) is None:
        raise AgentRefused("the agent no longer has the session of this answer")
    _swap(sessions, chat_id, other_id)
    wanted.given_up.add(Way.NEW)  # it would know nothing of this answer
    try:
        await sessions.opened(chat_id)
    except AgentRefused:
        _swap(sessions, chat_id, other_id)
        raise
    finally:
        wanted.given_up.discard(Way.NEW)


def _swap(sessions: Sessions, chat_id: str, other_id: str) -> None:
    one, other = sessions.of_chat(chat_id), sessions.of_chat(other_id)
    sessions.by_chat.update({chat_id: other, other_id: one})
    one.chat_id, other.chat_id = other_id, chat_id
    sessions.memory.exchange(chat_id, other_id)
