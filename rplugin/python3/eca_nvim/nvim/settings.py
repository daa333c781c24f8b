"""The options that the host needs, from the table that comes with `attach`."""

import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from eca_nvim.server.find import ECA, REGISTRY, RELEASES, Finding, ServerOptions

SHORTEST_SECRET = 8
"""Characters. Shorter values are hidden only where they stand beside their names: hiding each
`true` would garble the log."""


class Settings(NamedTuple):
    """The options as the host uses them.

    servers: what the user says of servers, by name; default_server: the name of the one that chats
    talk to if nothing else is chosen; diagnostics_base: the number of a file's first line for the
    agent, 0 or 1; repo_map: ask old servers for a map of the project; follow: the view shows the
    lines that the agent changes; diff_lines: of a diff in a block, at most; None for as many as
    usual; icons: glyphs by name; log_path: None for no log; store_path: the folder for what is
    saved across restarts, None to save nothing; templates_user: the folder of the user's templates,
    "" for none; templates_project: that in a project, None for the usual one; checkpoints: see
    `session.files.checkpoints.Limits`; finding: where servers are found and installed from, whose
    `servers` are those above.
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
    log_level: str = "warn"
    templates_user: str = ""
    templates_project: str | None = None
    checkpoints: Mapping[str, Any] = MappingProxyType({})
    finding: Finding = Finding()

    @property
    def options(self) -> Mapping[str, Mapping[str, str | bool]]:
        """What new chats of each server begin with."""
        return {name: server.options for name, server in self.servers.items()}

    @property
    def secrets(self) -> Iterator[str]:
        """The values of variables and headers of MCP servers that are long enough for secrets."""
        for server in self.servers.values():
            for told in map(_table, server.mcp.values()):
                values = chain(*(_table(told.get(key)).values() for key in ("env", "headers")))
                yield from (value for value in values if len(value) >= SHORTEST_SECRET)


def read_settings(options: Mapping[str, Any]) -> Settings:
    """Return the host's settings from the table of options, which Lua has checked.

    An empty Lua table may arrive as a list.
    """
    named, lines = options.get("server"), _table(options.get("diff")).get("lines")
    default = options.get("default_server") or (named if isinstance(named, str) else ECA)
    templates = _table(options.get("templates"))
    project, servers = templates.get("project"), _servers(options)
    return Settings(
        servers=servers,
        default_server=default,
        diagnostics_base=_table(options.get("diagnostics")).get("base", 1),
        repo_map=_table(options.get("contexts")).get("repo_map", True),
        follow=options.get("follow", False),
        diff_lines=None if lines is None else int(min(lines, sys.maxsize)),  # it may be infinite
        icons=_table(options.get("icons")),
        log_path=options.get("log_path"),
        store_path=options.get("store_path"),
        log_level=options.get("log_level", "warn"),
        templates_user=templates.get("user") or "",
        templates_project=None if project is None else project or "",
        checkpoints=_table(options.get("checkpoints")),
        finding=_finding(options, servers),
    )


def _finding(options: Mapping[str, Any], servers: Mapping[str, ServerOptions]) -> Finding:
    told = _table(options.get("install"))
    download = _table(options.get("server")).get("download", True)
    bases = (told.get("releases") or RELEASES, told.get("registry") or REGISTRY)
    return Finding(servers, told.get("folder"), *bases, download)


def _servers(options: Mapping[str, Any]) -> Mapping[str, ServerOptions]:
    """Read the option `servers`; the option `server` as a table stands for `servers.eca`.

    If both say something of it, `servers.eca` counts: the other table also has the defaults.
    """
    tables = {name: _table(told) for name, told in _table(options.get("servers")).items()}
    if isinstance(eca := options.get("server"), Mapping):
        tables[ECA] = {**eca, **tables.get(ECA, {})}
    return {
        name: ServerOptions(
            tuple(told.get("command") or ()) or None,
            _table(told.get("env")),
            told.get("protocol"),
            told.get("idle", 0),
            _table(told.get("mcp")),
            _table(told.get("options")),
            _table(told.get("paths")),
        )
        for name, told in tables.items()
    }


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
