"""Kept sessions: which session of an agent each chat of the project is bound to."""

from collections.abc import Container, Iterable, Iterator, Sequence

from eca_nvim.digests import name_digest
from eca_nvim.session.persistence import Persistence


class KeptSessions:
    """The sessions of one server, by its name (`agents.acp.memory.KeptSessions`)."""

    def __init__(self, server: str, persistence: Persistence) -> None:
        self._server = server
        self._persistence = persistence
        self._checked: set[str] = set()
        """Sessions of which we know whether another Neovim uses them."""

    def session_of(self, chat_id: str) -> str | None:
        """Return the id of a chat's session."""
        saved = self._persistence.sessions.get(chat_id)
        return saved.id if saved is not None and saved.server == self._server else None

    def chats_of(self, session_ids: Iterable[str]) -> Sequence[str]:
        """Return the id of the chat that stands for each session, the same in all Neovims."""
        kept = self._persistence.sessions
        bound = {it.id: chat for chat, it in kept.items() if it.server == self._server}
        return [bound.get(it) or self._free_chat_id(it, kept) for it in session_ids]

    def used(self) -> Iterator[tuple[str, str, str, float]]:
        """Yield the bound chats: id, session, title, and when it was used last (s since 1970)."""
        for chat, it in self._persistence.sessions.items():
            if it.server == self._server:
                yield chat, it.id, it.title, it.changed

    def keep(self, chat_id: str, session_id: str, title: str = "") -> int | None:
        """Bind a chat to a session that is in use here now; `title`: of a chat without one.

        Returns the process id of another running Neovim that uses it, the first time.
        """
        other = None
        if session_id not in self._checked:
            self._checked.add(session_id)
            other = next(self._persistence.users(self._server, session_id), None)
        self._persistence.keep_session(chat_id, self._server, session_id, title)
        return other

    def drop(self, chat_id: str) -> None:
        """Forget the session of a chat."""
        if self.session_of(chat_id) is not None:
            self._persistence.drop_session(chat_id)

    def _free_chat_id(self, session_id: str, kept: Container[str]) -> str:
        """Return an id for an unbound session: its first chat may have got a new session since."""
        chat_id = self._chat_id(session_id)
        return self._chat_id(f"{session_id}\n{chat_id}") if chat_id in kept else chat_id

    def _chat_id(self, session_id: str) -> str:
        name = f"{self._server}\n{session_id}"
        return name_digest(name.encode(errors="surrogatepass"))
