"""The demo's tools: real files and a real shell, only inside a scratch folder.

Rules kept here: each tool returns a `Plan` first, with the details that a client can show, and
changes nothing before the plan runs. Paths outside the folder are refused. A tool that fails
returns a failed outcome and never raises: the user may have moved or deleted any file.
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

GREETING = '''"""Greets people. One name comes out wrong: ask the demo agent to fix it."""

import sys


def greet(name):
    return "Hello, " + name.lower() + "!"


if __name__ == "__main__":
    print(greet(sys.argv[1] if len(sys.argv) > 1 else "Neovim"))
'''

NOTES = """# The demo's workshop

Real files that the demo agent may read and, when you allow it, change.
The folder goes away with the demo agent.
"""


Before = Mapping[Path, bytes | None]
"""The content of files before a tool changed them; None for a file that did not exist."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool returns to the model, and what is needed to undo it."""

    outputs: tuple[str, ...]
    failed: bool = False
    before: Before = field(default_factory=dict)


Run = Callable[[], Awaitable[Outcome]]
"""Runs a tool."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A tool call that is ready to run."""

    name: str
    summary: str
    arguments: Mapping[str, object]
    run: Run
    details: Mapping[str, object] | None = None
    ask: bool = False


@dataclass(frozen=True, slots=True)
class Workshop:
    """The scratch folder and its tools."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> Workshop:
        """Put the demo's files into a folder, if it is empty."""
        if not any(folder.iterdir()):
            (folder / "greet.py").write_text(GREETING, encoding="utf-8")
            (folder / "README.md").write_text(NOTES, encoding="utf-8")
        return cls(folder.resolve())

    def text(self, name: str) -> str:
        """Return the text of a file, empty if it cannot be read."""
        try:
            return self._path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def file_with(self, text: str, *names: str) -> str:
        """Return the first of some files that contains a text, else the first."""
        return next((name for name in names if text in self.text(name)), names[0])

    def read(self, name: str) -> Plan:
        """Read a file."""
        path = self._path(name)

        async def run() -> Outcome:
            return Outcome((await asyncio.to_thread(path.read_text, encoding="utf-8"),))

        return Plan("read_file", f"Reading file {name}", {"path": str(path)}, _guarded(run))

    def edit(self, name: str, old: str, new: str) -> Plan:
        """Replace a text in a file; asks first. A missing text fails without asking."""
        path = self._path(name)
        arguments = {"path": str(path), "original_content": old, "new_content": new}
        before = self.text(name)
        if old not in before:
            return _failing("edit_file", "Editing", arguments, f"{path} lacks that text")
        after = before.replace(old, new)
        return self._change("edit_file", "Editing", path, before, after, arguments)

    def write(self, name: str, content: str) -> Plan:
        """Write a whole file; asks first. As with the real server, the diff starts from nothing."""
        path = self._path(name)
        arguments = {"path": str(path), "content": content}
        return self._change("write_file", "Creating", path, "", content, arguments)

    def move(self, name: str, to: str) -> Plan:
        """Move a file, but never onto another; asks first."""
        source, destination = self._path(name), self._path(to)
        arguments = {"source": str(source), "destination": str(destination)}

        async def run() -> Outcome:
            if destination.exists():
                return Outcome((f"Path {destination} already exists",), failed=True)
            before = _contents(source, destination)
            await asyncio.to_thread(source.rename, destination)
            said = f"Successfully moved {source} to {destination}"
            return Outcome((said,), before=before)

        return Plan("move_file", f"Moving {name}", arguments, _guarded(run), ask=True)

    def shell(self, command: str) -> Plan:
        """Run a shell command in the folder; asks first."""

        async def run() -> Outcome:
            return await _run_shell(command, self.folder)

        words = shlex.split(command)
        part = {"command": words[0], "args": words[1:], "approvalKey": words[0]}
        details = {"type": "shellCommand", "commands": [{**part, "remembered": False}]}
        arguments = {"command": command, "working_directory": str(self.folder)}
        return Plan("shell_command", f"$ {command}", arguments, _guarded(run), details, ask=True)

    def python(self, name: str, *arguments: str) -> Plan:
        """Run a Python file of the folder through the shell; asks first."""
        return self.shell(shlex.join([Path(sys.executable).name, name, *arguments]))

    def _path(self, name: str) -> Path:
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise ValueError(f"{name} is outside the demo's folder")
        return path

    def _change(
        self,
        tool: str,
        summary: str,
        path: Path,
        old: str,
        new: str,
        arguments: Mapping[str, object],
    ) -> Plan:
        async def run() -> Outcome:
            before = _contents(path)
            await asyncio.to_thread(path.write_text, new, encoding="utf-8")
            return Outcome((f"Successfully wrote to {path}",), before=before)

        details = _file_change(path, old, new)
        return Plan(tool, summary, arguments, _guarded(run), details, ask=True)


def _guarded(run: Run) -> Run:
    """Return a function that turns errors of the disk into a failed outcome."""

    async def attempt() -> Outcome:
        try:
            return await run()
        except (OSError, UnicodeDecodeError) as fault:
            return Outcome((str(fault),), failed=True)

    return attempt


def _failing(tool: str, summary: str, arguments: Mapping[str, object], fault: str) -> Plan:
    async def run() -> Outcome:
        return Outcome((fault,), failed=True)

    return Plan(tool, summary, arguments, run)


def restore_files(before: Before) -> None:
    """Restore the content of files."""
    for path, content in before.items():
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(content)


def _contents(*paths: Path) -> Before:
    return {path: path.read_bytes() if path.exists() else None for path in paths}


def _file_change(path: Path, before: str, after: str) -> dict[str, object]:
    """Return details as the server sends them: hunks without a header or a final line end."""
    # The server compares a new file with one empty line, so that a line seems to be removed.
    old, new = before.splitlines() or [""], after.splitlines()
    lines = [line.rstrip("\n") for line in difflib.unified_diff(old, new, lineterm="")][2:]
    return {
        "type": "fileChange",
        "path": str(path),
        "diff": "\n".join(lines),
        "linesAdded": sum(line.startswith("+") for line in lines),
        "linesRemoved": sum(line.startswith("-") for line in lines) if before else 0,
    }


async def _run_shell(command: str, folder: Path) -> Outcome:
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    named = (("Stdout", out.decode(errors="replace")), ("Stderr", err.decode(errors="replace")))
    texts = tuple(f"{name}:\n{text.rstrip()}" for name, text in named if text.strip())
    return Outcome((f"Exit code: {process.returncode}", *texts), failed=process.returncode != 0)
