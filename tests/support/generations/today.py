"""A server of today: agents, the client's chat ids, statuses, steering, trust."""

from collections.abc import Mapping
from typing import Any, ClassVar, TextIO, TypeAlias

from tests.support.generations.behaviors import CONTEXTS
from tests.support.generations.peer import allow, need, run
from tests.support.generations.tool_servers import ToolServers

Value: TypeAlias = Any


class Today(ToolServers):
    """Uses the client's chat ids and sends statuses."""

    agents = ("code", "plan")
    agent_name = "agent"
    option = "chatAgent"
    contexts: ClassVar[Mapping[str, Mapping[str, type]]] = {
        **CONTEXTS,
        "text": {"label": str, "content": str},
    }

    def __init__(self, journal: TextIO, words: list[str]) -> None:
        super().__init__(journal, words)
        self._trusts = False
        self.requests |= {
            "chat/list": lambda _: self.answer(self.answering, {"chats": []}),
            "chat/update": self._update,
            "chat/clear": self._clear,
        }
        self.notifications |= {
            "chat/promptSteer": lambda params: need(params, chatId=str, message=str),
            "chat/promptSteerRemove": lambda params: need(params, chatId=str),
            "chat/selectedModelChanged": lambda params: need(params, model=str),
            "chat/selectedAgentChanged": self.selected,
        }
        del self.notifications["chat/selectedBehaviorChanged"]

    def introduction(self) -> Value:
        """Return only the welcome message."""
        return {"chatWelcomeMessage": "Welcome!", "future": {"deeply": ["unknown"]}}

    def config(self) -> Value:
        """Return the agents under both names."""
        return {"agents": self.agents, "behaviors": self.agents, "selectAgent": "code"}

    def chat_of(self, params: Value) -> str:
        """Return the client's id of a chat."""
        allow(params, trust=bool)
        self._trusts = params.get("trust", self._trusts)
        chat = params.get("chatId")
        if chat is None or chat in self.chats:
            return super().chat_of(params)
        self.chats.append(chat)
        self.notify("chat/opened", {"chatId": chat})
        return str(chat)

    def begin(self, chat: str, message: str) -> None:
        """Send that the turn runs."""
        super().begin(chat, message)
        self.notify("chat/statusChanged", {"chatId": chat, "status": "running"})

    def finish(self, chat: str) -> None:
        """Send that the turn is over, in both forms."""
        self.notify("chat/statusChanged", {"chatId": chat, "status": "idle"})
        super().finish(chat)

    def result_arguments(self, path: str) -> Value:
        """Return a finished call's arguments by name."""
        return {"path": path}

    def is_remembered(self) -> bool:
        """Return whether the call needs no question: the chat is trusted."""
        return self._trusts or super().is_remembered()

    def _update(self, params: Value) -> None:
        self._trusts = params.get("trust", self._trusts)
        chat = self.known(params)
        if "title" in params:
            metadata = {"type": "metadata", "title": params["title"]}
            self.content(chat, metadata, "system")
        self.answer(self.answering, {})

    def _clear(self, params: Value) -> None:
        chat = self.known(params)
        self.notify("chat/cleared", {"chatId": chat, "messages": True})
        self.answer(self.answering, {})


def main() -> None:
    """Serve over standard input and output."""
    run(Today)
