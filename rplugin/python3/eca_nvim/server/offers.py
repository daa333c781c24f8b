"""Offers: what can be installed: releases of ECA, the list of known agents, the public registry.

A plan is the whole of an installation: what is shown of it is what is done.
"""

import json
import os
import platform
import string
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import urljoin, urlsplit

from eca_nvim.digests import text_digest
from eca_nvim.server.find import ACP, DEMOS, ECA, KNOWN, REGISTRY, RELEASES
from eca_nvim.server.installed import is_name, place_for
from eca_nvim.spawn import find_program
from eca_nvim.system import has_glibc

NPM, UV, ARCHIVE = "npm", "uv", "archive"
NEWEST: Final = "newest"
"""What stands for a version that nobody has named."""

_WORDS: Final = f"{string.ascii_letters}{string.digits}._-+@"
_IN_PACKAGES: Final = {"npm": frozenset(f"{_WORDS}/~"), "uv": frozenset(f"{_WORDS}[],=!")}
SUM_DIGITS: Final = 64
_LISTED: Final = "registry.json"
_RELEASE: Final = "release.json"
"""The agents, and the newest release of ECA, as they were listed last."""
_OURS: Final = frozenset((ECA, *DEMOS, "registry"))
"""Names that no entry of the registry may have: they stand for something else."""
MOST_PLANNED: Final = 4000
"""Characters of a plan: what nobody can read to its end cannot be approved."""


Read: TypeAlias = Callable[[str], bytes]
"""Gets a listing."""


class NoOffer(Exception):
    """Raised when something cannot be installed; the text is one line with a remedy."""


class Source(NamedTuple):
    """Where servers come from, and go to.

    folder: our own, for all. path: PATH of what is run. releases, registry: base URLs.
    """

    folder: str
    path: str | None = None
    releases: str = RELEASES
    registry: str = REGISTRY


class Plan(NamedTuple):
    """An installation.

    how: 'archive', 'npm' or 'uv'. place: the new folder. program: what is run then, by its path in
    an archive, else by its name, "" for the only one; arguments: what follows it. command: what
    installs it, whole. url, sum, size: of the archive; sum: "" if nobody says it.
    """

    name: str
    version: str
    how: str
    protocol: str
    place: str
    program: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = MappingProxyType({})
    command: tuple[str, ...] = ()
    url: str = ""
    sum: str = ""
    size: int | None = None

    def readable(self) -> "Plan":
        """Return it, if the user can read it to its end. Raises NoOffer."""
        size = len(json.dumps(self.table()))
        if size > MOST_PLANNED:
            raise NoOffer(f"its plan has {size} characters, too many to be shown whole")
        return self

    @property
    def digest(self) -> str:
        """The same for the same plan."""
        return text_digest(json.dumps(self.table(), sort_keys=True))

    def table(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**self._asdict(), "environment": dict(self.environment)}

    def without_scripts(self) -> "Plan":
        """Return the same without the scripts of packages, or with them again."""
        scripts = "--ignore-scripts"
        if scripts in self.command:
            return self._replace(command=tuple(it for it in self.command if it != scripts))
        *words, package = self.command
        return self._replace(command=(*words, scripts, package))


def read_plan(table: Mapping[str, Any]) -> Plan:
    """Read a plan of `Plan.table`."""
    lists = {key: tuple(table[key]) for key in ("arguments", "command")}
    return Plan(**{**table, **lists})


# --- ECA ------------------------------------------------------------------------------------------


def _machine() -> tuple[str, str]:
    """Return the system and the processor, as the registry calls them."""
    system = {"Darwin": "darwin"}.get(platform.system(), platform.system().lower())
    machine = platform.machine().lower()
    return system, {"arm64": "aarch64", "amd64": "x86_64"}.get(machine, machine)


def builds_of_eca(system: str, machine: str, *, has_glibc: bool) -> Sequence[str]:
    """Return the names of the archives that run on a machine, the best one first."""
    os_name = {"darwin": "macos"}.get(system, system)
    cpu = {"x86_64": "amd64"}.get(machine, machine)
    dynamic, static = (f"eca-native-{kind}{os_name}-{cpu}.zip" for kind in ("", "static-"))
    if system != "linux":
        return [dynamic]
    return [static, dynamic] if has_glibc else [static]


