"""Memory: what is known of an agent's sessions beyond the life of its process."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct, field

from eca_nvim.agents.acp.replay import Replay


class KeptSessions(Protocol):
    """The sessions of one agent that are bound to chats of this project.

    A chat is bound by its first prompt, or by being opened.
    """

    def session_of(self, chat_id: str) -> str | None:
        """Return the id of a chat's session."""

    def chats_of(self, session_ids: Iterable[str]) -> Sequence[str]:
        """Return the id of the chat that stands for each session, the same in all Neovims."""

    def used(self) -> Iterable[tuple[str, str, str, float]]:
        """Yield the bound chats: id, session, title, and when it was used last (s since 1970)."""

    def keep(self, chat_id: str, session_id: str, title: str = "") -> int | None:
        """Bind a chat to a session that is in use here now; `title`: of a chat without one.

        Returns the process id of another running Neovim that uses it, the first time that is seen.
        """

    def drop(self, chat_id: str) -> None:
        """Forget the session of a chat."""


class Memory(Struct):
    """What outlives the processes of one agent.

    shown: our ids of the chats whose session was opened in this host, so that the view has what was
    said. replays: what was said before that, by chat. listed: by chat, the sessions that were
    listed last, with their titles.
    """

    kept: KeptSessions
    shown: set[str] = field(default_factory=set)
    replays: dict[str, Replay] = field(default_factory=dict)
    listed: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    def session_of(self, chat_id: str) -> str | None:
        """Return the id of the session that a chat stands for."""
        listed, _ = self.listed.get(chat_id, (None, None))
        return self.kept.session_of(chat_id) or listed

    def forget(self, chat_id: str) -> None:
        """Forget a chat that is gone."""
        self.kept.drop(chat_id)
        self.shown.discard(chat_id)
        self.replays.pop(chat_id, None)
