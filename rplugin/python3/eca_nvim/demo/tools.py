"""The demo's tools: real files and a real shell, only inside a scratch folder.

Each tool returns a `Plan` first, with the details that a client can show, and changes nothing
before the plan runs. Paths outside the folder are refused.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eca_nvim.demo.scenes import FILES

Outputs = tuple[str, ...]
"""What a tool returns to the model."""
Run = Callable[[], Awaitable[Outputs]]
"""Runs a tool. Raises ToolFailed, OSError and UnicodeDecodeError."""


class ToolFailed(Exception):
    """Raised when a tool fails; the last of its outputs says why."""

    def __init__(self, *outputs: str) -> None:
        super().__init__(outputs[-1])
        self.outputs = outputs


@dataclass(frozen=True, slots=True)
class Plan:
    """A tool call that is ready to run; `changes`: the files whose content can be restored."""

    name: str
    summary: str
    arguments: Mapping[str, object]
    run: Run
    details: Mapping[str, object] | None = None
    ask: bool = False
    changes: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Workshop:
    """The scratch folder and its tools.

    `approved`: the tools that ask no more. `before`: the files before each call, by its id.
    """

    folder: Path
    approved: set[str] = field(default_factory=set)
    before: dict[str, Mapping[Path, bytes | None]] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path) -> Workshop:
        """Put the demo's files into a folder, if it is empty."""
        if not any(folder.iterdir()):
            for name, text in FILES.items():
                (folder / name).write_text(text, encoding="utf-8")
        return cls(folder.resolve())

    def text(self, name: str) -> str:
        """Return the text of a file, empty if it cannot be read."""
        try:
            return self._path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    async def run(self, call_id: str, plan: Plan) -> Outputs:
        """Run a plan, so that `undo` can restore the files it changes. Raises ToolFailed."""
        try:
            before = {it: it.read_bytes() if it.exists() else None for it in plan.changes}
            outputs = await plan.run()
        except (OSError, UnicodeDecodeError) as fault:  # the user may have moved any file
            raise ToolFailed(str(fault)) from fault
        self.before[call_id] = before
        return outputs

    def undo(self, call_id: str) -> None:
        """Restore the files that a call changed, once."""
        for path, content in self.before.pop(call_id, {}).items():
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content)

    def read(self, name: str) -> Plan:
        """Read a file."""
        path = self._path(name)

        async def run() -> Outputs:
            return (path.read_text(encoding="utf-8"),)

        return Plan("read_file", f"Reading file {name}", {"path": str(path)}, run)

    def edit(self, name: str, old: str, new: str) -> Plan:
        """Replace a text in a file; asks first. A missing text fails without asking."""
        path, before = self._path(name), self.text(name)
        arguments = {"path": str(path), "original_content": old, "new_content": new}
        if old in before:
            after = before.replace(old, new)
            return _change("edit_file", "Editing", path, before, after, arguments)

        async def run() -> Outputs:
            raise ToolFailed(f"{path} lacks that text")

        return Plan("edit_file", "Editing", arguments, run)

    def write(self, name: str, content: str) -> Plan:
        """Write a whole file; asks first. As with the real server, the diff starts from nothing."""
        path = self._path(name)
        arguments = {"path": str(path), "content": content}
        return _change("write_file", "Creating", path, "", content, arguments)

    def move(self, name: str, to: str) -> Plan:
        """Move a file, but never onto another; asks first."""
        source, destination = self._path(name), self._path(to)
        arguments = {"source": str(source), "destination": str(destination)}

        async def run() -> Outputs:
            if destination.exists():
                raise ToolFailed(f"Path {destination} already exists")
            source.rename(destination)
            return (f"Successfully moved {source} to {destination}",)

        changes = (source, destination)
        return Plan("move_file", f"Moving {name}", arguments, run, ask=True, changes=changes)

    def shell(self, command: str) -> Plan:
        """Run a shell command in the folder; asks first."""
        words = shlex.split(command)
        part = {"command": words[0], "args": words[1:], "approvalKey": words[0]}
        details = {"type": "shellCommand", "commands": [{**part, "remembered": False}]}
        arguments = {"command": command, "working_directory": str(self.folder)}

        async def run() -> Outputs:
            return await _run_shell(command, self.folder)

        return Plan("shell_command", f"$ {command}", arguments, run, details, ask=True)

    def _path(self, name: str) -> Path:
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise ValueError(f"{name} is outside the demo's folder")
        return path


def _change(
    tool: str, summary: str, path: Path, before: str, after: str, arguments: Mapping[str, object]
) -> Plan:
    """Return a plan to write a file: hunks without a header or a final line end, as from ECA."""

    async def run() -> Outputs:
        await asyncio.to_thread(path.write_text, after, encoding="utf-8")
        return (f"Successfully wrote to {path}",)

    # The server compares a new file with one empty line, so that a line seems to be removed.
    old, new = before.splitlines() or [""], after.splitlines()
    lines = [line.rstrip("\n") for line in difflib.unified_diff(old, new, lineterm="")][2:]
    details = {
        "type": "fileChange",
        "path": str(path),
        "diff": "\n".join(lines),
        "linesAdded": sum(line.startswith("+") for line in lines),
        "linesRemoved": sum(line.startswith("-") for line in lines) if before else 0,
    }
    return Plan(tool, summary, arguments, run, details, ask=True, changes=(path,))


async def _run_shell(command: str, folder: Path) -> Outputs:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        said = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    texts = zip(("Stdout", "Stderr"), (it.decode(errors="replace") for it in said), strict=True)
    shown = (f"{name}:\n{text.rstrip()}" for name, text in texts if text.strip())
    outputs = (f"Exit code: {process.returncode}", *shown)
    if process.returncode:
        raise ToolFailed(*outputs)
    return outputs
