"""Chat ids: maps a server's chat ids to ours; today we create the ids, older servers did.

A server's id is ours from its response to our prompt on. We also guess: if exactly one prompt is
still without any message, and the server names an unknown chat, it means that one. If several
prompts are, the id is ambiguous (`is_doubtful`). A response corrects a wrong guess.
"""

from collections.abc import MutableMapping
from typing import Final

from eca_nvim.digests import new_id

_SUBAGENT: Final = "subagent-"


class ChatIds:
    """Our id and the server's id of every chat of one server process."""

    def __init__(self, kept: MutableMapping[str, str] | None = None) -> None:
        """kept: the server's ids by ours, of chats that got another one; outlives the process."""
        self._kept: MutableMapping[str, str] = {} if kept is None else kept
        self.by_theirs = {theirs: ours for ours, theirs in self._kept.items()}
        """Our ids by the server's; the same id for chats that are not ours."""
        self.unheard: dict[str, None] = {}
        """Our ids of chats that were prompted, with no message since; oldest first."""
        self.by_ours = dict(self._kept)
        """The server's ids by ours, for chats that were prompted; else it is the same."""
        self._guessed: set[str] = set()  # server's ids that no response has confirmed
        self._replaced: list[str] = []  # our ids, one for each replaced prompt without a response
        self._left: set[str] = set()  # server's ids of the chats of such prompts
        self._honours_ours = False  # then we no longer guess

    def prompted(self, chat_id: str, *, starts_chat: bool = False) -> None:
        """Note that a prompt of this chat was sent; `starts_chat`: without an id of the server.

        A chat may be prompted again before the server has named it, after a stop that got no
        answer. Then the server has two chats for it: that of the newer prompt is ours.
        """
        self.by_ours.setdefault(chat_id, chat_id)
        if starts_chat and chat_id in self.unheard:
            self._replaced.append(chat_id)
        self.unheard[chat_id] = None

    def opened(self, chat_id: str) -> None:
        """Note that the server has this chat, though we never sent it a prompt."""
        self.by_ours.setdefault(chat_id, chat_id)

    def was_prompted(self, chat_id: str) -> bool:
        """Return whether the server can know this chat."""
        return chat_id in self.by_ours

    def forgotten(self, chat_id: str) -> None:
        """Note that the server no longer has a chat: its next prompt starts another one."""
        self.by_ours.pop(chat_id, None)
        self.unheard.pop(chat_id, None)
        self._kept.pop(chat_id, None)

    def set_aside(self, chat_id: str) -> str:
        """Give our chat another id of the server; return the chat of ours that has its old one."""
        other_id = self._pair(self.theirs(chat_id), new_id())
        self._pair(new_id(), chat_id)
        self._keep(chat_id, other_id)
        return other_id

    def exchange(self, chat_id: str, other_id: str) -> None:
        """Give two chats of ours each other's id of the server."""
        mine, others = self.theirs(chat_id), self.theirs(other_id)
        self.by_ours[chat_id], self.by_ours[other_id] = others, mine
        self.by_theirs[others], self.by_theirs[mine] = chat_id, other_id
        self._keep(chat_id, other_id)

    def _keep(self, *chat_ids: str) -> None:
        self._kept.update((chat_id, self.by_ours[chat_id]) for chat_id in chat_ids)

    def minted(self, chat_id: str) -> str | None:
        """Return the id that the server created for our chat; None before it has one."""
        theirs = self.by_ours.get(chat_id, chat_id)
        return theirs if theirs != chat_id or chat_id in self.by_theirs else None

    def known(self) -> frozenset[str]:
        """Return our ids of all chats that were prompted or mentioned so far."""
        return frozenset((*self.by_ours, *self.by_theirs.values()))

    def theirs(self, chat_id: str) -> str:
        """Return the server's id of a chat of ours."""
        return self.by_ours.get(chat_id, chat_id)

    def is_doubtful(self, server_id: str) -> bool:
        """Return whether an id may mean one of several chats until a response arrives."""
        is_ambiguous = bool(self._replaced) or len(self._waiting()) > 1
        return is_ambiguous and server_id not in self.by_theirs and self._may_adopt(server_id)

    def is_replaced(self, chat_id: str) -> bool:
        """Return whether a newer prompt has replaced one of this chat that has no response."""
        return chat_id in self._replaced

    def leave(self, chat_id: str, server_id: str | None) -> None:
        """Note the response to a replaced prompt: what the server says in that chat is dropped."""
        self._replaced.remove(chat_id)
        if server_id is not None:
            self._left.add(server_id)

    def is_left(self, server_id: str) -> bool:
        """Return whether a chat is that of a replaced prompt."""
        return server_id in self._left

    def ours(self, server_id: str, *, adopt: bool = False) -> str:
        """Return our id for a server's id; `adopt`: the message is about a running turn."""
        chat_id = self.by_theirs.get(server_id)
        if chat_id is None:
            chat_id = self._meet(server_id, adopt=adopt)
        self.unheard.pop(chat_id, None)
        return chat_id

    def answered(self, chat_id: str, server_id: str | None) -> bool:
        """Note the response to a prompt; return whether it was the first message about it."""
        if server_id is not None:
            holder = self.by_theirs.get(server_id)
            is_strange = holder == server_id and server_id not in self.by_ours
            # The id is free: no chat has it, except by a guess.
            if holder is None or is_strange or server_id in self._guessed:
                self._pair(server_id, chat_id)
        self._guessed.discard(server_id or "")
        is_first = chat_id in self.unheard
        self.unheard.pop(chat_id, None)
        return is_first

    def _meet(self, server_id: str, *, adopt: bool) -> str:
        if server_id in self.by_ours:
            self._honours_ours = True
        elif adopt and self._may_adopt(server_id):
            waiting = self._waiting()
            if not waiting:
                return server_id
            self._guessed.add(server_id)
            return self._pair(server_id, waiting[0])
        self.by_theirs[server_id] = server_id
        return server_id

    def _may_adopt(self, server_id: str) -> bool:
        """Return whether a server may have created an id; those of subagents are always its own."""
        is_named_by_us = self._honours_ours or server_id in self.by_ours
        return not is_named_by_us and not server_id.startswith(_SUBAGENT)

    def _waiting(self) -> list[str]:
        return [it for it in self.unheard if self.by_ours[it] == it]

    def _pair(self, server_id: str, chat_id: str) -> str:
        holder = self.by_theirs.get(server_id)
        if holder != chat_id and self.by_ours.get(holder or "") == server_id:
            self.by_ours[holder or ""] = holder or ""
        self.by_theirs[server_id] = chat_id
        self.by_ours[chat_id] = server_id
        return chat_id
