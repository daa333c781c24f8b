"""Find: the program of a server: the user's own command, else what its name says (`known.json`).

`eca` is the ECA server on PATH, else the demo agent, which says so; `claude`, `gemini` … are known.
An agent that is not listed works as well, by its command and `protocol = 'acp'`.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from eca_nvim.digests import name_digest
from eca_nvim.server.installed import Version, versions
from eca_nvim.spawn import child_environment, find_program, is_file, program_name

ACP: Final = "acp"


class KnownServer(NamedTuple):
    """A server: its command line, and the command that installs it or a page about that.

    protocol: 'acp' or 'eca'. needs: what it does not start without, "" for nothing.
    """

    command: tuple[str, ...]
    install: str
    protocol: str = ACP
    needs: str = ""

    @property
    def remedy(self) -> str:
        """How to install it, for the end of a sentence."""
        is_page = self.install.startswith("https:")
        return f"install it{', see' if is_page else ' by'} {self.install}"


# `lua/eca/state/servers.lua` reads the same file.
_FILE: Final = json.loads(Path(__file__).with_name("known.json").read_bytes())

KNOWN: Final[Mapping[str, KnownServer]] = {
    name: KnownServer(**{**it, "command": (*it["command"],)})
    for name, it in _FILE["servers"].items()
}
"""Servers by their names."""
RELEASES: Final[str] = _FILE["releases"]
REGISTRY: Final[str] = _FILE["registry"]
"""The base URLs of ECA's releases and of the registry of agents; no other file names a host."""


ECA: Final = "eca"
"""The name of the server that the option `server` describes if it is a table."""
DEMO: Final = "demo"
"""The name of the demo agent as a server."""
ACP_DEMO: Final = "acp-demo"
"""The name of the demo agent as a server that speaks ACP."""
DEMOS: Final = MappingProxyType({DEMO: "eca", ACP_DEMO: ACP})
"""The protocols of the demo agent, by the name of the server."""
PROTOCOL: Final = "eca"
PROTOCOLS: Final = (PROTOCOL, ACP)
DEMO_LABEL: Final = "demo agent"
DEMO_FOLDER: Final = "ECA_DEMO_FOLDER"
"""The variable that names the folder in which the demo agent works."""
DEMO_INSTEAD: Final = "ECA_DEMO_INSTEAD"
"""The variable that tells the demo agent that it stands in for `eca`: known servers on PATH."""

_PACKAGE_FOLDER: Final = Path(__file__).parents[2]
_RUN: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('eca_nvim.{}', run_name='__main__')"
)


class BadServerOption(Exception):
    """Raised when a server cannot be started as the options say; the text says why in one line."""


class ServerOptions(NamedTuple):
    """A server as the user describes it.

    `command`: its command line, None to search for one; `environment`: variables added to its
    environment; `protocol`: 'eca' or 'acp', None for what is usual for its name; `idle`: minutes
    without use after which it is ended, 0 for never; `mcp`: the MCP servers for its sessions, by
    name, as the user describes them; `options`: what is set in new chats, by id or category;
    `paths`: where it runs elsewhere: its folders, by ours.
    """

    command: tuple[str, ...] | None = None
    environment: Mapping[str, str] = MappingProxyType({})
    protocol: str | None = None
    idle: float = 0
    mcp: Mapping[str, object] = MappingProxyType({})
    options: Mapping[str, str | bool] = MappingProxyType({})
    paths: Mapping[str, str] = MappingProxyType({})


class Finding(NamedTuple):
    """Where servers are found, and what is installed from where.

    `servers`: as the user describes them, by name; `folder`: our own for all that is installed,
    None for none; `releases`, `registry`: base URLs; `download`: ECA may be downloaded.
    """

    servers: Mapping[str, ServerOptions] = MappingProxyType({})
    folder: str | None = None
    releases: str = RELEASES
    registry: str = REGISTRY
    download: bool = True


class ServerCommand(NamedTuple):
    """How to start a server.

    `label` names it for the user: the path of its program or script, the name that the options
    give it, or "demo agent".
    `environment` is the whole environment of its process. `folder` is its working folder, None for
    the user's workspace. `protocol` is 'eca' or 'acp'.
    """

    command: tuple[str, ...]
    label: str
    environment: Mapping[str, str]
    folder: str | None = None
    protocol: str = PROTOCOL

    @property
    def identity(self) -> str:
        """A hash of the command line, which may contain a key: the same for the same server."""
        return name_digest(os.fsencode("\0".join(self.command)))


