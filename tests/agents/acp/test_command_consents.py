"""Consent to commands: a command that was allowed covers itself alone."""

from __future__ import annotations

from typing import Final

import anyio
import pytest
from tests.agents.acp.asking import Asking
from tests.agents.acp.test_acp_consents import write
from tests.agents.acp.wire import YES

from eca_nvim.agents.acp.requests.acts import run_command

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("words", "is_covered"),
    [
        (["sh", "-c", "echo 'a b'; ls"], True),
        (["/bin/bash", "-lc", "echo 'a b'; ls"], True),
        (["sh", "-c", "echo 'a b'; ls; rm x"], False),
        (["sh", "-c", "echo 'a b'"], False),
        (["sh", "-c", 'echo "a b"; ls'], False),
        (["echo", "a b;", "ls"], False),  # as the shell reads it, these are two commands
        (["env", "sh", "-c", "echo 'a b'; ls"], False),
    ],
)
async def test_a_command_covers_itself_alone(
    asking: Asking, words: list[str], is_covered: bool
) -> None:
    asking.permit(YES, kind="execute", rawInput={"command": "echo 'a b'; ls"})
    folder = str(asking.folder)
    assert await asking.allows(run_command(words, folder, {})) is is_covered
    assert not await asking.allows(run_command(words, folder + "/src", {}))
    assert not await asking.allows(run_command(words, folder, {"PATH": "/tmp"}))


@pytest.mark.parametrize(
    ("line", "words", "is_covered"),
    [
        ("rm -rf b # /home", ["rm", "-rf", "b", "#", "/home"], False),
        ("rm -rf b\nls /home", ["rm", "-rf", "b", "ls", "/home"], False),
        ("rm -rf b; ls /home", ["rm", "-rf", "b;", "ls", "/home"], False),
        ("rm b || ls a", ["rm", "b", "||", "ls", "a"], False),
        ("ls $HOME", ["ls", "$HOME"], False),
        ('ls "$HOME"', ["ls", "$HOME"], False),
        ("A=./b ls", ["A=./b", "ls"], False),
        ("ls 'a", ["ls", "a"], False),
        ("ls -a 'a; b' --c=\"x (y)\"", ["ls", "-a", "a; b", "--c=x (y)"], True),
        ("ls  ä/b.c", ["ls", "ä/b.c"], True),
    ],
)  # fmt: skip
async def test_the_words_of_a_line_are_covered_if_a_shell_would_run_them(
    asking: Asking, line: str, words: list[str], *, is_covered: bool
) -> None:
    asking.permit(YES, kind="execute", rawInput={"command": line})
    assert await asking.allows(run_command(words, str(asking.folder), {})) is is_covered


RM_X: Final = {"command": "rm x"}
DIFF: Final = {"type": "diff", "path": "a.txt", "oldText": "old\n", "newText": "new\n"}


@pytest.mark.parametrize(
    ("kind", "told", "changed"),
    [
        ("execute", {"rawInput": RM_X}, {"rawInput": {"command": "ls"}}),
        ("execute", {"rawInput": RM_X}, {"rawInput": RM_X}),  # without the variables
        ("edit", {"content": [DIFF]}, {"content": [DIFF | {"newText": "harmless"}]}),
    ],
)
async def test_an_answer_to_what_the_agent_made_of_our_question_allows_nothing(
    asking: Asking, kind: str, told: dict[str, object], changed: dict[str, object]
) -> None:
    variables = {"LD_PRELOAD": "/tmp/x.so"}
    act = (
        write(asking, "a.txt")
        if kind == "edit"
        else run_command(["rm", "x"], str(asking.folder), variables)
    )
    allowed: list[bool] = []

    async def ask() -> None:
        allowed.append(await asking.permissions.allows(asking.session, act, "t1"))

    asking.update("tool_call", kind=kind, **told)
    assert asking.permissions.call_of(asking.session, act) == "t1"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        first = asking.asked[-1].call
        asking.update("tool_call_update", **changed)
        asking.permissions.decide(asking.session, first.id, "always", first)
        await anyio.wait_all_tasks_blocked()
        again = asking.asked[-1].call
        shown = (first.command, first.arguments, first.changes)
        assert (allowed, len(asking.asked)) == ([], 2)
        assert (again.command, again.arguments, again.changes) == shown
        asking.permissions.decide(asking.session, again.id, "once", again)
    assert allowed == [True]


async def test_an_argument_that_a_shell_would_run_is_no_command_that_was_allowed(
    asking: Asking,
) -> None:
    asking.permit(YES, kind="execute", rawInput={"command": ["echo", "a; rm x"]})
    folder = str(asking.folder)
    assert await asking.allows(run_command(["echo", "a; rm x"], folder, {}))
    assert not await asking.allows(run_command(["sh", "-c", "echo a; rm x"], folder, {}))
