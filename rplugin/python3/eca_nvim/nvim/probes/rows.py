"""Rows: what a server says of itself, and what went wrong, as lines of `:checkhealth`.

Rules kept here:
- Text of a server is safe and one line, without keys and passwords, and of bounded length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.protocol.acp.lifecycle import VERSION, InitializeResult
from eca_nvim.redaction import without_keys

MOST_CELLS: Final = 400
"""Cells of a row's text."""
MOST_CAPABILITIES: Final = 40
DEEPEST: Final = 3


class Row(NamedTuple):
    """A row: its level (ok, info, warn or error), its text, and advice in lines."""

    level: str
    text: str
    advice: tuple[str, ...] = ()


def safe(text: str) -> str:
    """Make a server's text fit for a row."""
    return truncate(one_line(without_keys(text[: 4 * MOST_CELLS])), MOST_CELLS)


def acp_rows(result: InitializeResult, answer: object, seconds: float) -> Iterator[Row]:
    """Describe an agent by its answer to initialize, which took so many seconds.

    answer: the whole answer, with capabilities that we do not read.
    """
    info = result.agent_info
    title = safe(f"{info.title or info.name} {info.version}") if info else "it has no name"
    if result.protocol_version == VERSION:
        yield Row("ok", f"{title}, protocol version {VERSION}, answered after {seconds:.1f} s")
    else:
        line = f"{title}, protocol version {result.protocol_version} instead of {VERSION}"
        yield Row("error", line, ("install a version of it that fits",))
    ways = ", ".join(method.name for method in result.auth_methods)
    yield Row("info", f"login: {safe(ways) or 'it offers none'}")
    capabilities = answer.get("agentCapabilities") if isinstance(answer, Mapping) else None
    names = ", ".join(islice(_leaves(capabilities), MOST_CAPABILITIES))
    yield Row("info", f"can: {safe(names) or 'nothing beyond prompts'}")


def mcp_rows(usable: Sequence[str], left_out: Sequence[str]) -> Iterator[Row]:
    """Describe the MCP servers of the option `mcp`: the names of some, a line about each other."""
    if usable:
        yield Row("info", f"MCP servers that it gets: {safe(', '.join(usable))}")
    yield from (Row("warn", safe(line)) for line in left_out)


def _leaves(capabilities: object, path: str = "", depth: int = 0) -> Iterator[str]:
    """Yield what is true in nested objects, as `session.list`; an empty object counts as true."""
    if not isinstance(capabilities, Mapping) or depth > DEEPEST:
        return
    for key, value in capabilities.items():
        name = f"{path}{key.removesuffix('Capabilities')}"
        if value is True or value == {}:
            yield name
        elif key != "_meta":
            yield from _leaves(value, f"{name}.", depth + 1)