def plan_of_eca(source: Source, read: Read) -> Plan:
    """Return the plan for the newest release; `read` gets a listing. Raises NoOffer."""
    base = source.releases.rstrip("/")
    listing = f"{base}/latest"
    release = _table(_json(read(listing), listing))
    version = str(release.get("tag_name") or "")
    assets = {str(it.get("name")): it for it in map(_table, _list(release.get("assets")))}
    system, machine = _machine()
    wanted = builds_of_eca(system, machine, has_glibc=has_glibc())
    name = next((it for it in wanted if it in assets), None)
    if not version or name is None:
        what = f"{version or 'the newest release'} has no build for {system} {machine}"
        raise NoOffer(f"{what}: install eca yourself and set server.command")
    _keep(source.folder, _RELEASE, json.dumps({"tag_name": version}).encode())
    asset = assets[name]
    size = asset.get("size")
    return Plan(
        ECA,
        version.removeprefix("v"),
        ARCHIVE,
        KNOWN[ECA].protocol,
        place_for(source.folder, ECA, version),
        KNOWN[ECA].command[0],
        KNOWN[ECA].command[1:],
        url=urljoin(listing, str(asset.get("browser_download_url") or name)),
        sum=_sum_of(asset, assets.get(f"{name}.sha256"), listing, read),
        size=size if isinstance(size, int) else None,
    ).readable()


def _sum_of(
    asset: Mapping[str, Any], beside: Mapping[str, Any] | None, listing: str, read: Read
) -> str:
    """Return the sum of an archive: as the listing has it, and as the file beside it does."""
    told = str(asset.get("digest") or "").removeprefix("sha256:").lower()
    sums = {told} if is_sum(told) else set()
    if beside is not None:
        url = urljoin(listing, str(beside.get("browser_download_url")))
        word = (read(url).decode(errors="replace").split() or [""])[0].lower()
        sums |= {word} if is_sum(word) else set()
    if len(sums) > 1:
        raise NoOffer(f"the release names two sums for {asset.get('name')}: it is not installed")
    return next(iter(sums), "")


# --- agents ---------------------------------------------------------------------------------------


class Listed(NamedTuple):
    """An agent of the registry. ways: how it is installed, as the registry has it."""

    id: str
    version: str
    about: str
    ways: Mapping[str, Any]


def registry(folder: str) -> Mapping[str, Listed]:
    """Return the agents of the registry as they were listed last, by id; empty if never."""
    with suppress(OSError, ValueError, RecursionError):
        table = _table(json.loads(Path(folder, _LISTED).read_bytes()))
        return {it.id: it for it in map(_listed, _list(table.get("agents"))) if it.id}
    return {}


def refresh(source: Source, read: Read) -> int:
    """Get the registry's list; returns how many agents it has. Raises NoOffer, OSError."""
    url = f"{source.registry.rstrip('/')}/registry.json"
    told = read(url)
    if not isinstance(_table(_json(told, url)).get("agents"), list):
        raise NoOffer(f"{url} is not a list of agents: is the option registry right?")
    _keep(source.folder, _LISTED, told)
    return len(registry(source.folder))


def _keep(folder: str, name: str, told: bytes) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    new = Path(folder, f"{name}.{os.getpid()}")
    new.write_bytes(told)
    new.replace(Path(folder, name))


def listed_at(folder: str, name: str = "") -> float | None:
    """Return when the agents, or the releases of ECA, were listed last, in seconds since 1970.

    None: never.
    """
    with suppress(OSError):
        told = Path(folder, _RELEASE if name == ECA else _LISTED)
        return min(told.stat().st_mtime, time.time())
    return None


def newest(folder: str, name: str) -> str:
    """Return the newest version of a server as it was listed last; "" if it was not."""
    if name != ECA:
        listed = listed_as(name, registry(folder))
        return listed.version if listed else ""
    with suppress(OSError, ValueError, RecursionError):
        return str(_table(json.loads(Path(folder, _RELEASE).read_bytes())).get("tag_name") or "")
    return ""


def _listed(told: object) -> Listed:
    table = _table(told)
    id_, version, about = (str(table.get(key) or "") for key in ("id", "version", "description"))
    is_right = is_name(id_) and id_ not in _OURS
    ways = _table(table.get("distribution"))
    return Listed(id_ if is_right else "", version, about, ways)


def listed_as(name: str, agents: Mapping[str, Listed]) -> Listed | None:
    """Return the entry of the registry for a name, also if a known agent has another one there."""
    known = KNOWN.get(name)
    if known is None or name == ECA:
        return agents.get(name) if name != ECA else None
    if (its := agents.get(known.command[0]) or agents.get(name)) is not None:
        return its
    package = known.install.rpartition(" ")[2]
    for it in agents.values():
        npx = str(_table(it.ways.get("npx")).get("package"))
        uvx = str(_table(it.ways.get("uvx")).get("package"))
        if package in (_bare(npx), uvx.replace("==", "@").partition("@")[0]):
            return it
    return None


def _bare(package: str) -> str:
    """Return the name of a package of npm without its version."""
    name, at, _ = package.rpartition("@")
    return name if at and name else package


