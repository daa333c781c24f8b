"""Which of our chats a server means: we mint chat ids, but servers before that minted their own.

Rules kept here:
- Above the agent there are only our ids; a server only ever reads its own.
- A server's id is adopted when it answers a prompt of ours with that id, and by guess when one
  prompt alone has had no word yet and the server speaks of a chat nobody knows. While several
  prompts wait for their first word nobody can tell (`is_doubtful`). An answer corrects a guess.
- A server that has once used an id of ours honours them, and nothing is adopted from it by guess.
- Ids of subagents' chats are the server's alone.
"""

from __future__ import annotations

from typing import Final

_SUBAGENT: Final = "subagent-"


class ChatIds:
    """The two names of every chat of one server process."""

    def __init__(self) -> None:
        self._ours: dict[str, str] = {}  # by the server's id; its own id for strangers
        self._theirs: dict[str, str] = {}  # by ours, of the chats that were prompted
        self._silent: dict[str, None] = {}  # prompted, no word yet; the oldest first
        self._guessed: set[str] = set()  # server's ids that no answer has confirmed
        self._honours_ours = False

    def prompted(self, chat_id: str) -> None:
        """Remember that a prompt of this chat is on its way."""
        self._theirs.setdefault(chat_id, chat_id)
        self._silent[chat_id] = None

    def opened(self, chat_id: str) -> None:
        """Remember that the server has this chat, though we never prompted it."""
        self._theirs.setdefault(chat_id, chat_id)

    def was_prompted(self, chat_id: str) -> bool:
        """Return whether the server can know this chat."""
        return chat_id in self._theirs

    def forgotten(self, chat_id: str) -> None:
        """Take that the server has a chat no more: a prompt of it begins another one."""
        self._theirs.pop(chat_id, None)
        self._silent.pop(chat_id, None)

    def minted(self, chat_id: str) -> str | None:
        """Return the id that the server made for a chat of ours; None while it has made none."""
        theirs = self._theirs.get(chat_id, chat_id)
        return theirs if theirs != chat_id or chat_id in self._ours else None

    def known(self) -> frozenset[str]:
        """Return our ids of all chats that were prompted or spoken of so far."""
        return frozenset((*self._theirs, *self._ours.values()))

    def theirs(self, chat_id: str) -> str:
        """Return the server's id of a chat of ours."""
        return self._theirs.get(chat_id, chat_id)

    def is_doubtful(self, server_id: str | None) -> bool:
        """Return whether an id may be that of several chats: only an answer tells which (hot)."""
        if server_id is None or server_id in self._ours:
            return False
        return self._may_adopt(server_id) and len(self._waiting()) > 1

    def ours(self, server_id: str, *, adopt: bool = False) -> str:
        """Return our id of a chat the server named; `adopt` where it speaks of a running turn."""
        chat_id = self._ours.get(server_id)
        if chat_id is None:
            chat_id = self._meet(server_id, adopt=adopt)
        if self._silent:
            self._silent.pop(chat_id, None)
        return chat_id

    def answered(self, chat_id: str, server_id: str | None) -> bool:
        """Take note of the answer to a prompt; return whether it was the first word on it."""
        if server_id is not None and self._is_free(server_id):
            self._pair(server_id, chat_id)
        self._guessed.discard(server_id or "")
        silent = chat_id in self._silent
        self._silent.pop(chat_id, None)
        return silent

    def _meet(self, server_id: str, *, adopt: bool) -> str:
        if server_id in self._theirs:
            self._honours_ours = True
        elif adopt and self._may_adopt(server_id):
            waiting = self._waiting()
            if not waiting:
                return server_id
            self._guessed.add(server_id)
            return self._pair(server_id, waiting[0])
        self._ours[server_id] = server_id
        return server_id

    def _may_adopt(self, server_id: str) -> bool:
        is_named_by_us = self._honours_ours or server_id in self._theirs
        return not is_named_by_us and not server_id.startswith(_SUBAGENT)

    def _waiting(self) -> list[str]:
        return [it for it in self._silent if self._theirs[it] == it]

    def _is_free(self, server_id: str) -> bool:
        """Return whether an answer may name a chat by an id: no chat has it, but by guess."""
        holder = self._ours.get(server_id, server_id)
        is_strange = holder == server_id and holder not in self._theirs
        return is_strange or server_id not in self._ours or server_id in self._guessed

    def _pair(self, server_id: str, chat_id: str) -> str:
        holder = self._ours.get(server_id)
        if holder != chat_id and self._theirs.get(holder or "") == server_id:
            self._theirs[holder or ""] = holder or ""
        self._ours[server_id] = chat_id
        self._theirs[chat_id] = server_id
        return chat_id
