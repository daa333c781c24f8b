"""Which commands an answer to the agent covers: what was shown, once, and read in one way only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import Final

import anyio
import pytest
from tests.agents.acp.asking import ALWAYS, Asking
from tests.agents.acp.wire import YES

from eca_nvim.agents.acp.requests.acts import Act, run_command

pytestmark = pytest.mark.anyio

LINE: Final = "make; rm -r build"


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    (tmp_path / "ws" / "sub").mkdir(parents=True)
    return Asking(tmp_path / "ws")


def by_shell(asking: Asking, line: str = LINE, *shell: str) -> Act:
    return run_command([*(shell or ("sh", "-c")), line], str(asking.folder), {})


def permit(asking: Asking, call: str = "t1", /, **arguments: object) -> None:
    asking.permit(YES, call, kind="execute", rawInput={"command": LINE} | arguments)


async def test_an_answer_for_once_covers_one_run(asking: Asking) -> None:
    permit(asking)
    assert await asking.allows(by_shell(asking))
    assert not asking.was_asked()
    assert not await asking.allows(by_shell(asking))
    assert asking.was_asked(), "its call still runs"
    permit(asking, "t2")
    permit(asking, "t3")
    for is_asked in (False, False, True):
        await asking.allows(by_shell(asking))
        assert asking.was_asked() is is_asked


async def test_our_own_question_allows_one_run(asking: Asking) -> None:
    asking.update("tool_call", kind="execute", rawInput={"command": LINE})
    assert await asking.allows(by_shell(asking), "once")
    asking.update("tool_call_update", status="in_progress")
    assert not await asking.allows(by_shell(asking))
    assert asking.was_asked()
    assert await asking.allows(by_shell(asking), "always")
    for _ in range(3):
        assert await asking.allows(by_shell(asking))
        assert not asking.was_asked()


async def test_of_runs_that_begin_at_once_one_is_covered(asking: Asking) -> None:
    permit(asking)
    allowed: list[bool] = []

    async def ask(call_id: str) -> None:
        allowed.append(await asking.permissions.allows(asking.session, by_shell(asking), call_id))

    async with anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(ask, f"ours {number}")
        await anyio.wait_all_tasks_blocked()
        assert (allowed, len(asking.asked)) == ([True], 2)
        asking.permissions.decide(asking.session, asking.asked[0].call.id, "once")
        asking.permissions.decide(asking.session, asking.asked[1].call.id, "reject")
    assert allowed == [True, True, False]


async def test_an_answer_for_always_is_not_used_up(asking: Asking) -> None:
    asking.permit(ALWAYS, kind="execute", rawInput={"command": LINE})
    for _ in range(3):
        assert await asking.allows(by_shell(asking))
        assert not asking.was_asked()


IN_BASH: Final = r"echo $'a\'; rm x #'"
"""One text for bash. dash reads `$'a\\'`, then a command."""
IN_FISH: Final = r"echo 'a\'' ; rm x #'"
"""One text for shells. fish reads `'a\\''`, then a command."""
COMMENT: Final = "echo a # ; rm x"
"""zsh reads no comments if it is interactive."""


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (IN_BASH, ["sh", "-c", IN_BASH]),
        (["bash", "-c", IN_BASH], ["sh", "-c", IN_BASH]),
        (IN_FISH, ["fish", "-c", IN_FISH]),
        (["bash", "-c", IN_FISH], ["/usr/bin/fish", "-c", IN_FISH]),
        (["zsh", "-c", COMMENT], ["zsh", "-ic", COMMENT]),
        (COMMENT, ["zsh", "-lic", COMMENT]),
        ("echo a", ["sh", "-c", "echo a\n"]),
        ("echo a", ["sh", "-c", "echo a", "rm"]),
        ("echo a", ["sh", "-xc", "echo a"]),
        ("echo a", ["./sh", "-c", "echo a"]),
        ("echo a", ["sh", "-c", "echo\xa0a"]),
        ("sh -c 'echo a'", ["sh", "-c", "sh", "-c", "echo a"]),
        ('sh -c "rm $1" x', ["sh", "-c", "rm $1", "x"]),
        ("echo 'a'\\''; rm x'", ["sh", "-c", "echo 'a'; rm x'"]),
        (["echo", "a; rm x"], ["sh", "-c", "echo a; rm x"]),
        (["echo", "$(rm x)"], ["sh", "-c", "echo $(rm x)"]),
        ("A=./b rm", ["A=./b", "rm"]),
        (["A=./b", "rm"], ["sh", "-c", "A=./b rm"]),
    ],
)
async def test_no_quoting_makes_a_command_of_a_text(
    asking: Asking, shown: str | Sequence[str], words: list[str]
) -> None:
    permit(asking, command=shown)
    assert not await asking.allows(run_command(words, str(asking.folder), {}))
    assert asking.was_asked()
    assert await asking.allows(run_command(words, str(asking.folder), {}), "always")
    assert await asking.allows(run_command(words, str(asking.folder), {}))
    assert not asking.was_asked()


@pytest.mark.parametrize(
    "words",
    [
        ["bash", "-c", IN_BASH],
        ["fish", "-c", IN_FISH],
        ["zsh", "-ic", COMMENT],
        ["A=./b", "rm"],
        ["env", "A=b", "sh", "-c", "echo 'a b'"],
    ],
)
async def test_what_is_read_in_several_ways_is_shown_with_its_program(
    asking: Asking, words: list[str]
) -> None:
    act = run_command(words, str(asking.folder), {})
    expected = join(words) if words[0] != "A=./b" else "'A=./b' rm"
    assert act.subject == expected
    permit(asking, command=words)
    assert await asking.allows(act)
    assert not asking.was_asked()


@pytest.mark.parametrize("shell", [("sh", "-c"), ("/bin/sh", "-lc"), ("bash", "-lc")])
async def test_the_shells_of_the_system_read_a_plain_line_alike(
    asking: Asking, shell: tuple[str, str]
) -> None:
    permit(asking)
    assert await asking.allows(by_shell(asking, LINE, *shell))
    assert not asking.was_asked()


@pytest.mark.parametrize(
    ("arguments", "folder", "is_covered"),
    [
        ({}, "", True),
        ({}, "sub", False),
        ({"cwd": "{ws}/sub"}, "sub", True),
        ({"cwd": "{ws}/sub"}, "", False),  # the same text in another folder
        ({"workDir": "sub"}, "sub", True),
        ({"dir_path": "sub"}, "", False),
        ({"cwd": None}, "", True),
        ({"description": "{ws}/sub"}, "sub", False),  # words about it
        ({"timeout": 7, "env": {}}, "", True),
        ({"env": {"X": "/tmp"}}, "", False),  # the same text without the variable
        ({"env": [{"name": "X", "value": "/tmp"}]}, "", False),
    ],
)
async def test_a_command_is_covered_where_it_was_shown(
    asking: Asking, arguments: Mapping[str, object], folder: str, *, is_covered: bool
) -> None:
    workspace = str(asking.folder)
    told = {
        name: value.replace("{ws}", workspace) if isinstance(value, str) else value
        for name, value in arguments.items()
    }
    permit(asking, **told)
    act = run_command(["sh", "-c", LINE], str(asking.folder / folder), {})
    assert await asking.allows(act) is is_covered