def plan_of_agent(source: Source, name: str) -> Plan:
    """Return the plan for an agent. Raises NoOffer."""
    known, listed = KNOWN.get(name), listed_as(name, registry(source.folder))
    if known is None and listed is None:
        raise NoOffer(f"there is no agent {name!r} to install: :Eca server, then R, lists all")
    version = listed.version if listed else NEWEST
    plan = Plan(name, version, "", ACP, place_for(source.folder, name, version), "")
    faults: list[str] = []
    for way, told in _ways(name, listed):
        try:
            return _by(way, told, plan, source).readable()
        except NoOffer as fault:
            faults.append(str(fault))
    raise NoOffer(f"{name} cannot be installed here: {'; '.join(faults) or 'nobody says how'}")


def _ways(name: str, listed: Listed | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the ways to install an agent, the best one first."""
    ways = listed.ways if listed else {}
    binary = _table(_table(ways.get("binary")).get("-".join(_machine())))
    if binary.get("sha256"):
        yield ARCHIVE, binary
    for way, key in ((NPM, "npx"), (UV, "uvx")):
        if way_told := _table(ways.get(key)):
            yield way, way_told
    if binary and not binary.get("sha256"):
        yield ARCHIVE, binary
    if listed is None and name in KNOWN:
        yield from _known_way(name)


def _known_way(name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    known = KNOWN[name]
    program, *arguments = known.command
    told = {"cmd": program, "args": arguments, "package": known.install.rpartition(" ")[2]}
    if known.install.startswith("npm "):
        yield NPM, told
    elif known.install.startswith("uv "):
        yield UV, told
    else:
        raise NoOffer(f"{name} is not installed by a command: {known.remedy}; or R in :Eca server")


def _by(way: str, told: Mapping[str, Any], plan: Plan, source: Source) -> Plan:
    """Return the plan of one way. Raises NoOffer."""
    arguments = tuple(map(str, _list(told.get("args"))))
    variables = {str(key): str(it) for key, it in _table(told.get("env")).items()}
    program = str(told.get("cmd") or "")
    plan = plan._replace(how=way, arguments=arguments, environment=variables, program=program)
    if way == ARCHIVE:
        return _by_archive(told, plan)
    package = str(told.get("package"))
    if not _is_package(way, package):
        raise NoOffer(f"{package!r} is not a package of {way}")
    if find_program(way, source.path) is None:
        raise NoOffer(f"it needs {way}, which is not on PATH: install {_OF[way]}")
    if way == NPM:
        words = ("npm", "install", "--no-audit", "--no-fund", "--prefix", plan.place, package)
        return plan._replace(command=words)
    folders = (f"UV_TOOL_DIR={plan.place}/tools", f"UV_TOOL_BIN_DIR={plan.place}/bin")
    options = _python(plan.name, package)
    return plan._replace(command=("env", *folders, "uv", "tool", "install", *options, package))


def _python(name: str, package: str) -> Sequence[str]:
    """Return which Python a known agent needs: for another, uv would take an old version of it."""
    known = KNOWN[name].install.split() if name in KNOWN else [""]
    return known[3:-1] if package == known[-1] else ()


_OF: Final = {NPM: "Node.js", UV: "uv"}


def _by_archive(told: Mapping[str, Any], plan: Plan) -> Plan:
    url, told_sum = str(told.get("archive") or ""), str(told.get("sha256") or "").lower()
    path = PurePosixPath(plan.program)
    if not _is_https(url) or not plan.program:
        raise NoOffer("its archive has no https address")
    if path.is_absolute() or ".." in path.parts:
        raise NoOffer(f"its program {plan.program!r} is outside of its archive")
    if told_sum and not is_sum(told_sum):
        raise NoOffer("its sum is not one of SHA-256")
    return plan._replace(url=url, sum=told_sum, program=str(path))


def _is_https(url: str) -> bool:
    with suppress(ValueError):  # such as brackets that do not close
        return urlsplit(url).scheme == "https"
    return False


def _is_package(way: str, text: str) -> bool:
    """Return whether a text names a package of npm or uv: no option, folder, or address."""
    scope = text.startswith("@") and way == NPM
    begins = text[scope : scope + 1].isalnum() and _IN_PACKAGES[way].issuperset(text)
    return begins and text.count("/") == scope


def is_sum(text: str) -> bool:
    """Return whether a text is a sum of SHA-256 in lower-case digits."""
    return len(text) == SUM_DIGITS and set(text) <= set("0123456789abcdef")


def _json(told: bytes, url: str) -> object:
    try:
        return json.loads(told)
    except (ValueError, RecursionError):
        raise NoOffer(f"{url} is not JSON: is the base URL in your options right?") from None


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
