"""Every kind of content and of tool details that the protocol has, on the screen."""

from collections.abc import Mapping
from typing import get_args

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import Steps, content, expect, handshake, text, turn
from tests.ui.talk import asks, done, say, start_chat, tool, wait_line

from eca_nvim.protocol.eca import content as contents
from eca_nvim.protocol.eca import tool_call

pytestmark = pytest.mark.either_nvim

PNG = "iVBORw0KGgo="
DIFF = "@@ -1,1 +1,1 @@\n-old\n+new"
PATTERN: Mapping[str, Value] = {"arguments": {"pattern": "a"}}
WAIT = expect("chat/promptStop")
"""The screen is looked at before the turn ends."""


def ran(call: str = "a", name: str = "grep", **fields: Value) -> Steps:
    return tool("Run", call, name, manualApproval=False, **{**PATTERN, **fields})


def running(**told: Value) -> Steps:
    return [*ran(details=told), *tool("Running", "a", details=told)]


LIMIT = {"context": 200_000, "output": 1000}
USAGE = {"sessionTokens": 3400, "limit": LIMIT, "sessionCost": "0.09"}
HOOK = {"id": "h", "name": "lint", "actionType": "shell"}
REASON = {"id": "r"}
THOUGHTS = [
    *content({"type": "reasonStarted", **REASON}),
    *content({"type": "reasonText", "text": "let me see", **REASON}),
]

KINDS: dict[str, tuple[Steps, list[str]]] = {
    "text": (text("plain **words**"), ["plain words"]),
    "url": (
        content({"type": "url", "title": "Docs", "url": "https://e.org"}),
        ["↗ Docs https://e"],
    ),
    "image": (content({"type": "image", "mediaType": "image/png", "base64": PNG}), ["▣ image/png"]),
    "progress": (
        content({"type": "progress", "state": "running", "text": "Waiting model"}, "system"),
        ["Waiting model"],
    ),
    "usage": (content({"type": "usage", **USAGE}, "system"), ["3k/200k", "$0.09"]),
    "reasonStarted": (content({"type": "reasonStarted", **REASON}), ["thinking…"]),
    "reasonText": (THOUGHTS, ["thinking…"]),
    "reasonFinished": (
        [*THOUGHTS, *content({"type": "reasonFinished", "totalTimeMs": 4000, **REASON})],
        ["▸ thought 4s"],
    ),
    "hookActionStarted": (content({"type": "hookActionStarted", **HOOK}), ["⚙ lint …"]),
    "hookActionFinished": (
        content({"type": "hookActionFinished", "status": 3, "output": "long", **HOOK}),
        ["✗ lint exit 3", "output  long"],
    ),
    "toolCallPrepare": (tool("Prepare", "a", argumentsText='{"pattern": "abc"'), ["… grep abc"]),
    "toolCallRun": (asks("a"), ["? grep a in src waiting"]),
    "toolCallRunning": ([*ran(), *tool("Running", "a", **PATTERN)], ["● grep a"]),
    "toolCalled": ([*ran(), *done("a")], ["✓ grep a"]),
    "toolCallRejected": (
        [*ran(), *tool("Rejected", "a", reason="user", **PATTERN)],
        ["⊘ grep a rejected"],
    ),
    "metadata": (
        content({"type": "metadata", "title": "A title"}, "system"),
        ["A title", "mock"],
    ),
    "flag": (content({"type": "flag", "text": "here", "contentId": "f"}), ["⚑ here"]),
    "fileChange": (
        content({"type": "fileChange", "file": "a.py", "description": "why", "changes": []}),
        ["· fileChange", "why", "a.py"],
    ),
}
"""By its type: what the server sends, and what is on the screen then.

The last is of the protocol's first draft, and only shown when a newer server sends it; a tool's
`fileChange` is among the details.
"""

DETAILS: dict[str, tuple[Steps, list[str]]] = {
    "fileChange": (
        asks(
            name="edit_file",
            arguments={"path": "a.py"},
            details={"path": "a.py", "diff": DIFF, "linesAdded": 1, "linesRemoved": 1},
        ),
        ["? edit a.py +1 -1 waiting", "-old", "+new"],
    ),
    "jsonOutputs": (
        [*ran(), *done("a", details={"jsons": ['{"size": 12}']}, error=True)],
        ["✗ grep a", "found"],
    ),
    "subagent": (
        running(agentName="explorer", step=2, maxSteps=9, subagentChatId="s", model="m"),
        ["· step 2/9"],
    ),
    "task": (
        done(
            name="task",
            details={
                "tasks": [{"id": 1, "subject": "Look", "status": "in-progress"}],
                "inProgressTaskIds": [1],
                "summary": {"done": 0, "inProgress": 1, "pending": 0, "total": 1},
            },
        ),
        ["0/1 · Look", "▢ tasks 0/1"],
    ),
    "shellCommand": (
        asks(
            name="shell_command",
            arguments={"command": "ls && pwd"},
            details={
                "commands": [
                    {"command": "ls", "args": [], "approvalKey": "ls", "remembered": False},
                    {"command": "pwd", "args": [], "approvalKey": "pwd", "remembered": True},
                ],
            },
        ),
        ["? $ ls && pwd waiting", "always allow: ls", "pwd  always allowed"],
    ),
}


def typed(steps: Steps, name: str) -> Steps:
    """Add the type to the details in the contents of some steps."""
    for step in steps:
        shown = step.get("params", {}).get("content", {})
        if "details" in shown:
            shown["details"] = {"type": name, **shown["details"]}
    return steps


def show(start_nvim: StartNeovim, scripted_server: PrepareScript, steps: Steps) -> Neovim:
    server = scripted_server(handshake(), turn(text("so\n"), steps, WAIT))
    nvim = start_chat(start_nvim, server, settings={"approval": {"float": False}}, columns=160)
    say(nvim, "go")
    wait_line(nvim, "so")
    return nvim


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_content_is_seen(
    kind: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    steps, seen = KINDS[kind]
    nvim = show(start_nvim, scripted_server, steps)
    for words in seen:
        nvim.wait_screen(words)
    assert not nvim.blocked()


@pytest.mark.parametrize("kind", DETAILS)
def test_details_of_a_tool_call_are_seen(
    kind: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    steps, seen = DETAILS[kind]
    nvim = show(start_nvim, scripted_server, typed(steps, kind))
    for words in seen:
        nvim.wait_screen(words)


def tags(union: object, unknown: type) -> set[str]:
    """Return the types of a union of messages."""
    return {kind.__struct_config__.tag for kind in get_args(union) if kind is not unknown}


def test_no_kind_is_left_out() -> None:
    assert tags(contents.Content, contents.UnknownContent) == set(KINDS)
    assert tags(tool_call.Details, tool_call.UnknownDetails) == set(DETAILS)
