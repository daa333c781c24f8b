"""What configures an MCP server: its command line or url, and the file that names it."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from eca_nvim.agents.abilities import Target
from eca_nvim.chat.text.safe_text import host_of, one_line
from eca_nvim.chat.vocabulary.agent_events import ToolServerChanged
from eca_nvim.paths import open_regular
from eca_nvim.session.panels.panel import LONGEST_CELL
from eca_nvim.session.view import Refused
from eca_nvim.threads import run_in_thread

LARGEST_FILE: Final = 1 << 20
"""Bytes of a configuration file that are searched."""

Place: TypeAlias = tuple[Path, int]
"""A file, and a line in it (1-based)."""


def target_text(known: ToolServerChanged) -> str:
    """Return what a server is, to be changed; "" if a line cannot show it as it is."""
    text = known.url or shlex.join(known.command)
    return text if one_line(text) == text and len(text) <= LONGEST_CELL else ""


def read_target(text: str) -> Target:
    """Read a command line or a url. Raises Refused."""
    text = text.strip()
    if text.startswith(("http://", "https://")):
        if host_of(text) is None:
            raise Refused("this is no url of a host: https://host/path")
        return Target(url=text)
    try:
        command = shlex.split(text)
    except ValueError as fault:
        raise Refused(f"the command line cannot be read: {fault}".lower()) from None
    if not command or not command[0]:
        raise Refused("a command line or a url is needed")
    if command[0].partition("=")[0].isidentifier() and "=" in command[0]:
        raise Refused(
            "variables cannot be set here: add the server, then e edits its configuration"
        )
    return Target(tuple(command))


async def find(files: Sequence[Path], name: str) -> Place | None:
    """Find the place of a server as `find_place` does, beside the event loop."""
    return await run_in_thread(lambda: find_place(files, name))


def find_place(files: Sequence[Path], name: str) -> Place | None:
    """Return the first of some files that configures a server, and the line of its name."""
    spelt = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
    for file in files:
        try:
            with open_regular(str(file)) as opened:
                text = opened.read(LARGEST_FILE).decode(errors="replace")
        except (OSError, ValueError):
            continue  # most projects have none
        begin = text.find('"mcpServers"')
        places = [_key(text, it, begin) for it in spelt] if begin >= 0 else []
        if found := [it for it in places if it >= 0]:
            return file, text.count("\n", 0, min(found)) + 1
    return None


def _key(text: str, spelt: str, begin: int) -> int:
    """Return where a name stands as a key, from a place on; -1 if it does not."""
    at = text.find(spelt, begin)
    while at >= 0:
        after = at + len(spelt)
        if text[after : after + LONGEST_CELL].lstrip().startswith(":"):
            break
        at = text.find(spelt, after)
    return at
