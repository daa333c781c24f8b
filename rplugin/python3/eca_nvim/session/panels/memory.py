"""The panel of what an agent remembers, and of what it has loaded beside that, with the files."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import ClassVar, Final

import anyio
from msgspec import Struct

from eca_nvim.agents.abilities import AgentRefused, FoundCommand, Remembered
from eca_nvim.agents.base import Agent
from eca_nvim.chat.text.safe_text import duration
from eca_nvim.chat.vocabulary.completion import ItemKind
from eca_nvim.chat.vocabulary.options import MODE, first_of
from eca_nvim.chat.vocabulary.panels import Action, Cell, Row
from eca_nvim.path_risks import is_inside, real_path
from eca_nvim.paths import path_fault
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
from eca_nvim.session.view import Refused, isolated
from eca_nvim.threads import run_in_thread

MOST_FILES: Final = 2000
"""Files that are looked at in a folder, at most."""
_DEEPEST: Final = 6
"""Folders below one another that are looked into."""
_UNTRIED: Final = "made after ECA's documents of version 0.157, and not tried with a real server"
_INDENT: Final[Cell] = ("  ", "", 0)
_BUILT_IN: Final = "built in"
_ELSEWHERE: Final = "from the config or a plugin"


class Kind(StrEnum):
    """What is loaded, by the names of the folders in which its files are."""

    INSTRUCTIONS = "AGENTS.md"
    AGENT = "agents"
    RULE = "rules"
    SKILL = "skills"
    COMMAND = "commands"


class Loaded(Struct, frozen=True):
    """Something that is loaded.

    source: where it comes from. path: absolute, "" for no file. about: its path, or what it does.
    """

    kind: Kind
    name: str
    source: str
    path: str = ""
    about: str = ""


class MemoryPanel(Panel):
    """What one server remembers and has loaded: asked once, and again after it has restarted."""

    ACTIONS: ClassVar = (
        Action("open", "o", "open the file"),
        Action("again", "r", "look again", everywhere=True),
    )

    def __init__(self, scene: Scene, chat_id: str | None) -> None:
        super().__init__(scene, chat_id)
        self._agent: Agent | None = None  # that was asked
        self._since = 0.0
        self._remembered: Sequence[Remembered] | None = None
        self._no_memory = ""
        self._files: Sequence[Loaded] | None = None
        self._commands: Sequence[FoundCommand] = ()
        self._no_commands = ""
        self._paths: dict[str, str] = {}

    @property
    def title(self) -> str:
        """How much is remembered, and how much of it the prompts of the chat have."""
        known = "" if self._remembered is None else f": {len(self._remembered)} remembered"
        has = self.server.incoming.memory.get(self.chat_id or "")
        return f"memory{known}" + (f", {has.count} of {has.total} in this chat" if has else "")

    async def _ask(self, agent: Agent) -> None:
        """Ask for the memory and the commands, and look for files, all at once."""
        self._since = time.monotonic()
        with isolated(self.scene.view, "show the memory", self.server.name):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._ask_memory, agent)
                tasks.start_soon(self._ask_commands, agent)
                tasks.start_soon(self._look, agent)

    async def _ask_memory(self, agent: Agent) -> None:
        try:
            self._remembered = None if agent.memory is None else await agent.memory.entries()
            self._no_memory = ""
        except AgentRefused as refusal:
            self._remembered, self._no_memory = None, str(refusal)
        self.scene.chats.changed()

    async def _ask_commands(self, agent: Agent) -> None:
        try:
            if agent.queries is not None:
                self._commands = await agent.queries.commands(self.chat_id or "")
            self._no_commands = ""
        except AgentRefused as refusal:
            self._commands, self._no_commands = (), str(refusal)
        self.scene.chats.changed()

    async def _look(self, agent: Agent) -> None:
        files = () if agent.tool_servers is None else agent.tool_servers.config_files
        folders = [str(it.parent) for it in files]
        self._files = await run_in_thread(partial(loaded_files, folders[:-1], folders[-1:]))
        self.scene.chats.changed()

    def rows(self) -> Iterator[Row]:
        """Yield the memory, then what is loaded beside it, each kind together."""
        agent, self._paths = self.server.process.agent, {}
        if agent is not None and agent is not self._agent:
            self._agent, self._remembered, self._no_memory = agent, None, ""
            self.scene.servers.start(partial(self._ask, agent))
        if agent is None:
            yield note(f"{self.server.name} is not ready: :Eca start starts it")
        elif agent.memory is None:
            yield note(f"{self.server.name} keeps what it remembers to itself: memory is ECA's")
        else:
            yield from self._memory()
        loaded = list(self._loaded(is_eca=agent is not None and agent.memory is not None))
        for kind in Kind:
            found = [it for it in loaded if it.kind is kind]
            if found:
                yield _head(kind.value, str(len(found)))
            for index, item in enumerate(found):
                row = f"{kind} {index}"  # names on the disk may be no text
                self._paths[row] = item.path
                yield _row_of(row, item)
        if self._no_commands:
            yield note(self._no_commands)
        if self._files is None and agent is not None:
            yield note("looking for files …")

    def _memory(self) -> Iterator[Row]:
        if self._remembered is None:
            waited = duration((time.monotonic() - self._since) // 1 * 1000) if self._since else ""
            yield _head("memory", self._no_memory or f"asked for … {waited}")
            return
        yield _head("memory", str(len(self._remembered) or "nothing is remembered"))
        yield note(_UNTRIED)
        for index, entry in enumerate(self._remembered):
            row = f"memory {index}"
            self._paths[row] = entry.path
            yield _row_of_memory(row, entry)

    def _loaded(self, *, is_eca: bool) -> Iterator[Loaded]:
        """Yield files, and what the server has told that has none."""
        files = self._files or ()
        yield from files
        named = {(it.kind, it.name.lower()) for it in files}
        told = [*map(_of_command, self._commands)]
        chat = self.scene.chats.table.get(self.chat_id or "")
        if chat is not None:
            mode = first_of(chat.options, MODE) if is_eca else None
            offers = () if mode is None else mode.offers
            told += [Loaded(Kind.AGENT, it.value, "built in or configured") for it in offers]
            of_chat = [
                Loaded(Kind.COMMAND, it.name, "the agent's", "", it.description)
                for it in chat.commands
            ]
            told += () if self._commands else of_chat
        yield from (it for it in told if (it.kind, it.name.lower()) not in named)

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:  # noqa: ARG002 - nothing is asked for
        """Open a file, or look again."""
        if action == "again":
            if self._agent is not None:
                await self._ask(self._agent)
            return None
        path = self._paths.get(row)
        if path is None:
            raise Refused("this is listed no more")
        if fault := path_fault(path):
            raise Refused(f"not opened, {fault}: {cell(path, 30)}")
        try:
            path.encode()
        except UnicodeEncodeError:
            raise Refused("not opened: its name is no UTF-8") from None
        return {"open": path}


def _head(name: str, more: str) -> Row:
    return Row(f"head\n{name}", ((name, "EcaHeading", 0), _INDENT, rest(more, "EcaMuted")))


def _row_of(row: str, item: Loaded) -> Row:
    source = whole_column(item.source, 14, "EcaMuted")
    line = (_INDENT, whole_column(item.name, 24), source, rest(item.about))
    return Row(row, line, ("open",) if item.path else ())


def _row_of_memory(row: str, entry: Remembered) -> Row:
    changed = entry.changed_ms
    day = "" if changed is None else time.strftime("%Y-%m-%d", time.localtime(changed / 1000))
    tags = f" ({', '.join(entry.tags)})" if entry.tags else ""
    kind = f"{entry.kind}: " if entry.kind else ""
    name = entry.name or os.path.basename(entry.path)  # noqa: PTH119 - it may be no path here
    line = (
        *(_INDENT, whole_column(name, 24), whole_column(entry.label, 14, "EcaMuted")),
        *(column(day, 10, "EcaTime"), rest(f"{kind}{entry.description}{tags}")),
    )
    return Row(row, line, ("open",))


def _of_command(command: FoundCommand) -> Loaded:
    """Return a command or skill that the server has told, as if it had no file."""
    about = command.description
    match command.kind:
        case ItemKind.SKILL:
            return Loaded(Kind.SKILL, command.name, _BUILT_IN, "", about)
        case ItemKind.PROMPT:
            return Loaded(Kind.COMMAND, command.name, "MCP server", "", about)
    # A command of the user's without a description has its path there.
    path = about if command.custom and path_fault(about) is None else ""
    return Loaded(
        Kind.COMMAND, command.name, _ELSEWHERE if command.custom else _BUILT_IN, path, about
    )


# --- files, in a thread ---------------------------------------------------------------------------


def loaded_files(projects: Sequence[str], own: Sequence[str]) -> Sequence[Loaded]:
    """Return the files that ECA loads from its folders: those of projects, and the user's own.

    A file of a project to which a link leads is listed if it is in the project.
    """
    found: list[Loaded] = []
    for folder in own:
        places = _places(Path(folder), Path(folder))
        found += [Loaded(it, name, "global", path, _short(path)) for it, name, path in places]
    for folder in projects:
        root = Path(folder).parent
        for kind, name, path in _places(root, Path(folder), root / ".agents"):
            if is_inside(real_path(path), [str(root)]):
                about = path.removeprefix(f"{root}/")
                found.append(Loaded(kind, name, root.name, path, about))
    return found


def _places(root: Path, *folders: Path) -> Iterator[tuple[Kind, str, str]]:
    """Yield kind, name and path of the files below a root; only the first folder has all kinds."""
    if _is_file(root / Kind.INSTRUCTIONS):
        yield Kind.INSTRUCTIONS, Kind.INSTRUCTIONS, str(root / Kind.INSTRUCTIONS)
    kinds = [it for it in Kind if it is not Kind.INSTRUCTIONS]
    for kind, folder in [*product(kinds, folders[:1]), *product([Kind.SKILL], folders[1:])]:
        deepest = 0 if kind is Kind.AGENT else _DEEPEST
        for path in islice(_walk(folder / kind, deepest), MOST_FILES):
            if name := _name_in(kind, path):
                yield kind, name, str(path)


def _name_in(kind: Kind, path: Path) -> str:
    """Return the name of what a file defines; "" if ECA does not load it from such a folder."""
    match kind:
        case Kind.SKILL:
            return path.parent.name if path.name == "SKILL.md" else ""
        case Kind.RULE:
            return path.name
        case _:
            return path.stem.lower() if path.suffix.lower() == ".md" else ""


def _is_file(path: Path) -> bool:
    """Return whether a path leads to a file that can be reached: raises nothing."""
    return os.path.isfile(path)  # noqa: PTH113 - pathlib raises for a link into a forbidden folder


def _walk(folder: Path, deepest: int) -> Iterator[Path]:
    """Yield the files in a folder and, so many folders deep, below it; no link to a folder."""
    try:
        with os.scandir(folder) as listed:
            entries = sorted(islice(listed, MOST_FILES), key=lambda it: it.name)
    except OSError:
        return  # none is there, or none that could be opened
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), deepest - 1) if deepest else ()
        elif _is_file(Path(entry.path)):
            yield Path(entry.path)


def _short(path: str) -> str:
    """Return a path with `~` for the home folder."""
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path
