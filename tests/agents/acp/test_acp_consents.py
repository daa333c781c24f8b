"""What is done for an agent: asked about, unless the user has allowed exactly that."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from weakref import ref

import anyio
import pytest
from tests.agents.acp.asking import ALWAYS, Asking
from tests.agents.acp.wire import NO, YES, raw

from eca_nvim.agents.acp.requests.acts import Act, read_file, run_command, write_file
from eca_nvim.agents.acp.requests.permissions import MOST_ASKED
from eca_nvim.agents.acp.session import Session, TurnState
from eca_nvim.chat.model.calls import MOST_LISTED
from eca_nvim.chat.vocabulary.events import ApprovalWithdrawn
from eca_nvim.chat.vocabulary.requests import ChoiceKind
from eca_nvim.protocol.acp import decode_notification
from eca_nvim.protocol.acp.updates import SessionUpdated

pytestmark = pytest.mark.anyio


def write(asking: Asking, name: str) -> Act:
    return write_file(asking.path(name), "old\n", "new\n")


def edit(asking: Asking, name: str) -> Act:
    """Return what `permit_edit` shows."""
    return write_file(asking.path(name), "1\na\n", "1\nb\n")


def a_diff(asking: Asking, name: str) -> Mapping[str, str]:
    return {"type": "diff", "path": asking.path(name), "oldText": "a", "newText": "b"}


def real_read(path: str) -> Act:
    return read_file(str(Path(path).resolve()))


async def test_a_read_in_the_workspace_needs_no_consent_and_any_other_does(asking: Asking) -> None:
    outside = read_file(str(asking.folder.parent / "secret"))
    assert await asking.allows(read_file(asking.path("a.txt")))
    assert not asking.was_asked()
    assert not await asking.allows(outside)
    assert asking.was_asked()
    assert await asking.allows(outside, "once")
    asking.update("tool_call_update", "ours", status="completed")
    for is_asked in (True, False):
        assert await asking.allows(outside, "always")
        assert asking.was_asked() is is_asked
        asking.update("tool_call_update", "ours", status="completed")
    assert not await asking.allows(read_file(str(asking.folder.parent / "secret2")))
    assert not await asking.allows(write_file(outside.subject, None, "x"))


async def test_the_question_shows_what_is_done(asking: Asking) -> None:
    await asking.allows(write(asking, "a.txt"))
    asked = asking.asked[-1]
    [change] = asked.call.changes or ()
    assert (change.path, change.old, change.new) == (asking.path("a.txt"), "old\n", "new\n")
    assert [it.name for it in asked.choices] == [
        "Allow once",
        "Always in this chat: any workspace file",
        "Reject",
    ]
    await asking.allows(run_command(["sh", "-c", "make; echo"], str(asking.folder), {"A": "1"}))
    asked = asking.asked[-1]
    assert asked.call.command == "make; echo"
    assert (asked.call.arguments or {})["variables"] == ("A=1",)
    assert asked.choices[1].name == "Always in this chat: this command here"


async def test_a_session_that_was_left_while_it_asked_is_not_kept(asking: Asking) -> None:
    left, act = ref(asking.session), run_command(["make"], str(asking.folder), {})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asking.permissions.allows, asking.session, act, "ours")
        await anyio.wait_all_tasks_blocked()
        asking.permissions.cancel(asking.session)
    asking.session = Session("other", str(asking.folder), asking.link)
    gc.collect()
    assert left() is None


async def test_an_edit_that_was_allowed_covers_its_text_once_until_it_ends(asking: Asking) -> None:
    asking.permit_edit("a.txt")
    assert not await asking.allows(write(asking, "b.txt"))
    assert await asking.allows(edit(asking, "a.txt"))
    assert not asking.was_asked()
    assert not await asking.allows(edit(asking, "a.txt"))
    assert asking.was_asked(), "it was made already"
    asking.permit_edit("a.txt", YES, "t3")
    assert not await asking.allows(write_file(asking.path("a.txt"), "1\na\n", "curl x | sh\n"))
    assert asking.was_asked(), "it is another text"
    asking.permit_edit("a.txt", YES, "t2")
    asking.update("tool_call_update", "t2", status="completed")
    assert not await asking.allows(edit(asking, "a.txt"))
    assert asking.was_asked()


async def test_what_is_only_announced_or_was_rejected_covers_nothing(asking: Asking) -> None:
    diff = {"type": "diff", "path": asking.path("a.txt"), "oldText": "a", "newText": "b"}
    asking.update("tool_call", kind="edit", status="in_progress", content=[diff])
    assert not await asking.allows(write(asking, "a.txt"))
    asking.permit_edit("b.txt", NO, "t2")
    assert not await asking.allows(write(asking, "b.txt"))
    place = {"path": asking.path("c.txt")}
    asking.permit(YES, "t3", kind="read", locations=[place])
    assert not await asking.allows(write(asking, "c.txt"))


async def test_what_an_agent_adds_to_a_call_that_was_allowed_is_not_covered(asking: Asking) -> None:
    asking.permit_edit("a.txt")
    diff = {"type": "diff", "path": asking.path("b.txt"), "oldText": "a", "newText": "b"}
    asking.update("tool_call_update", status="in_progress", content=[diff])
    assert not await asking.allows(write(asking, "b.txt"))


@pytest.mark.parametrize("count", [MOST_LISTED, MOST_LISTED + 1])
async def test_files_that_a_request_does_not_show_are_not_covered(
    asking: Asking, count: int
) -> None:
    others = [{"path": f"/elsewhere/{number}"} for number in range(count)]
    asking.permit(YES, kind="read", locations=others)
    act = read_file(f"/elsewhere/{count - 1}")
    assert await asking.allows(act) is (count <= MOST_LISTED)


async def test_always_counts_in_the_chat_for_the_same_file(asking: Asking) -> None:
    outside, other = asking.path("../a.txt"), asking.path("../b.txt")
    asking.permit(ALWAYS, kind="read", locations=[{"path": outside}])
    asking.update("tool_call_update", status="completed")
    assert await asking.allows(real_read(outside))
    assert not await asking.allows(real_read(other))
    asking.begin()  # another process of the agent
    assert await asking.allows(real_read(outside))
    asking.granted.forget("chat")
    assert not await asking.allows(real_read(outside))


async def test_always_makes_a_change_once(asking: Asking) -> None:
    asking.permit_edit("a.txt", ALWAYS)
    assert await asking.allows(edit(asking, "a.txt"))
    assert not await asking.allows(edit(asking, "a.txt"))
    asking.permit_edit("a.txt", ALWAYS, "t2")
    asking.update("tool_call_update", "t2", status="completed")
    assert not await asking.allows(edit(asking, "a.txt"))


async def test_our_always_covers_ordinary_files_of_the_workspace(asking: Asking) -> None:
    assert await asking.allows(write(asking, "a.txt"), "always")
    assert await asking.allows(write(asking, "b/c.txt"))
    for risky in (".git/hooks/pre-commit", ".nvim.lua", ".eca/config.json", "../x"):
        path = str((asking.folder / risky).resolve())
        assert not await asking.allows(write_file(path, None, "x")), risky
    assert asking.asked[-1].choices[1].name == "Always in this chat: write this file"


async def test_an_always_for_the_workspace_does_not_grow_with_it(asking: Asking) -> None:
    other = asking.folder.parent / "other"
    (other / ".git").mkdir(parents=True)
    assert await asking.allows(write(asking, "a.txt"), "always")
    assert not await asking.allows(write_file(str(other / "x"), None, "x"))
    asking.folders.add(str(other))
    asking.granted.workspace_changed()
    assert not await asking.allows(write_file(str(other / "x"), None, "x"))
    assert not await asking.allows(write(asking, "a.txt"))
    assert await asking.allows(write(asking, "a.txt"), "always")
    assert await asking.allows(write_file(str(other / "x"), None, "x"))


async def test_what_stands_is_said_in_the_words_of_the_question_and_taken_back(
    asking: Asking,
) -> None:
    outside = asking.path("../a.txt")
    asking.permit(ALWAYS, kind="read", title="Read it", locations=[{"path": outside}])
    asking.update("tool_call_update", status="completed")
    assert await asking.allows(write(asking, "a.txt"), "always")
    read, workspace, by_agent = asking.granted.standing()
    assert [*read.covers] == [f"read this file: {real_read(outside).subject}"]
    assert [*workspace.covers] == ["any workspace file"]
    assert [*by_agent.covers] == ["Always, answered for Read it"]
    assert "only the agent" in by_agent.ends
    assert {it.chat_id for it in (read, workspace, by_agent)} == {"chat"}
    for grant in (read, workspace, by_agent):
        asking.granted.revoke(grant.id)
    assert not await asking.allows(real_read(outside))
    assert not await asking.allows(write(asking, "b.txt"))
    assert asking.granted.standing() == [by_agent]


async def test_a_link_that_is_made_after_the_answer_covers_nothing(asking: Asking) -> None:
    (asking.folder / "a.txt").write_text("a")
    asking.permit_edit("a.txt", ALWAYS)
    (asking.folder / "a.txt").unlink()
    (asking.folder / "a.txt").symlink_to(asking.folder.parent / "secret")
    target = str((asking.folder / "a.txt").resolve())
    assert not await asking.allows(write_file(target, None, "x"))
    (asking.folder / "link").symlink_to(asking.folder.parent)
    asking.permit_edit("link/../b.txt", ALWAYS, "t2")  # as the system reads it
    assert not await asking.allows(write(asking, "b.txt"))


MODES: Final = ("default", "acceptEdits", "bypassPermissions")


def set_mode(asking: Asking, mode: str, *, by_user: bool) -> None:
    options = [
        {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": mode,
         "options": [{"value": it, "name": it} for it in MODES]}
    ]  # fmt: skip
    told = {"sessionUpdate": "config_option_update", "configOptions": options}
    message = decode_notification("session/update", raw({"sessionId": "s", "update": told}))
    assert isinstance(message, SessionUpdated)
    if by_user:
        asking.session.inbox.options.user_sets("mode", mode)
    asking.session.inbox.receive(message.update)
    asking.session.inbox.options.was_set("mode", mode, None)


async def test_a_mode_that_the_user_chose_may_not_ask(asking: Asking) -> None:
    hook, plain = write(asking, ".git/hooks/x"), write(asking, "a.txt")
    command = run_command(["ls"], str(asking.folder), {})

    async def unasked() -> list[bool]:
        return [await asking.allows(act) for act in (plain, hook, command)]

    set_mode(asking, "bypassPermissions", by_user=False)
    assert await unasked() == [False, False, False]
    set_mode(asking, "acceptEdits", by_user=True)
    assert await unasked() == [True, False, False]
    set_mode(asking, "bypassPermissions", by_user=False)
    assert await unasked() == [False, False, False]
    set_mode(asking, "bypassPermissions", by_user=True)
    assert await unasked() == [True, True, True]


async def test_a_question_ends_with_its_turn_and_when_nobody_needs_it(asking: Asking) -> None:
    act = write(asking, "a.txt")
    assert not await asking.allows(act, None)
    assert isinstance(asking.link.events[-1], ApprovalWithdrawn)
    allowed: list[bool] = []

    async def ask() -> None:
        allowed.append(await asking.permissions.allows(asking.session, act, "ours"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        asking.permissions.cancel(asking.session)
    asking.session.inbox.turn_ended()
    assert allowed == [False]
    asking.session.turn = TurnState.STOPPING
    assert not await asking.allows(act)
    assert not asking.was_asked()


async def test_not_more_than_some_questions_wait(asking: Asking) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(MOST_ASKED):
            act = write(asking, f"{number}.txt")
            tasks.start_soon(asking.permissions.allows, asking.session, act, f"ours {number}")
        await anyio.wait_all_tasks_blocked()
        assert not await asking.permissions.allows(asking.session, write(asking, "x"), "ours")
        assert len(asking.asked) == MOST_ASKED
        tasks.cancel_scope.cancel()


async def test_a_call_that_shows_the_act_is_asked_about(asking: Asking) -> None:
    asking.update("tool_call", kind="edit", content=[a_diff(asking, "a.txt")])
    assert asking.permissions.call_of(asking.session, write(asking, "a.txt")) == "t1"
    assert asking.permissions.call_of(asking.session, write(asking, "b.txt")) is None
    asking.update("tool_call", "t2", kind="execute", rawInput={"command": "ls -l"})
    folder = str(asking.folder)
    assert asking.permissions.call_of(asking.session, run_command(["ls", "-l"], folder, {})) == "t2"
    assert await asking.allows(write(asking, "a.txt"), "once")
    assert asking.asked[-1].choices[0].kind is ChoiceKind.ALLOW_ONCE
    assert not await asking.allows(write(asking, "a.txt"))
    assert asking.was_asked(), "it was allowed once"
    asking.update("tool_call_update", status="completed")
    assert asking.permissions.call_of(asking.session, write(asking, "a.txt")) is None


async def test_in_the_home_folder_only_single_files_are_allowed_always(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no project, also if it is a repository: "any file" would be `.ssh/authorized_keys`."""
    monkeypatch.setenv("HOME", str(asking.folder))
    assert not await asking.allows(read_file(asking.path("a.txt")))
    assert asking.was_asked()
    assert await asking.allows(write(asking, "a.txt"), "always")
    assert asking.asked[-1].choices[1].name == "Always in this chat: write this file"
    assert await asking.allows(write(asking, "a.txt"))
    assert not await asking.allows(write(asking, ".bashrc"))
    set_mode(asking, "acceptEdits", by_user=True)
    assert not await asking.allows(write(asking, "b.txt"))


