"""A server of a generation, ready to be started, and what its client said that it does not know."""

from pathlib import Path
from typing import Final

from tests.support.servers import ScriptedServer, module_command

GENERATIONS: Final = ("first_draft", "behaviors", "tool_servers", "today")
"""The servers, the oldest first."""


def prepare(name: str, folder: Path, *words: str) -> ScriptedServer:
    """Give the command of a server; `words` change what it does."""
    journal = folder / f"{name}.jsonl"
    module = f"tests.support.generations.{name}"
    return ScriptedServer(module_command(module, "--journal", str(journal), *words), journal)


def strange(server: ScriptedServer) -> list[str]:
    """Give the methods the client used that the server does not know."""
    return [message["method"] for message in server.received() if not message["known"]]
