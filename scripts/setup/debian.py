"""Unpacks Debian packages into a folder, for any user, without changing the system.

apt-get uses our own directories. As its list of installed packages is empty, it downloads a package
with all that it needs, libc included. The mirror is the machine's, read from apt's sources; only
the suite is ours.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.setup.progress import Progress, SetupError

APT = Path("/etc/apt")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Source:
    """A source of binary packages of apt: an address, its suites and components."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]


def parse_one_line(text: str) -> Iterator[Source]:
    """Parse the one-line format: `deb [options] uri suite component…`."""
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words or words[0] != "deb":
            continue
        rest = words[1:]
        if rest and rest[0].startswith("["):
            end = next((i for i, word in enumerate(rest) if word.endswith("]")), len(rest) - 1)
            rest = rest[end + 1 :]
        if len(rest) >= 2:
            yield Source(rest[0], (rest[1],), tuple(rest[2:]))


def parse_deb822(text: str) -> Iterator[Source]:
    """Parse the deb822 format: stanzas of `Field: words`, continued on indented lines."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in "\n".join(line.rstrip() for line in lines).split("\n\n"):
        fields: dict[str, list[str]] = {}
        words: list[str] = []
        for line in stanza.splitlines():
            name, colon, value = line.partition(":")
            if line[:1] in {" ", "\t"}:
                words.extend(line.split())
            elif colon:
                words = fields.setdefault(name.strip().lower(), [])
                words.extend(value.split())
        if "deb" not in fields.get("types", []) or fields.get("enabled") == ["no"]:
            continue
        for uri in fields.get("uris", []):
            yield Source(uri, tuple(fields.get("suites", [])), tuple(fields.get("components", [])))


def machine_sources(apt: Path = APT) -> list[Source]:
    """Return the sources of this machine, in apt's order of files."""
    found: list[Source] = []
    for path in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        if path.suffix == ".list" and path.is_file():
            found += parse_one_line(path.read_text())
        elif path.suffix == ".sources" and path.is_file():
            found += parse_deb822(path.read_text())
    return found


def mirror(sources: Sequence[Source]) -> str:
    """Return the address of the Debian archive among the sources.

    It has the component `main` and a suite that is not for updates or security; its path ends in
    `/debian`, unlike those of other archives. Raises LookupError if there is none.
    """
    candidates = [
        source
        for source in sources
        if "main" in source.components and any("-" not in suite for suite in source.suites)
    ]
    candidates.sort(key=lambda source: not source.uri.rstrip("/").endswith("/debian"))
    if not candidates:
        raise LookupError("no Debian archive among apt's sources")
    return candidates[0].uri


def unpack(progress: Progress, suite: str, packages: Sequence[str], into: Path) -> None:
    """Download packages of a suite with all they depend on and unpack them into a new folder.

    Leaves nothing but `into`, which is complete when this returns. Raises SetupError.
    """
    wanted = " ".join(packages)
    try:
        uri = mirror(machine_sources())
    except LookupError as missing:
        raise SetupError(f"{missing}, so {wanted} cannot be unpacked: install it") from missing
    work = into.with_name(into.name + ".apt")
    for leftover in (work, into):
        shutil.rmtree(leftover, ignore_errors=True)
    options = _prepare(work, suite, uri)
    try:
        progress.run(
            ["apt-get", *options, "update"],
            f"cannot read Debian's package lists of {suite}: check the network",
        )
        progress.run(
            ["apt-get", *options, "-y", "--no-install-recommends", "-d", "install", *packages],
            f"cannot download {wanted} of Debian {suite}: check the network",
        )
        into.mkdir()
        for archive in sorted((work / "cache" / "archives").glob("*.deb")):
            fault = f"cannot unpack {archive.name}: check the space on the disk"
            progress.run(["dpkg-deb", "-x", str(archive), str(into)], fault)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _prepare(work: Path, suite: str, uri: str) -> list[str]:
    """Make apt's directories for a suite; return the options that make apt use them."""
    for folder in ("lists/partial", "cache/archives/partial", "sources"):
        (work / folder).mkdir(parents=True)
    (work / "status").touch()
    (work / "sources" / "suite.sources").write_text(
        f"Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\nSigned-By: {KEYRING}\n"
    )
    settings = {
        "Dir::State": work,
        "Dir::State::status": work / "status",
        "Dir::State::lists": work / "lists",
        "Dir::Cache": work / "cache",
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": work / "sources",
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
        "APT::Sandbox::User": "",  # otherwise root's downloads need a folder that _apt can write to
        # A mirror frozen at some date works, too: its signature is still checked.
        "Acquire::Check-Valid-Until": "false",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
    }
    return ["-q", *(f"-o{name}={value}" for name, value in settings.items())]
