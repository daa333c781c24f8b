"""Installs: what is being installed or removed, and what there is; each by a process of its own.

Rules kept here:
- What is done is the plan that the user has seen: its digest comes with the approval.
- What one has printed stays until the next one for the same server.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from typing import Any, Final

import anyio
from msgspec import Struct, field

from eca_nvim.agents.abilities import OutputLine
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.turn_events import Job
from eca_nvim.guardian import MARK, marked
from eca_nvim.server.find import (
    DEMO_LABEL,
    DEMOS,
    ECA,
    KNOWN,
    BadServerOption,
    ServerOptions,
    find_server,
    run_module,
)
from eca_nvim.server.installed import Versions, installed_names, versions
from eca_nvim.server.offers import ARCHIVE, Listed, Plan, read_plan, registry
from eca_nvim.session.jobs import KnownJob
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import Refused, isolated
from eca_nvim.spawn import StartError, child_environment, spawn
from eca_nvim.threads import run_in_thread
from eca_nvim.transport import ChildProcess

REGISTRY: Final = "registry"
"""What stands for the registry where a server is named."""
_MOST_PRINTED: Final = 2000
_AGAIN: Final = ": :Eca restart starts it"


class Stage(Enum):
    """How far an installation is: looked up, shown, approved, at its end."""

    LOOKING = auto()
    PLANNED = auto()
    WORKING = auto()
    DONE = auto()
    FAILED = auto()


BUSY: Final = frozenset({Stage.LOOKING, Stage.WORKING})


class Install(Struct, eq=False):
    """What happens to one server. line: what was said last; printed: of all that runs for it."""

    name: str
    stage: Stage = Stage.LOOKING
    plan: Plan | None = None
    line: str = ""
    progress: tuple[int, int | None] | None = None
    printed: list[OutputLine] = field(default_factory=list)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def job(self) -> KnownJob:
        """What is printed, as that of a job."""
        known = KnownJob(self.name, Job(f"install {self.name}", id=self.name), 0.0)
        known.read(self.printed)
        return known


class Found(Struct, frozen=True):
    """What is known of a server: where it is (a path), or why it cannot be started."""

    place: str = ""
    fault: str = ""
    versions: Versions = Versions()


class Installs:
    """What is installed, and what is done about it; `changed` is called when that has changed."""

    def __init__(self, servers: Servers, changed: Callable[[], None]) -> None:
        self._servers = servers
        self._changed = changed
        self.under_way: dict[str, Install] = {}
        self.found: Mapping[str, Found] = {}
        self.listed: Mapping[str, Listed] = {}

    # --- what there is ----------------------------------------------------------------------------

    async def look(self) -> None:
        """Look for all servers that are known by name."""
        self.found, self.listed = await run_in_thread(self._look)
        self._changed()

    def _look(self) -> tuple[Mapping[str, Found], Mapping[str, Listed]]:
        finding = self._servers.finding
        installed = installed_names(finding.folder)
        names = {*finding.servers, *KNOWN, *DEMOS, *installed}
        listed = registry(finding.folder) if finding.folder else {}
        self._servers.wanted_logins.look()
        return {name: self._find(name) for name in names}, listed

    def _find(self, name: str) -> Found:
        finding = self._servers.finding
        there = versions(finding.folder, name)
        try:
            found = find_server(name, finding.servers, finding.folder)
        except BadServerOption as fault:
            return Found(fault=str(fault), versions=there)
        if name == ECA and found.label == DEMO_LABEL:
            return Found(fault="there is no eca on PATH", versions=there)
        return Found(found.label, versions=there)

    # --- what the user wants ----------------------------------------------------------------------

    def plan(self, name: str) -> None:
        """Look up what would be done, in the background. Raises Refused."""
        if name == ECA and not self._servers.finding.download:
            raise Refused("the option server.download is false: eca is not downloaded")
        self._start(self._begin(name, Stage.LOOKING), "plan")

    def change(self, name: str, digest: str, new: Callable[[Plan], Plan]) -> None:
        """Change a plan that was shown. Raises Refused if it is another one now."""
        install = self._planned(name, digest)
        assert install.plan is not None
        install.plan = new(install.plan)
        self._changed()

    def carry_out(self, name: str, digest: str) -> None:
        """Do what a plan says, in the background. Raises Refused if it is another one now."""
        shown = self._planned(name, digest)
        if shown.plan is not None and shown.plan.how == ARCHIVE and not shown.plan.sum:
            raise Refused("nobody says the sum of this archive: s takes the one that you type")
        install = self._begin(name, Stage.WORKING)
        install.plan = shown.plan
        assert shown.plan is not None
        options = self._servers.finding.servers.get(name, ServerOptions())
        variables = {**options.environment}
        self._start(install, "install", plan=shown.plan.table(), environment=variables)

    def do(self, name: str, what: str) -> None:
        """Switch back to the version before (`undo`), `uninstall`, or `refresh` the registry."""
        self._start(self._begin(name, Stage.WORKING), what)

    def cancel(self, name: str) -> None:
        """End what runs for a server, or forget what was planned. Raises Refused."""
        install = self.under_way.pop(name, None)
        if install is None:
            raise Refused("nothing is under way")
        install.scope.cancel()
        self._changed()

    def _planned(self, name: str, digest: str) -> Install:
        install = self.under_way.get(name)
        if install is None or install.plan is None or install.stage in BUSY:
            raise Refused("this is not planned any more: press i again")
        if install.plan.digest != digest:
            raise Refused("something else is planned now: look at it, then press y again")
        return install

    def _begin(self, name: str, stage: Stage) -> Install:
        before = self.under_way.get(name)
        if before is not None and before.stage in BUSY:
            raise Refused(f"{name}: still under way, x ends it")
        install = self.under_way[name] = Install(name, stage)
        self._changed()
        return install

    # --- the process ------------------------------------------------------------------------------

    def _start(self, install: Install, what: str, **more: object) -> None:
        self._servers.start(partial(self._run, install, what, more))

    async def _run(self, install: Install, what: str, more: Mapping[str, object]) -> None:
        with isolated(self._servers.view, f"{what} {install.name}", install.name):
            answer = await self._ask(install, what, **more)
            if install.scope.cancel_called:
                return
            if (table := answer.get("plan")) is not None:
                install.plan, install.stage = read_plan(table), Stage.PLANNED
                self._changed()
                return
            if "done" in answer:
                install.plan, install.stage = None, Stage.DONE
            self._servers.view.push([self._report(install, what)])
            await self.look()

    def _report(self, install: Install, what: str) -> Notify:
        """Return the line that says how something has ended."""
        if install.stage is Stage.FAILED:
            about = f"{install.name} is not installed: " if what in ("plan", "install") else ""
            return Notify("warn", f"{about}{install.line}")
        runs = any(it.name == install.name and it.process.agent for it in self._servers)
        is_new = runs and what in ("install", "undo")
        return Notify("info", f"{install.line}{_AGAIN if is_new else ''}")

    async def _ask(self, install: Install, what: str, **more: object) -> Mapping[str, Any]:
        """Return what the installer answers; its faults are those of the install."""
        finding = self._servers.finding
        if finding.folder is None:
            raise Refused("there is no folder to install into: restart Neovim")
        source: dict[str, object] = {"folder": finding.folder, "releases": finding.releases}
        environment = marked(child_environment())
        source |= {"registry": finding.registry, "path": environment.get("PATH")}
        request = {"do": what, "name": install.name, "source": source, **more}
        answer: dict[str, Any] = {}
        try:
            with install.scope:
                process = spawn(run_module("server.installer"), environment, None)
                child = ChildProcess(process, partial(self._print, install), environment[MARK])
                async with anyio.create_task_group() as tasks:
                    child.run_in(tasks, Answers(partial(self._told, install, answer)).feed)
                    child.stdin.put(json.dumps(request).encode() + b"\n")
                    try:
                        await child.wait()
                    finally:
                        with anyio.CancelScope(shield=True):
                            await child.close()
        except StartError as fault:
            answer["fault"] = str(fault)
        if "plan" not in answer and "done" not in answer:
            answer.setdefault("fault", "the installer has ended: :Eca log may say why")
            install.stage = Stage.FAILED
        else:
            install.stage = Stage.DONE
        said = answer.get("fault", answer.get("done", ""))
        install.line = self._servers.redactor.redact(one_line(str(said)))
        return answer

    def _print(self, install: Install, line: str) -> None:
        install.printed.append(OutputLine(self._servers.redactor.redact(line)))
        del install.printed[:-_MOST_PRINTED]
        install.line = self._servers.redactor.redact(one_line(line))
        self._changed()

    def _told(self, install: Install, answer: dict[str, Any], told: Mapping[str, Any]) -> None:
        if (progress := told.get("progress")) is not None:
            there, total = progress
            install.progress = (there, total)
            self._changed()
        else:
            answer.update(told)


class Answers:
    """Cuts what an installer writes into lines of JSON."""

    def __init__(self, told: Callable[[Mapping[str, Any]], None]) -> None:
        self._told = told
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Read the next bytes; what is no JSON is left out."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            with suppress(ValueError, TypeError):
                self._told(json.loads(line))