def find_server(
    name: str, servers: Mapping[str, ServerOptions], folder: str | None = None
) -> ServerCommand:
    """Find the program of a server, by its name.

    `servers`: what the user says of each, by name. `folder`: of what `:Eca install` has installed.
    The demo agent gets the variables of `eca` if nothing is said of it. Raises BadServerOption.
    """
    options, installed = servers.get(name), versions(folder, name).current
    if options is None:
        if name not in (*DEMOS, *KNOWN) and installed is None:
            raise BadServerOption(f"there is no server {name!r}: set servers.{name}.command")
        said = servers.get(ECA, ServerOptions()) if name in DEMOS else ServerOptions()
        options = ServerOptions(environment=said.environment)
    usual = KNOWN[name].protocol if name in KNOWN else DEMOS.get(name, PROTOCOL)
    if installed is not None:
        usual = installed.protocol
    protocol = options.protocol or usual
    if protocol not in PROTOCOLS:
        raise BadServerOption(f"servers.{name}.protocol is {protocol!r}: it must be 'eca' or 'acp'")
    environment = child_environment(options.environment, name)
    if options.command is not None:
        return _chosen(name, options.command, environment)._replace(protocol=protocol)
    if name in KNOWN or installed is not None:
        return _known(name, environment, installed)
    if name in DEMOS:
        return _demo(environment, protocol)
    raise BadServerOption(f"servers.{name} names no program: set servers.{name}.command")


def _known(name: str, environment: Mapping[str, str], installed: Version | None) -> ServerCommand:
    """Find a server on PATH, else in our own folder."""
    program, *arguments = KNOWN[name].command if name in KNOWN else ("",)
    found = find_program(program, environment.get("PATH")) if program else None
    if found is not None:
        protocol = KNOWN[name].protocol
        return ServerCommand((found, *arguments), found, environment, protocol=protocol)
    if installed is not None and is_file(installed.command[0]):
        command, variables = installed.command, {**installed.environment, **environment}
        return ServerCommand(command, command[0], variables, protocol=installed.protocol)
    if name not in KNOWN:
        raise BadServerOption(f"{name} is gone from our folder: :Eca install {name}")
    if name == ECA:
        path = environment.get("PATH")
        there = [known for known, it in KNOWN.items() if find_program(it.command[0], path)]
        return _demo({**environment, DEMO_INSTEAD: " ".join(there)})
    raise BadServerOption(
        f"there is no {program} on PATH: {KNOWN[name].remedy}, or by :Eca install {name}"
    )


def _chosen(name: str, words: Sequence[str], environment: Mapping[str, str]) -> ServerCommand:
    option = "server.command" if name == ECA else f"servers.{name}.command"
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise BadServerOption(f"{option} is {words!r}: it must be a list of words")
    if not words or not words[0].strip():
        raise BadServerOption(f"{option} names no program: set a list like ['eca', 'server']")
    program = words[0]
    if program.startswith("~/"):
        program = str(Path(program).expanduser())
    found = find_program(program, environment.get("PATH"))
    if found is None and os.sep in program and is_file(program):
        raise BadServerOption(f"{option}: {program!r} is not executable: allow it with chmod +x")
    if found is None:
        raise BadServerOption(f"{option}: {program!r} not found: correct its path")
    command = (found, *words[1:])
    # `ssh` or `docker` would not say which server it is.
    label = program_name(command) if name == ECA else name
    return ServerCommand(command, label, environment)


def _demo(environment: Mapping[str, str], protocol: str = PROTOCOL) -> ServerCommand:
    flags = ("--acp",) if protocol == ACP else ()
    command = (*run_module("demo"), *flags)
    folder = environment.get(DEMO_FOLDER) or _new_demo_folder()
    variables = {**environment, DEMO_FOLDER: folder}
    return ServerCommand(command, DEMO_LABEL, variables, folder, protocol)


def run_module(module: str) -> tuple[str, ...]:
    """Return the command that runs a module of ours as a program.

    By its path, as it need not be installed; `-I` keeps the user's and the project's files out.
    """
    return (sys.executable, "-I", "-c", _RUN.format(module), str(_PACKAGE_FOLDER))


def _new_demo_folder() -> str:
    """Return a path that nobody else can have made; the demo agent makes and removes the folder."""
    from tempfile import gettempdir  # noqa: PLC0415 - 4 ms of the start

    name = f"eca-demo-{os.urandom(8).hex()}"
    return str(Path(gettempdir()).resolve() / name)
