"""The command of a server of a generation, and the methods that it did not know."""

from pathlib import Path
from typing import Final

from tests.support.servers import ScriptedServer, module_command

GENERATIONS: Final = ("first_draft", "behaviors", "tool_servers", "today")
"""The servers, oldest first."""


def prepare(name: str, folder: Path, *words: str) -> ScriptedServer:
    """Return the command of a server; `words` change its behaviour."""
    journal = folder / f"{name}.jsonl"
    module = f"tests.support.generations.{name}"
    return ScriptedServer(module_command(module, "--journal", str(journal), *words), journal)


def strange(server: ScriptedServer) -> list[str]:
    """Return the methods that the client used and the server does not know."""
    return [message["method"] for message in server.received() if not message["known"]]
