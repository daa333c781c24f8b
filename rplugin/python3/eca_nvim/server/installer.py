"""Installer: a process that plans, installs, removes and switches back, and then ends.

    request   {"do": "plan", "name": "eca", "source": {"folder": …, "releases": …}}
    answers   {"progress": [1024, 4096]}, then one of {"plan": {…}}, {"done": "…"}, {"fault": "…"}

The request comes as a line of JSON on standard input, answers go to standard output; what is for
the user, and what the commands print, to standard error. Nothing is used before it has answered
`initialize`; until then the version before is used. The end of standard input ends it.
"""

import asyncio
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TextIO

import anyio

from eca_nvim.jsonrpc import LineFraming
from eca_nvim.server import download
from eca_nvim.server.find import ACP, ECA, KNOWN
from eca_nvim.server.installed import (
    KEPT,
    NotInstalled,
    Version,
    changing,
    remove,
    switch,
    switch_back,
    versions,
)
from eca_nvim.server.offers import (
    ARCHIVE,
    NEWEST,
    NPM,
    NoOffer,
    Plan,
    Source,
    plan_of_agent,
    plan_of_eca,
    read_plan,
    refresh,
)
from eca_nvim.spawn import StartError, child_environment, find_program
from eca_nvim.threads import run_beside
from eca_nvim.transport import ConnectionClosed, RemoteError, open_connection, telling_line

ANSWER_SECONDS: Final = 60.0
"""Time for a new version to answer `initialize`: its first start may take long."""
PROGRESS_SECONDS: Final = 0.25

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


_SET_UP: Final = "set it up"
_AGAIN: Final = "then install it again"
_BEFORE: Final = "the version before is still used"


class Failed(Exception):
    """Raised when an installation fails; the text is one line with fault and remedy."""