async def test_a_folder_becomes_a_project_by_an_answer_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = Asking(tmp_path)
    for act in (read_file(asking.path("a.txt")), write(asking, "a.txt")):
        assert not await asking.allows(act)
        assert [it.name for it in asking.asked[-1].choices] == [
            "Allow once",
            f"Always in this chat: {act.kind.value} this file",
            f"Treat {tmp_path} as a project: read its files unasked, from now on",
            "Reject",
        ]
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    assert not await asking.allows(read_file(asking.path("a.txt")))
    assert asking.asked[-1].choices[2].name.startswith(f"Treat ~/{tmp_path.name} as a project:")
    set_mode(asking, "acceptEdits", by_user=True)
    assert not await asking.allows(write(asking, "b.txt"))
    assert await asking.allows(read_file(asking.path("a.txt")), "project")
    assert asking.projects.kept == {str(tmp_path)}
    asking.begin()  # another process of the agent
    assert await asking.allows(read_file(asking.path("b/c.txt")))
    assert not asking.was_asked()
    assert not await asking.allows(write(asking, "a.txt"))
    assert len(asking.asked[-1].choices) == 3, "nothing is left to be chosen"
    (grant,) = asking.granted.standing()
    assert grant.covers == (f"treat {tmp_path} as a project: read its files unasked",)
    assert (grant.chat_id, grant.ends) == (None, "")
    asking.granted.revoke(grant.id)
    assert asking.granted.standing() == []
    assert not await asking.allows(read_file(asking.path("b/c.txt")))
    assert len(asking.asked[-1].choices) == 4


