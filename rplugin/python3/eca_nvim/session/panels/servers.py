"""The panel of all servers: what is there, what can be installed, and installing it.

Rules kept here:
- A plan is shown whole, in rows that wrap; the key that carries it out is on its last row, whose id
  has the plan's digest.
- What is installed is replaced only by what has answered (`server/installer`).
"""

import shlex
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from eca_nvim.chat.text.safe_text import duration, literal_name
from eca_nvim.chat.vocabulary.panels import Action, Ask, Cell, Row
from eca_nvim.server.find import DEMOS, ECA, KNOWN
from eca_nvim.server.offers import ARCHIVE, NPM, Listed, Plan, is_sum, listed_as, listed_at
from eca_nvim.session.installs import BUSY, REGISTRY, Found, Install, Installs, Stage
from eca_nvim.session.panels.job_output import INDENT, output_rows, whole_output
from eca_nvim.session.panels.panel import (
    Answer,
    Panel,
    Scene,
    cell,
    column,
    note,
    rest,
    whole_column,
)
from eca_nvim.session.server import ServerState
from eca_nvim.session.view import Refused

PIECE: Final = 200
"""Characters of a plan in a row: nothing of it is cut."""
_MEGA: Final = 1e6
_RUNNING: Final[Mapping[ServerState, tuple[str, str]]] = {
    ServerState.STARTING: ("starting", "EcaRunning"),
    ServerState.READY: ("running", "EcaToolDone"),
    ServerState.FAILED: ("failed", "EcaFailed"),
    ServerState.ASLEEP: ("asleep", "EcaMuted"),
}
_HELD: Final = {
    Stage.LOOKING: ("looking up", "EcaRunning"),
    Stage.WORKING: ("at work", "EcaRunning"),
    Stage.PLANNED: ("approve?", "EcaWarning"),
    Stage.FAILED: ("not done", "EcaFailed"),
}


