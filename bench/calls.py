"""Tool calls of the fake server, with the messages and fields of the real one."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from typing import TypeAlias

from bench.texts import PROJECT

Content: TypeAlias = list[str | Mapping[str, object]]
"""A role and a content."""


def commands(count: int, lines: int) -> list[Content]:
    """Run shell commands with an output of this many lines each."""
    return [message for number in range(count) for message in _command(number, lines)]


def files(count: int, lines: int) -> dict[str, str]:
    """Write the files that the edits change."""
    head = ["import os", *("" for _ in range(8))]
    return {
        f"module_{number}.py": "\n".join((*head, *_replaced(number, lines)[0], ""))
        for number in range(count)
    }


def edits(count: int, lines: int) -> list[Content]:
    """Change files, each by a diff of this many lines."""
    return [message for number in range(count) for message in _edit(number, lines)]


def _command(number: int, lines: int) -> list[Content]:
    line = f"pytest -q tests/test_{number}.py"
    part = {"command": "pytest", "args": line.split()[1:], "approvalKey": "pytest"}
    about = {
        "name": "shell_command",
        "summary": f"$ {line}",
        "arguments": {"command": line},
        "details": {"type": "shellCommand", "commands": [part]},
    }
    rows = (f"tests/test_{number}.py::test_{row} PASSED [{row:3}%]" for row in range(lines - 1))
    return _call(number, about, "\n".join(("Stdout:", *rows)))


def _edit(number: int, lines: int) -> list[Content]:
    path = f"{PROJECT}/module_{number}.py"
    old, new = _replaced(number, lines)
    rows = [f"@@ -10,{len(old)} +10,{len(new)} @@"]
    for kept, removed, added in zip(old[::2], old[1::2], new[1::2], strict=True):
        rows += [f" {kept}", f"-{removed}", f"+{added}"]
    change = {"type": "fileChange", "path": path, "diff": "\n".join(rows)}
    about = {
        "name": "edit_file",
        "summary": "Editing",
        "arguments": {
            "path": path,
            "original_content": "\n".join(old),
            "new_content": "\n".join(new),
        },
        "details": {**change, "linesAdded": len(new) // 2, "linesRemoved": len(old) // 2},
    }
    return _call(number, about, f"Successfully replaced content in {path}.")


def _replaced(number: int, lines: int) -> tuple[list[str], list[str]]:
    """Write what a diff of this many lines changes: every other line is another one after it."""
    old, new = [], []
    for row in range((lines - 1) // 3):
        kept = f"    value_{row} = compute({row}, 'text', key=True)"
        old += [kept, f"    total += value_{row} * {number}"]
        new += [kept, f"    total += value_{row} * {number} + 1"]
    return old, new


def _call(number: int, about: Mapping[str, object], output: str) -> list[Content]:
    """Return all messages about a call that runs without a question."""
    known = {"id": f"call-{number}", "server": "eca", "origin": "native", **about}
    written = {key: known[key] for key in ("id", "server", "origin", "name", "summary")}
    text = dumps(known["arguments"])
    outputs = [{"type": "text", "text": "Exit code: 0"}, {"type": "text", "text": output}]
    ended = {"totalTimeMs": 127, "error": False, "outputs": outputs}
    return [
        ["assistant", {"type": "toolCallPrepare", **written, "argumentsText": ""}],
        ["assistant", {"type": "toolCallPrepare", **written, "argumentsText": text}],
        ["assistant", {"type": "toolCallRun", **known, "manualApproval": False}],
        ["assistant", {"type": "toolCallRunning", **known}],
        ["system", {"type": "progress", "state": "running", "text": "Calling tool"}],
        ["assistant", {"type": "toolCalled", **known, **ended}],
    ]