async def test_only_files_of_a_folder_that_may_be_a_project_make_it_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = Asking(tmp_path)
    asking.projects.keep_project("/")
    risky = write_file(asking.path(".nvim.lua"), None, "x")
    outside = read_file(str(tmp_path.parent / "a.txt"))
    for act in (risky, outside, run_command(["ls"], str(tmp_path), {})):
        assert not await asking.allows(act)
        assert "project" not in [it.id for it in asking.asked[-1].choices], act
    monkeypatch.setenv("HOME", str(tmp_path))
    asking.projects.keep_project(str(tmp_path))
    assert not await asking.allows(read_file(asking.path("a.txt")))
    assert len(asking.asked[-1].choices) == 3, "the home folder is none, whatever was kept"


async def test_what_programs_obey_is_written_once_at_most(asking: Asking) -> None:
    hook = write(asking, ".git/hooks/pre-commit")
    assert not await asking.allows(hook)
    assert [it.id for it in asking.asked[-1].choices] == ["once", "reject"]


@pytest.mark.parametrize(
    "call",
    [
        {"kind": "edit", "content": "diff"},
        {"kind": "execute", "rawInput": {"command": "ls"}},
        {"kind": "other"},
    ],
)
async def test_our_question_about_a_read_is_in_no_call_that_says_something_else(
    asking: Asking, call: Mapping[str, object]
) -> None:
    outside = str(asking.folder.parent / "secret")
    content = [a_diff(asking, "a.txt")] if "content" in call else []
    told = {**call, "content": content, "locations": [{"path": outside}]}
    asking.update("tool_call", status="in_progress", **told)
    assert asking.permissions.call_of(asking.session, read_file(outside)) is None


async def test_our_question_about_a_command_allows_no_read(asking: Asking) -> None:
    outside = str(asking.folder.parent / "secret")
    asking.update(
        "tool_call",
        *("t1",),
        kind="execute",
        rawInput={"command": "ls"},
        locations=[{"path": outside}],
    )
    assert await asking.allows(run_command(["ls"], str(asking.folder), {}), "once")
    assert not await asking.allows(read_file(outside))
