"""What the demo agent remembers of its chats: messages, as it would send them again.

Rules kept here: a message is all that is sent for it when a chat is replayed, in the shapes of the
real server: text begins with a line break, a tool call comes in four contents, what only the system
said is forgotten. What a subagent did is remembered by the call that ran it.
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
    """What all chats share: tools and chats that are not asked about, what undoes a call, by id."""

    approved: set[str] = field(default_factory=set)
    trusted: set[str] = field(default_factory=set)
    undo: dict[str, Before] = field(default_factory=dict)

    def trust(self, chat_id: str, said: object) -> None:
        """Hear whether a chat is trusted; what says nothing of it changes nothing."""
        match said:
            case True:
                self.trusted.add(chat_id)
            case False:
                self.trusted.discard(chat_id)


@dataclass
class Message:
    """A message: who speaks, and what is sent for it; `id` is what it can be found by."""

    role: str
    contents: list[Content]
    id: str = ""
    pieces: list[str] = field(default_factory=list)

    def sent(self, chat_id: str) -> list[Mapping[str, object]]:
        """Give the parameters of chat/contentReceived, one after the other."""
        contents = self.contents
        if self.pieces:
            self.pieces[:] = ["".join(self.pieces)]
            contents = [{**contents[0], "text": f"\n{self.pieces[0].strip()}"}]
        return [{"chatId": chat_id, "role": self.role, "content": it} for it in contents]


@dataclass
class KeptChat:
    """A chat as it can be replayed; times are ms since 1970."""

    id: str
    title: str | None = None
    messages: list[Message] = field(default_factory=list)
    created: int = field(default_factory=lambda: round(time.time() * 1000))
    updated: int = field(default_factory=lambda: round(time.time() * 1000))
    choice: Choice = field(default_factory=Choice)

    def find(self, content_id: str) -> int | None:
        """Find the last message of an id."""
        places = [place for place, it in enumerate(self.messages) if it.id == content_id]
        return places[-1] if places else None


class Memory:
    """All chats that were talked in, filled by listening to what is sent."""

    def __init__(self) -> None:
        self.chats: dict[str, KeptChat] = {}
        self.deaf = False
        """Whether what is sent is a replay."""

    def hear(self, method: str, params: object) -> None:
        """Remember a notification on its way to the client (hot while text streams)."""
        if self.deaf or not isinstance(params, dict) or "parentChatId" in params:
            return
        if method == "chat/opened":
            self.chats.setdefault(params["chatId"], KeptChat(params["chatId"]))
        elif method == "chat/contentReceived":
            self._content(self.chats[params["chatId"]], params["role"], params["content"])

    def _content(self, chat: KeptChat, role: str, content: Content) -> None:
        match content:
            case {"type": "text", "text": str(text)} if role == "assistant":
                self._speech(chat, text)
            case {"type": "text", "contentId": str(content_id), "text": str(text)}:
                said = {**content, "text": f"\n{text.strip()}"}
                chat.messages.append(Message(role, [said], content_id))
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

    def _speech(self, chat: KeptChat, text: str) -> None:
        last = chat.messages[-1] if chat.messages else None
        if last is None or not last.pieces:
            last = Message("assistant", [{"type": "text"}])
            chat.messages.append(last)
        last.pieces.append(text)

    def _thought(self, chat: KeptChat, thought: str, content: Content) -> None:
        place = chat.find(thought)
        if place is None:
            chat.messages.append(Message("assistant", [content], thought))
        else:
            chat.messages[place].contents.append(content)


def _call(ended: Content, prepared: Content | None = None) -> list[Content]:
    """Give the four contents of a call that is over."""
    known = {key: value for key, value in ended.items() if key not in ("outputs", "totalTimeMs")}
    first = {**(prepared or known), "type": "toolCallPrepare", "argumentsText": ""}
    last = {"outputs": [], "totalTimeMs": None, **ended, "type": "toolCalled"}
    steps = [{**known, "type": kind} for kind in ("toolCallRun", "toolCallRunning")]
    return [first, *steps, last]


def flag(text: str) -> Message:
    """Make a bookmark."""
    flag_id = str(uuid.uuid4())
    return Message("system", [{"type": "flag", "text": text, "contentId": flag_id}], flag_id)


def yesterday() -> KeptChat:
    """Make a chat of another day, long enough to be read by the page."""
    chat = KeptChat("demo-yesterday", "A long talk of yesterday")
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
