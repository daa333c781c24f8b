"""Attribution: what the user writes meanwhile is never undone."""

from __future__ import annotations

import subprocess

import pytest
from tests.review.watched import Ending, Watched

from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRejected
from eca_nvim.chat.vocabulary.query_intents import FileWritten

ORIGINAL = b"1\n2\n3\n"


@pytest.mark.parametrize("end", ["written", "given_up"])
def test_what_is_found_while_a_file_is_written_waits_for_the_end(
    watched: Watched, end: Ending
) -> None:
    path = str(watched.folder / "a")
    call = watched.start()
    watched.trees.commands.user_writes(FileWritten(path, "begun"))
    watched.put("a", b"changed\n")
    assert watched.turns() == []
    watched.hear(ToolFinished(call))
    assert watched.turns() == []
    watched.trees.commands.user_writes(FileWritten(path, end))
    assert [name for _, name, *_ in watched.listed()] == ([] if end == "written" else ["a"])


def test_a_write_that_was_given_up_hides_nothing(watched: Watched) -> None:
    call = watched.start()
    watched.put("a", b"by the command\n")
    watched.user_writes("a", None, "given_up")
    watched.hear(ToolFinished(call))
    watched.undo()
    assert (watched.folder / "a").read_bytes() == ORIGINAL


def test_what_the_user_wrote_over_a_commands_text_is_his(watched: Watched) -> None:
    call = watched.start()
    watched.put("a", b"by the command\n")
    watched.user_writes("a", b"mine\n")
    watched.hear(ToolFinished(call))
    assert watched.turns() == []


@pytest.mark.parametrize("during", [False, True])
@pytest.mark.parametrize(
    ("name", "left"), [("a", ORIGINAL), ("a", None), ("new", None), ("deep/new", None)]
)
def test_the_users_words_that_a_command_takes_back_are_put_back(
    watched: Watched, name: str, left: bytes | None, during: bool
) -> None:
    call = watched.start() if during else None
    watched.user_writes(name, b"my words\n")
    call = call or watched.start(waits=False)
    watched.put(name, left)
    watched.hear(ToolFinished(call))
    watched.undo()
    assert (watched.folder / name).read_bytes() == b"my words\n"


@pytest.mark.parametrize("name", ["x.log", "node_modules/m/x", "deep/er/y"])
def test_what_the_user_wrote_where_nobody_looks_is_not_missed(watched: Watched, name: str) -> None:
    subprocess.run(["git", "init", "-q", str(watched.folder)], check=True)
    watched.put(".gitignore", b"*.log\n")
    watched.turn()
    watched.user_writes(name, b"mine\n")
    watched.command(watched.change(c=b"changed\n"), waits=False)
    assert list(watched.plan()) == ["c"]


# --- tools that wait ------------------------------------------------------------------------------


@pytest.mark.parametrize("is_rejected", [False, True])
def test_what_the_user_writes_while_a_tool_waits_is_his(
    watched: Watched, is_rejected: bool
) -> None:
    arguments = {"path": str(watched.folder / "a")}
    call = watched.request("edit_file", waits=True, arguments=arguments)
    watched.user_writes("a", b"1\nmine\n")
    if is_rejected:
        watched.hear(ToolRejected(call))
    assert watched.turns() == []


def test_an_undo_while_a_tool_waits_stays_one(watched: Watched) -> None:
    path = str(watched.folder / "a")
    watched.write("a", b"by the tool\n")
    call = watched.request("write_file", waits=True, arguments={"path": path})
    watched.undo()
    assert watched.turn_of(1).files[path].undone
    watched.hear(ToolRejected(call))
    assert watched.turn_of(1).files[path].undone
