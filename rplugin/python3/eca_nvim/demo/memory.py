"""Memory: the demo agent's saved chats, with their messages as a replay sends them.

Rules kept here: a replayed message has the form that the real server gives it. Text begins with a
line break, a tool call consists of four contents, system messages are not saved. A subagent's
messages are not saved either, only the call that ran it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eca_nvim.demo.choices import Choice
from eca_nvim.demo.tools import Before

Content = Mapping[str, object]


@dataclass
class Session:
    """State shared by all chats: approved tools, trusted chats, files before each call (by id)."""

    approved: set[str] = field(default_factory=set)
    trusted: set[str] = field(default_factory=set)
    undo: dict[str, Before] = field(default_factory=dict)

    def trust(self, chat_id: str, value: object) -> None:
        """Set whether a chat is trusted; any value but True and False changes nothing."""
        match value:
            case True:
                self.trusted.add(chat_id)
            case False:
                self.trusted.discard(chat_id)


@dataclass
class Message:
    """A message: its role and the contents that a replay sends; `id` may be empty."""

    role: str
    contents: list[Content]
    id: str = ""
    pieces: list[str] = field(default_factory=list)

    def sent(self, chat_id: str) -> list[Mapping[str, object]]:
        """Return the parameters of each chat/contentReceived that replays the message."""
        contents = self.contents
        if self.pieces:
            self.pieces[:] = ["".join(self.pieces)]
            contents = [{**contents[0], "text": f"\n{self.pieces[0].strip()}"}]
        return [{"chatId": chat_id, "role": self.role, "content": it} for it in contents]


@dataclass
class SavedChat:
    """A chat that can be replayed; times are ms since 1970."""

    id: str
    title: str | None = None
    messages: list[Message] = field(default_factory=list)
    created: int = field(default_factory=lambda: round(time.time() * 1000))
    updated: int = field(default_factory=lambda: round(time.time() * 1000))
    choice: Choice = field(default_factory=Choice)

    def find(self, content_id: str) -> int | None:
        """Return the index of the last message with an id, or None."""
        places = [place for place, it in enumerate(self.messages) if it.id == content_id]
        return places[-1] if places else None


class Memory:
    """All chats that had a prompt, recorded from the notifications that are sent."""

    def __init__(self) -> None:
        self.chats: dict[str, SavedChat] = {}
        self.is_replaying = False
        """While true, nothing is recorded."""

    def record(self, method: str, params: object) -> None:
        """Record a notification that is sent; called for each piece of streamed text."""
        if self.is_replaying or not isinstance(params, dict) or "parentChatId" in params:
            return
        if method == "chat/opened":
            self.chats.setdefault(params["chatId"], SavedChat(params["chatId"]))
        elif method == "chat/contentReceived":
            self._content(self.chats[params["chatId"]], params["role"], params["content"])

    def _content(self, chat: SavedChat, role: str, content: Content) -> None:
        match content:
            case {"type": "text", "text": str(text)} if role == "assistant":
                self._speech(chat, text)
            case {"type": "text", "contentId": str(content_id), "text": str(text)}:
                replayed = {**content, "text": f"\n{text.strip()}"}
                chat.messages.append(Message(role, [replayed], content_id))
                chat.updated = round(time.time() * 1000)
            case {"type": "metadata", "title": str(title)}:
                chat.title = title
            case {"type": "reasonStarted" | "reasonText" | "reasonFinished", "id": str(thought)}:
                self._thought(chat, thought, content)
            case {"type": "toolCalled", "id": str(call_id)}:
                chat.messages.append(Message(role, _call(content), call_id))
            case {"type": "toolCallRejected", "id": str(call_id)}:
                nothing = dict.fromkeys(("name", "server", "origin", "summary", "error"))
                chat.messages.append(Message(role, _call({**content, **nothing}, content), call_id))

    def _speech(self, chat: SavedChat, text: str) -> None:
        last = chat.messages[-1] if chat.messages else None
        if last is None or not last.pieces:
            last = Message("assistant", [{"type": "text"}])
            chat.messages.append(last)
        last.pieces.append(text)

    def _thought(self, chat: SavedChat, thought: str, content: Content) -> None:
        place = chat.find(thought)
        if place is None:
            chat.messages.append(Message("assistant", [content], thought))
        else:
            chat.messages[place].contents.append(content)


def _call(ended: Content, prepared: Content | None = None) -> list[Content]:
    """Return the four contents of a call that has ended."""
    known = {key: value for key, value in ended.items() if key not in ("outputs", "totalTimeMs")}
    first = {**(prepared or known), "type": "toolCallPrepare", "argumentsText": ""}
    last = {"outputs": [], "totalTimeMs": None, **ended, "type": "toolCalled"}
    steps = [{**known, "type": kind} for kind in ("toolCallRun", "toolCallRunning")]
    return [first, *steps, last]


def flag(text: str) -> Message:
    """Return a new flag."""
    flag_id = str(uuid.uuid4())
    return Message("system", [{"type": "flag", "text": text, "contentId": flag_id}], flag_id)


def yesterday() -> SavedChat:
    """Return a chat of the day before, long enough for several pages."""
    chat = SavedChat("demo-yesterday", "A long chat from yesterday")
    for number in range(1, 121):
        words: Sequence[tuple[str, str]] = (
            ("user", f"question {number}"),
            ("assistant", f"Answer **{number}**: all is well."),
        )
        for role, text in words:
            content = {"type": "text", "text": f"\n{text}"}
            content_id = f"yesterday-{number}" if role == "user" else ""
            if content_id:
                content["contentId"] = content_id
            chat.messages.append(Message(role, [content], content_id))
    chat.created -= 90_000_000
    chat.updated -= 86_400_000
    return chat
