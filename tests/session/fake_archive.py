"""An archive in memory: it records requests and gives the answers that a test prepared."""

from collections.abc import Callable, Sequence

import anyio

from eca_nvim.agents.abilities import AgentRefused, ChatSummary, OpenedChat
from eca_nvim.chat.user_actions.earlier_messages import Page


class FakeArchive:
    """The chats of an agent in memory (`abilities.Archive`).

    The next call raises `fault`, every call of a kind raises its entry in `faults`. While `gate` is
    set and closed, calls wait, and those of a kind while its entry in `gates` is closed.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.chats: Sequence[ChatSummary] = ()
        self.opened = OpenedChat(Page())
        self.page = Page()
        self.fault: AgentRefused | None = None
        self.faults: dict[str, Exception] = {}
        self.left: str | None = None
        self.gate: anyio.Event | None = None
        self.gates: dict[str, anyio.Event] = {}
        self.forked: Callable[[str, str], None] = lambda _chat, _copy: None

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        await self._hear("list", limit)
        return self.chats

    async def open_chat(self, chat_id: str, limit: int | None = None) -> OpenedChat:
        await self._hear("open", chat_id, limit)
        return self.opened

    async def history(self, chat_id: str, before: str, limit: int | None = None) -> Page:
        await self._hear("history", chat_id, before, limit)
        return self.page

    async def rename(self, chat_id: str, title: str) -> None:
        await self._hear("rename", chat_id, title)

    async def clear(self, chat_id: str) -> None:
        await self._hear("clear", chat_id)

    async def delete(self, chat_id: str) -> str | None:
        await self._hear("delete", chat_id)
        return self.left

    async def rollback(self, chat_id: str, content_id: str, *, messages: bool, tools: bool) -> None:
        await self._hear("rollback", chat_id, content_id, messages, tools)

    async def begin_again(self, chat_id: str) -> None:
        await self._hear("begin_again", chat_id)

    async def branch(self, chat_id: str, before: str | None) -> str:
        await self._hear("branch", chat_id, before)
        return f"kept-{len(self.asked)}"

    async def exchange(self, chat_id: str, other_id: str) -> None:
        await self._hear("exchange", chat_id, other_id)

    async def fork(self, chat_id: str, content_id: str | None) -> tuple[str, OpenedChat]:
        await self._hear("fork", chat_id, content_id)
        self.forked(chat_id, "copy")
        return "copy", self.opened

    async def add_flag(self, chat_id: str, content_id: str, text: str) -> str:
        await self._hear("add_flag", chat_id, content_id, text)
        return f"flag-{len(self.asked)}"

    async def remove_flag(self, chat_id: str, flag_id: str) -> None:
        await self._hear("remove_flag", chat_id, flag_id)

    async def _hear(self, *asked: object) -> None:
        self.asked.append(asked)
        for gate in (self.gate, self.gates.get(str(asked[0]))):
            if gate is not None:
                await gate.wait()
        fault, self.fault = self.fault or self.faults.get(str(asked[0])), None
        if fault is not None:
            raise fault
