"""Queries: what an agent that completes prompts offers for a query.

Rules kept here:
- Nothing here depends on a protocol. Chat ids are ours, paths absolute; texts are the agent's own
  and not safe to show.
- Every call waits for the agent's response. It raises AgentRefused if the agent cannot or will not
  answer.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.completion import Argument, ItemKind


class FoundPath(Struct, frozen=True):
    """A file or folder."""

    path: str


class FoundResource(Struct, frozen=True):
    """A resource of a tool server (MCP)."""

    uri: str
    name: str = ""
    description: str = ""
    server: str = ""


class FoundCommand(Struct, frozen=True):
    """A command, prompt or skill that a prompt may begin with."""

    name: str
    kind: ItemKind = ItemKind.COMMAND
    description: str = ""
    arguments: tuple[Argument, ...] = ()


FoundContext: TypeAlias = FoundPath | FoundResource


class Queries(Protocol):
    """What completes the prompts of one agent."""

    async def contexts(self, chat_id: str, query: str) -> Sequence[FoundContext]:
        """Return the contexts that match a query, "" all."""

    async def files(self, chat_id: str, query: str) -> Sequence[FoundPath]:
        """Return the files that match a query, "" all."""

    async def commands(self, chat_id: str) -> Sequence[FoundCommand]:
        """Return all commands."""
