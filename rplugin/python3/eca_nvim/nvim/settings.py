"""The options that the host needs, from the table that comes with `attach`.

Rules kept here:
- The Lua side has validated the options; here a value of the wrong type counts as unset.
- An empty Lua table may arrive as a list: both mean "nothing set".
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Literal, NamedTuple

from eca_nvim.server.find import ECA, ServerOptions

SHORTEST_SECRET = 8
"""Characters. Shorter values are hidden only where they stand beside their names: hiding each
`true` would garble the log."""
LOG_LEVELS = ("error", "warning", "info", "debug")


class Settings(NamedTuple):
    """The options as the host uses them.

    servers: what the user says of servers, by name; default_server: the name of the one that chats
    talk to if nothing else is chosen; diagnostics_base: the number of a file's first line for the
    agent, 0 or 1; repo_map: ask old servers for a map of the project; follow: the view shows the
    lines that the agent changes; diff_lines: of a diff in a block, at most; None for as many as
    usual; icons: glyphs by name; log_path: None for no log; store_path: the folder for what is
    saved across restarts, None to save nothing; templates_user: the folder of the user's templates,
    "" for none; templates_project: that in a project, None for the usual one.
    """

    servers: Mapping[str, ServerOptions] = MappingProxyType({})
    default_server: str = ECA
    diagnostics_base: Literal[0, 1] = 1
    repo_map: bool = True
    follow: bool = False
    diff_lines: int | None = None
    icons: Mapping[str, str] = MappingProxyType({})
    log_path: str | None = None
    store_path: str | None = None
    log_level: str = "warning"
    templates_user: str = ""
    templates_project: str | None = None

    @property
    def options(self) -> Mapping[str, Mapping[str, str | bool]]:
        """What new chats of each server begin with."""
        return {name: server.options for name, server in self.servers.items()}

    @property
    def secrets(self) -> Iterator[str]:
        """The values of variables and headers of MCP servers that are long enough for secrets."""
        for server in self.servers.values():
            for told in map(_table, server.mcp.values()):
                values = chain(*(_texts(told.get(key)).values() for key in ("env", "headers")))
                yield from (value for value in values if len(value) >= SHORTEST_SECRET)


def read_settings(options: Mapping[str, object]) -> Settings:
    """Return the host's settings from the table of options."""
    level = {"warn": "warning"}.get(str(options.get("log_level")), options.get("log_level"))
    base = _table(options.get("diagnostics")).get("base")
    templates = _table(options.get("templates"))
    log_path, store_path = options.get("log_path"), options.get("store_path")
    return Settings(
        servers=_servers(options),
        default_server=server if isinstance(server := options.get("server"), str) else ECA,
        diagnostics_base=0 if base == 0 else 1,
        repo_map=_table(options.get("contexts")).get("repo_map") is not False,
        follow=options.get("follow") is True,
        diff_lines=_lines(_table(options.get("diff")).get("lines")),
        icons=_texts(options.get("icons")),
        log_path=log_path if isinstance(log_path, str) else None,
        store_path=store_path if isinstance(store_path, str) else None,
        log_level=str(level) if level in LOG_LEVELS else "warning",
        templates_user=_folder(templates.get("user")) or "",
        templates_project=_folder(templates.get("project")),
    )


def _servers(options: Mapping[str, object]) -> Mapping[str, ServerOptions]:
    """Read the option `servers`; the option `server` as a table stands for `servers.eca`.

    If both say something of it, `servers.eca` counts: the other table also has the defaults.
    """
    tables = {name: _table(told) for name, told in _table(options.get("servers")).items()}
    if eca := _table(options.get("server")):
        tables[ECA] = {**eca, **tables.get(ECA, {})}
    return {
        name: ServerOptions(
            _command(told.get("command")),
            _texts(told.get("env")),
            str(told["protocol"]) if "protocol" in told else None,
            _minutes(told.get("idle")),
            _table(told.get("mcp")),
            _choices(told.get("options")),
        )
        for name, told in tables.items()
    }


def _folder(value: object) -> str | None:
    """Read a folder: "" for none, which false stands for; None if nothing is said."""
    if value is None:
        return None
    return value if isinstance(value, str) else ""


def _command(value: object) -> tuple[str, ...] | None:
    """Parse a command line: a list of words, or one word."""
    match value:
        case str() if value:
            return (value,)
        case list() if value:
            return tuple(map(str, value))
        case _:
            return None


def _minutes(value: object) -> float:
    """Read a number of minutes, 0 if it is none."""
    match value:
        case bool():
            return 0
        case int() | float():
            return max(0, value)
        case _:
            return 0


def _lines(value: object) -> int | None:
    """Read a number of lines."""
    match value:
        case int() | float() if value >= 1 and value is not True:
            return int(min(value, sys.maxsize))
        case _:
            return None


def _choices(value: object) -> Mapping[str, str | bool]:
    return {key: item for key, item in _table(value).items() if isinstance(item, str | bool)}


def _texts(value: object) -> Mapping[str, str]:
    return {key: str(item) for key, item in _table(value).items()}


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