class ServersPanel(Panel):
    """All servers by name, those that can be started first."""

    ACTIONS: ClassVar = (
        Action("use", "n", "new chats use it"),
        Action("details", "za", "details"),
        Action("install", "i", "install or update"),
        Action("yes", "y", "do it"),
        Action("sum", "s", "type its sum", (Ask("sum", "SHA-256 of the archive:"),)),
        Action("scripts", "S", "with or without scripts"),
        Action("cancel", "x", "give up"),
        Action("undo", "u", "version before", sure="Use the version of {} before this one again?"),
        Action("uninstall", "D", "uninstall", sure="Remove {} from the plugin's own folder?"),
        Action("all", "o", "whole output"),
        Action("chat", "c", "go to this chat"),
        Action("refresh", "R", "list all agents", everywhere=True),
    )

    def __init__(self, scene: Scene, chat_id: str | None) -> None:
        super().__init__(scene, chat_id)
        self._installs: Installs = scene.installs()

    async def begin(self) -> None:
        """Look for all servers."""
        await self._installs.look()

    @property
    def title(self) -> str:
        """How many servers are there."""
        there = sum(bool(it.place) for it in self._installs.found.values())
        return f"servers: {there} here"

    # --- rows -------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """Yield the servers: those that can be started, those that can be installed."""
        if not self._installs.found:
            yield note("looking for servers …")
            return
        found = {it: Found() for it in self._installs.under_way if it != REGISTRY}
        found |= self._installs.found
        names = sorted(found, key=lambda it: (not found[it].place, it in DEMOS, it))
        mine = {it.id for name in names if (it := self._listed(name))}
        others = sorted({*self._installs.listed} - mine - {*names})
        for name in (*names, *others):
            its = found.get(name, Found())
            row = self._row(name, its)
            yield row
            yield from self._below(name, row, its)
        yield self._registry_row()

    def _listed(self, name: str) -> Listed | None:
        return listed_as(name, self._installs.listed)

    def _row(self, name: str, found: Found) -> Row:
        install, current = self._installs.under_way.get(name), found.versions.current
        word, group = self._state(name, found)
        version = current.version if current and not self._used_before(found) else ""
        return Row(
            id=name,
            line=(
                column(word, 11, group),
                whole_column(name, 12),
                column(version, 10, "EcaMuted"),
                self._about(name, found, install),
            ),
            actions=("use", "details") if name in DEMOS else self._actions(found, install),
            values={"name": name},
            server=name,
        )

    def _state(self, name: str, found: Found) -> tuple[str, str]:
        install = self._installs.under_way.get(name)
        if install is not None and install.stage in _HELD:
            return _HELD[install.stage]
        server = next((it for it in self.scene.servers if it.name == name), None)
        if server is not None and server.login.chat is not None:
            return "logging in", "EcaWarning"
        if self._wants_login(name, found):
            return "needs login", "EcaWarning"
        if name == ECA and server is not None and server.process.agent and server.process.folder:
            return "the demo", "EcaMuted"  # stands in for it, until a restart
        if server is not None and server.process.state in _RUNNING:
            return _RUNNING[server.process.state]
        return ("here", "EcaToolDone") if found.place else ("", "EcaMuted")

    def _wants_login(self, name: str, found: Found) -> bool:
        return bool(found.place) and name in self.scene.servers.wanted_logins

    def _about(self, name: str, found: Found, install: Install | None) -> tuple[str, str, int]:
        if install is not None and install.stage in BUSY and install.progress:
            there, total = install.progress
            of = f" of {total / _MEGA:.1f}" if total else ""
            return rest(f"{there / _MEGA:.1f}{of} MB", "EcaRunning")
        if install is not None and install.line and install.stage is not Stage.PLANNED:
            return rest(install.line, "EcaWarning" if install.stage is Stage.FAILED else "EcaMuted")
        told = [f"{count} chat{'' if count == 1 else 's'}"] if (count := self._count(name)) else []
        current, listed = found.versions.current, self._listed(name)
        if current and listed and listed.version not in ("", current.version):
            told.append(f"{listed.version} is there: i gets it")
        if found.place:
            told += [] if name in DEMOS else [_home(found.place)]
        elif listed is not None:
            told.append(f"{listed.version} {listed.about}")
        elif name in KNOWN and install is None:
            told.append(KNOWN[name].install)
        elif install is None:
            told.append(found.fault)
        return rest(" · ".join(told), "EcaMuted")

    def _count(self, name: str) -> int:
        return sum(it.server_name == name for it in self.scene.chats)

    def _actions(self, found: Found, install: Install | None) -> Sequence[str]:
        if install is not None and install.stage in BUSY:
            return ("cancel", "details", "all")
        current, previous = found.versions
        its_own = ("undo",) * (previous is not None) + ("uninstall",) * (current is not None)
        return (*(("use", "details") if found.place else ()), "install", *its_own, "all")

    def _below(self, name: str, row: Row, found: Found) -> Iterator[Row]:
        install = self._installs.under_way.get(name)
        if name in self.opened:
            yield from self._details(name, found)
        shows_output = install is not None and (name in self.opened or install.stage in _HELD)
        if install is not None and install.printed and shows_output:
            known = install.job
            if known.output is not None:
                yield from output_rows(row, known.output)
        if install is not None and install.plan and install.stage not in BUSY:
            yield from _plan_rows(install.plan, install.stage, self._used_before(found))

    def _used_before(self, found: Found) -> str:
        """Return the place of a server that is used whatever is installed, "" if there is none."""
        folder = self.scene.servers.finding.folder or ""
        return "" if found.place.startswith(f"{folder}/") else found.place

    def _details(self, name: str, found: Found) -> Iterator[Row]:
        current, previous = found.versions
        is_ours = current is not None and current.command[0] == found.place
        facts = [] if is_ours else [f"runs {it}" for it in (found.place or found.fault,) if it]
        facts += [f"runs {shlex.join(current.command)}"] if current and is_ours else []
        if self._wants_login(name, found):
            facts.append("it asked for a login when it was last used: :Eca login in a chat of it")
        facts += [f"version before: {previous.version}, u uses it again"] if previous else []
        server = next((it for it in self.scene.servers if it.name == name), None)
        if server is not None and server.process.agent and (title := server.process.agent.title):
            facts.append(f"calls itself {title}")
        for number, text in enumerate(facts):
            yield Row(f"{name}\nfact {number}", (INDENT, rest(text, "EcaMuted")))
        for chat in self.scene.chats:
            if chat.server_name == name:
                line = (INDENT, rest(chat.title or "a chat without a title"))
                yield Row(f"{name}\nchat {chat.id}", line, ("chat",), chat=chat.id)

    def _registry_row(self) -> Row:
        folder, install = self.scene.servers.finding.folder, self._installs.under_way.get(REGISTRY)
        if install is not None and install.stage is not Stage.DONE:
            word = "asking for the list …" if install.stage in BUSY else install.line
            return note(word, "EcaRunning" if install.stage in BUSY else "EcaWarning")
        at = listed_at(folder) if folder else None
        ago = "" if at is None else duration((time.time() - at) // 60 * 60_000) or "a minute"
        if at is None:
            return note("R asks the public registry which agents there are, and their versions")
        return note(f"{len(self._installs.listed)} agents were listed {ago} ago: R asks again")

    # --- actions ----------------------------------------------------------------------------------

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:
        """Choose a server, look at it, plan, approve, or undo an installation."""
        name, _, tail = row.partition("\n")
        digest = tail.partition(" ")[2]
        installs = self._installs
        match action:
            case "use":
                return {"server": name}
            case "chat":
                return {"chat": digest}
            case "details":
                self.toggle(name)
            case "all":
                self._show_output(name)
            case "install":
                installs.plan(name)
                return {"row": name}
            case "undo" | "uninstall":
                installs.do(name, action)
            case "refresh":
                installs.do(REGISTRY, action)
            case _:
                self._decide(action, name, digest, values)
        return None

    def _decide(self, action: str, name: str, digest: str, values: Mapping[str, str]) -> None:
        """Carry out a plan that was shown, change it, or give it up."""
        match action:
            case "yes":
                self._installs.carry_out(name, digest)
            case "sum":
                typed = values["sum"].strip().lower()
                if not is_sum(typed):
                    raise Refused("a sum of SHA-256 has 64 digits of 0-9 and a-f: copy it whole")
                self._installs.change(name, digest, lambda it: it._replace(sum=typed))
            case "scripts":
                self._installs.change(name, digest, Plan.without_scripts)
            case _:
                self._installs.cancel(name)

    def _show_output(self, name: str) -> None:
        install = self._installs.under_way.get(name)
        if install is None or not install.printed:
            raise Refused("nothing was printed for it")
        self.scene.view.push([whole_output(install.job, "last")])


def _plan_rows(plan: Plan, stage: Stage, used_before: str) -> Iterator[Row]:
    """Yield what would be done, whole, and last the row with the keys that answer."""
    texts = [*_plan_texts(plan)]
    if plan.name in KNOWN and (needs := KNOWN[plan.name].needs):
        texts.append([rest(f"It does not start before you {needs}.", "EcaWarning")])
    if used_before:
        texts.append([rest(f"It is not used while {_home(used_before)} is there.", "EcaWarning")])
    keys = ["yes", *(["scripts"] if plan.how == NPM else []), "cancel"]
    if plan.how == ARCHIVE and not plan.sum:
        keys = ["sum", "cancel"]
    for number, cells in enumerate(texts):
        yield Row(f"{plan.name}\nplan {number}", (INDENT, *cells))
    again = "again " if stage is Stage.FAILED else ""
    said = f"y does this {again}· x gives up" + (" · S toggles scripts" if plan.how == NPM else "")
    if keys[0] == "sum":
        said = "s takes the sum that you type · x gives up"
    line = (INDENT, (said, "EcaQuestion", 0))
    yield Row(f"{plan.name}\nyes {plan.digest}", line, keys, {"name": plan.name})


def _plan_texts(plan: Plan) -> Iterator[Sequence[Cell]]:
    """Yield the rows of a plan: few, so that a small window shows all of them."""
    what = f"{plan.name} {cell(plan.version, 40)}"
    if plan.how == ARCHIVE:
        size = f", {plan.size / _MEGA:.1f} MB," if plan.size else ""
        yield from _whole(f"Get {what}{size} from", plan.url)
        no_sum = [rest("nobody says its sum, so type it", "EcaWarning")]
        yield [rest(f"SHA-256 {plan.sum}")] if plan.sum else no_sum
        yield from _whole("and unpack it into", plan.place)
    else:
        yield from _whole(f"Install {what} by", shlex.join(plan.command))
        yield [_scripts(plan)]
    words = [f"{name}={value}" for name, value in plan.environment.items()]
    words += [plan.program or f"the program of {plan.command[-1]}", *plan.arguments]
    yield from _whole("It is started, also to see whether it answers, as", shlex.join(words))


def _scripts(plan: Plan) -> Cell:
    """Return what of others runs while a package is installed."""
    if plan.how != NPM:
        return rest("Building a package may run code of its own, as you.", "EcaWarning")
    if "--ignore-scripts" in plan.command:
        return rest("Scripts of the packages do not run; some agents need theirs.", "EcaMuted")
    return rest("npm runs the scripts that these packages bring, as you.", "EcaWarning")


def _whole(about: str, text: str) -> Iterator[Sequence[Cell]]:
    """Yield a text in pieces that no row cuts, the first one behind some words.

    Nothing in it is hidden: a line break, which may end a comment, is one to the user, too.
    """
    begin: Sequence[Cell] = (rest(about), (" ", "", 0))
    shown = literal_name(text).replace("\t", "␉")
    for piece in textwrap.wrap(shown, PIECE, break_on_hyphens=False, drop_whitespace=False):
        yield [*begin, (piece, "EcaCode", 0)]
        begin = ()


def _home(path: str) -> str:
    home = f"{Path.home()}/"
    return f"~/{path[len(home) :]}" if path.startswith(home) else path