class Installer:
    """Does what a request says, with the environment of this process."""

    def __init__(self, source: Source, answers: TextIO) -> None:
        self._source = source
        self._answers = answers
        self._reported = 0.0

    def answer(self, request: Mapping[str, Any]) -> None:
        """Do it, and write what answers it."""
        try:
            self._write(self._do(request))
        except (NoOffer, NotInstalled, Failed, download.NotFetched) as fault:
            self._write({"fault": str(fault)})
        except OSError as fault:
            self._write({"fault": self._explained(fault)})

    def _do(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        folder, name = self._source.folder, str(request.get("name"))
        match request["do"]:
            case "plan":
                return self._plan(name)
            case "install":
                variables = request.get("environment", {})
                return {"done": self._install(read_plan(request["plan"]), variables)}
            case "undo":
                with changing(folder, name):
                    return {"done": f"{name} {switch_back(folder, name).version} is used again"}
            case "uninstall":
                with changing(folder, name):
                    remove(folder, name)
                return {"done": f"{name} is removed"}
            case _:
                return {"done": f"{refresh(self._source, download.read)} agents are listed"}

    def _plan(self, name: str) -> Mapping[str, Any]:
        if name == ECA:
            plan = plan_of_eca(self._source, download.read)
        else:
            plan = plan_of_agent(self._source, name)
        current = versions(self._source.folder, name).current
        if current is not None and plan.version == current.version and plan.version != NEWEST:
            return {"done": f"{name} {plan.version} is the newest version, and installed"}
        return {"plan": plan.table()}

    # --- one installation -------------------------------------------------------------------------

    def _install(self, plan: Plan, variables: Mapping[str, str]) -> str:
        place = Path(plan.place)
        with changing(self._source.folder, plan.name) as home:
            if place.parent != home:
                raise Failed(f"{place} is not in {home}: nothing was done")
            place.mkdir(mode=0o700)
            try:
                command = self._fetch(plan, home, place)
                version = Version(
                    *(plan.version, command, plan.protocol, plan.place, dict(plan.environment))
                )
                _say("starting it, to see whether it answers …")
                try:
                    title = asyncio.run(self._greet(version, variables))
                except Failed as fault:
                    is_first = versions(self._source.folder, plan.name).current is None
                    needs = KNOWN[plan.name].needs if plan.name in KNOWN else ""
                    remedy = f"{needs or _SET_UP}, {_AGAIN}" if is_first else _BEFORE
                    raise Failed(f"{fault}; {remedy}") from fault
                if plan.version == NEWEST and title:
                    version = version._replace(version=title)
                switch(self._source.folder, plan.name, version)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise
        return f"{plan.name} {title or plan.version} is installed"

    def _fetch(self, plan: Plan, home: Path, place: Path) -> tuple[str, ...]:
        """Get what a plan names, and return the command line of the server."""
        if plan.how == ARCHIVE:
            self._unpack(plan, home, place)
            program = place / plan.program
            if not program.is_file():
                raise Failed(f"the archive has no {plan.program}: it is not used")
            program.chmod(0o755)
        else:
            _run(plan)
            program = _program(plan, place)
        return (str(program), *plan.arguments)

    def _unpack(self, plan: Plan, home: Path, place: Path) -> None:
        if not plan.sum:
            raise Failed("nobody says the sum of this archive: type it, then it is installed")
        archive = home / f"{KEPT}-{plan.sum[:16]}"
        for other in home.glob(f"{KEPT}-*"):
            if other != archive:
                other.unlink()
        was_there = archive.exists()
        download.save(plan.url, archive, self._report)
        found = download.sha256(archive)
        if found != plan.sum and was_there:
            _say("what was there of it does not fit: it is got again")
            archive.unlink()
            download.save(plan.url, archive, self._report)
            found = download.sha256(archive)
        if found != plan.sum:
            archive.unlink()
            _say(f"SHA-256 of the release: {plan.sum}\nSHA-256 of what came:  {found}")
            raise Failed("its SHA-256 is wrong: i looks again")
        _say("its sum is right; unpacking …")
        download.unpack(archive, plan.url.partition("?")[0], place, plan.program)
        archive.unlink()

    async def _greet(self, version: Version, variables: Mapping[str, str]) -> str:
        """Return how a new version calls itself when it answers `initialize`. Raises Failed.

        variables: those that the user's options give it.
        """
        is_acp = version.protocol == ACP
        params: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {}}
        if not is_acp:
            params = {"processId": os.getpid(), "clientInfo": {"name": "Neovim"}}
            params |= {"capabilities": {"codeAssistant": {"chat": True}}, "workspaceFolders": []}
        framing = LineFraming() if is_acp else None
        env = {**version.environment, **child_environment(), **variables}
        faults = []
        try:
            async with open_connection(
                version.command,
                lambda _: None,
                env=env,
                cwd=version.folder,
                framing=framing,
                on_stderr=lambda _: None,
            ) as connection:
                with anyio.move_on_after(ANSWER_SECONDS):
                    answer = await connection.request("initialize", params)
                    info = answer.get("agentInfo") if isinstance(answer, dict) else None
                    told = info.get("version") if isinstance(info, dict) else None
                    return str(told or "")
                faults.append(f"no answer after {ANSWER_SECONDS:.0f} s")
        except ConnectionClosed as closed:
            _say("\n".join(closed.exit.stderr_tail))
            faults += [str(closed.exit), telling_line(closed.exit.stderr_tail)]
        except (RemoteError, StartError) as fault:
            faults.append(str(fault))
        why = ": ".join(filter(None, faults))
        raise Failed(f"it does not answer initialize, {why}")

    # --- reports ----------------------------------------------------------------------------------

    def _report(self, there: int, total: int | None) -> None:
        if there == total or time.monotonic() - self._reported > PROGRESS_SECONDS:
            self._reported = time.monotonic()
            self._write({"progress": [there, total]})

    def _write(self, answer: Mapping[str, Any]) -> None:
        self._answers.write(json.dumps(answer) + "\n")
        self._answers.flush()

    def _explained(self, fault: OSError) -> str:
        folder = self._source.folder
        if fault.errno in _FULL:
            for kept in Path(folder).glob(f"*/{KEPT}-*"):
                kept.unlink(missing_ok=True)
            return f"there is no more room in {folder}: free some, then try again"
        return f"{fault.filename or folder}: {fault.strerror or fault}: nothing is installed"


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _run(plan: Plan) -> None:
    """Run the command of a plan, in its own folder; what it prints is for the user."""
    environment = child_environment()
    program = find_program(plan.command[0], environment.get("PATH"))
    if program is None:
        raise Failed(f"{plan.command[0]} is not on PATH: install it")
    ended = subprocess.run(
        (program, *plan.command[1:]),
        cwd=plan.place,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        check=False,
    )
    if ended.returncode:
        raise Failed(f"{plan.how} failed with exit code {ended.returncode}: its output says why")


def _program(plan: Plan, place: Path) -> Path:
    """Return the program that a package has brought. Raises Failed."""
    folder = place / "node_modules" / ".bin" if plan.how == NPM else place / "bin"
    there = sorted(it.name for it in folder.iterdir()) if folder.is_dir() else []
    package = plan.command[-1].removeprefix("@").partition("@")[0].partition("=")[0]
    wanted = plan.program or package.rpartition("/")[2].partition("[")[0]
    if wanted in there:
        return folder / wanted
    if plan.how == NPM and not plan.program:
        there = _programs_of(place, plan.command[-1]) or there
    if len(there) != 1:
        names = ", ".join(there[:5]) or "none"
        raise Failed(f"the package has no program {wanted} (it has {names}): it cannot be used")
    return folder / there[0]


def _programs_of(place: Path, package: str) -> list[str]:
    """Return the programs of a package itself: other ones are those of what it needs."""
    name = package if "@" not in package[1:] else package[: package.rindex("@")]
    with suppress(OSError, ValueError, AttributeError):
        told = json.loads((place / "node_modules" / name / "package.json").read_bytes())["bin"]
        return sorted(told)
    return []


def _end_with_input() -> None:
    """End with what this process has started, when nobody can read its answers any more."""
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGTERM)


def main() -> None:
    """Run as a program, which leads a process group."""
    request = json.loads(sys.stdin.buffer.readline())
    run_beside(_end_with_input)
    Installer(Source(**request["source"]), sys.stdout).answer(request)
    sys.stdout.flush()
    os._exit(0)  # the thread is reading


if __name__ == "__main__":
    main()
