"""The archive: requests about the demo agent's saved chats: list, open, page, change, copy.

Rules kept here: a replay is sent before the answer, as by the real server. Changes of files are
undone from the last to the first, and only once.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from eca_nvim.demo.choices import Choice
from eca_nvim.demo.memory import Memory, Message, SavedChat, Session, flag, yesterday
from eca_nvim.demo.tools import restore_files
from eca_nvim.demo.wire import Wire

Params = Mapping[str, object]


class Archive:
    """The chats of one demo agent."""

    def __init__(self, wire: Wire, session: Session) -> None:
        self._wire = wire
        self._session = session
        self._memory = Memory()
        old = yesterday()
        self._memory.chats[old.id] = old
        wire.on_sent = self._memory.record
        self.requests: Mapping[str, Callable[[Params], object]] = {
            "chat/list": self._list,
            "chat/open": self._open,
            "chat/history": self._history,
            "chat/update": self._update,
            "chat/clear": self._clear,
            "chat/delete": self._delete,
            "chat/rollback": self._roll_back,
            "chat/fork": self._fork,
            "chat/addFlag": self._add_flag,
            "chat/removeFlag": self._remove_flag,
        }
        self.notifications: Mapping[str, Callable[[Params], None]] = {
            "chat/selectedModelChanged": self._choose_model,
            "chat/selectedAgentChanged": self._choose_agent,
        }

    def find(self, chat_id: str) -> SavedChat | None:
        """Return a saved chat, or None."""
        return self._memory.chats.get(chat_id)

    def choose(self, chat_id: str, params: Params) -> Choice:
        """Return a chat's choice after a message; it is saved if the chat is known."""
        chat = self.find(chat_id) or SavedChat(chat_id)
        chat.choice = chat.choice.changed(params)
        return chat.choice

    def _choose_model(self, params: Params) -> None:
        chosen = self.choose(str(params.get("chatId")), params)
        self._send_choice(params, chosen.config_fields())

    def _choose_agent(self, params: Params) -> None:
        chat = self._chat(params) or SavedChat("")
        chat.choice = replace(chat.choice, agent=str(params.get("agent")))
        self._send_choice(params, {"selectModel": chat.choice.model, **chat.choice.config_fields()})

    def _send_choice(self, params: Params, config: Mapping[str, object]) -> None:
        """Send the configuration after a choice: for the chat if it is known, else for all."""
        chat = self._chat(params)
        address = {} if chat is None else {"chatId": chat.id}
        self._wire.notify("config/updated", {"chat": config, **address})

    def _chat(self, params: Params) -> SavedChat | None:
        return self.find(str(params.get("chatId")))

    def _list(self, _params: Params) -> object:
        chats = sorted(self._memory.chats.values(), key=lambda it: it.updated, reverse=True)
        return {
            "chats": [
                {
                    "id": chat.id,
                    "title": chat.title,
                    "status": "idle",
                    "messageCount": len(chat.messages),
                    "createdAt": chat.created,
                    "updatedAt": chat.updated,
                    "model": chat.choice.model,
                }
                for chat in chats
            ]
        }

    def _open(self, params: Params) -> object:
        chat = self._chat(params)
        if chat is None:
            return {"found": False}
        page, meta = _window(chat, params)
        self._replay(chat, page, opened=True)
        chosen, trusted = chat.choice, chat.id in self._session.trusted
        selection = {"model": chosen.model, "agent": chosen.agent, "variant": chosen.variant}
        return {"found": True, "chatId": chat.id, "title": chat.title, "meta": meta} | {
            "selection": {**selection, "variants": chosen.variants, "trust": trusted}
        }

    def _history(self, params: Params) -> object:
        chat = self._chat(params)
        if chat is None:
            return {"error": {"code": "chat_not_found", "message": "no such chat"}}
        if str(params.get("before") or len(chat.messages)) not in _cursors(chat):
            return {"error": {"code": "cursor_expired", "message": "refetch the latest page"}}
        page, meta = _window(chat, params)
        return {"contents": [it for message in page for it in message.sent(chat.id)], "meta": meta}

    def _update(self, params: Params) -> object:
        """Change the title, or the trust for later tool calls; pending calls still wait."""
        chat, title = self._chat(params), params.get("title")
        self._session.trust(str(params.get("chatId")), params.get("trust"))
        if chat is not None and isinstance(title, str):
            content = {"type": "metadata", "title": " ".join(title.split())[:40]}
            renamed = {"chatId": chat.id, "role": "system", "content": content}
            self._wire.notify("chat/contentReceived", renamed)
        return {}

    def _clear(self, params: Params) -> object:
        chat = self._chat(params)
        if chat is not None:
            chat.messages.clear()
            self._wire.notify("chat/cleared", {"chatId": chat.id, "messages": True})
        return {}

    def _delete(self, params: Params) -> object:
        self._memory.chats.pop(str(params.get("chatId")), None)
        self._session.trust(str(params.get("chatId")), value=False)
        self._wire.notify("chat/deleted", {"chatId": params.get("chatId")})
        return {}

    def _roll_back(self, params: Params) -> object:
        chat, include = self._chat(params), params.get("include")
        if chat is None or not isinstance(include, list):
            return {}
        found = chat.find(str(params.get("contentId")))
        place = len(chat.messages) if found is None else found
        if "tools" in include:
            for message in reversed(chat.messages[place:]):
                restore_files(self._session.undo.pop(message.id, {}))
        if "messages" in include:
            del chat.messages[place:]
            self._replay(chat, chat.messages)
        return {}

    def _fork(self, params: Params) -> object:
        chat = self._chat(params)
        place = chat.find(str(params.get("contentId"))) if chat else None
        if chat is None or place is None:
            return {}
        copy = SavedChat(str(uuid.uuid4()), f"{chat.title} (2)", chat.messages[: place + 1])
        copy.choice = chat.choice
        self._memory.chats[copy.id] = copy
        self._wire.notify("chat/opened", {"chatId": copy.id, "title": copy.title})
        self._replay(copy, copy.messages, clear=False)
        content = {"type": "text", "text": f"Chat forked to: {copy.title}"}
        forked = {"chatId": chat.id, "role": "system", "content": content}
        self._wire.notify("chat/contentReceived", forked)
        return {}

    def _add_flag(self, params: Params) -> object:
        chat = self._chat(params)
        place = chat.find(str(params.get("contentId"))) if chat else None
        if chat is not None and place is not None:
            chat.messages.insert(place + 1, flag(str(params.get("text"))))
            self._replay(chat, chat.messages)
        return {}

    def _remove_flag(self, params: Params) -> object:
        chat = self._chat(params)
        place = chat.find(str(params.get("contentId"))) if chat else None
        if chat is not None and place is not None:
            del chat.messages[place]
        return {}

    def _replay(
        self,
        chat: SavedChat,
        messages: Sequence[Message],
        *,
        clear: bool = True,
        opened: bool = False,
    ) -> None:
        """Send messages again."""
        self._memory.is_replaying = True
        if clear:
            self._wire.notify("chat/cleared", {"chatId": chat.id, "messages": True})
        if opened:
            self._wire.notify("chat/opened", {"chatId": chat.id, "title": chat.title})
        for message in messages:
            for params in message.sent(chat.id):
                self._wire.notify("chat/contentReceived", params)
        self._memory.is_replaying = False


def _cursors(chat: SavedChat) -> set[str]:
    """Return all cursors into a chat: the index of each message, and its end."""
    return {str(place) for place in range(len(chat.messages) + 1)}


def _window(chat: SavedChat, params: Params) -> tuple[Sequence[Message], Mapping[str, object]]:
    """Return a page of a chat, the newest messages before a cursor, and its description."""
    end = int(str(params.get("before") or len(chat.messages)))
    limit = params.get("limit")
    start = max(0, end - limit) if isinstance(limit, int) and limit > 0 else 0
    return chat.messages[start:end], {
        "total": len(chat.messages),
        "returned": end - start,
        "beforeCursor": str(start) if start else None,
        "afterCursor": str(end) if end < len(chat.messages) else None,
        "compactionCursor": None,
    }
