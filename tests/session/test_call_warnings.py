"""Warnings about a request that need a look at the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from tests.chat.driver import all_pending
from tests.support.calls import eca_call

from eca_nvim.chat.handlers.reducer import apply
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.vocabulary.call_details import (
    FileChange,
    ShellCommand,
    ShellPart,
    ToolCall,
    ToolKind,
)
from eca_nvim.chat.vocabulary.events import ToolRequested
from eca_nvim.session.proposals.call_warnings import disk_warnings

Value: TypeAlias = Any


def told(call: ToolCall, folder: Path) -> Value:
    """Return the warnings of a call that waits."""
    chat = Chat("a", RenderSettings(folders=(str(folder),)))
    apply(chat, ToolRequested(call, needs_approval=True), 0)
    return all_pending([chat], disk_warnings).items[0].get("warnings")


def move(destination: Path) -> ToolCall:
    places = {"source": str(destination.parent / "a"), "destination": str(destination)}
    return eca_call("c", "move_file", arguments=places, server="eca")


def test_a_move_onto_a_file_is_a_warning(tmp_path: Path) -> None:
    free, taken, dangling = tmp_path / "free", tmp_path / "taken", tmp_path / "dangling"
    taken.write_text("precious\n")
    dangling.symlink_to(tmp_path / "nowhere")
    assert told(move(free), tmp_path) is None
    assert told(move(taken), tmp_path) == ["there is a file already where this moves to: taken"]
    assert told(move(dangling), tmp_path) == [
        "another file or folder by a link: dangling → nowhere",
        "there is a file already where this moves to: dangling",
    ]


def test_it_comes_after_what_the_call_itself_tells(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "b"
    outside.write_text("precious\n")
    assert told(move(outside), inside) == [
        f"outside the workspace: {tmp_path / 'a'}, {outside}",
        f"there is a file already where this moves to: {outside}",
    ]


def test_what_moves_nothing_is_left_alone(tmp_path: Path) -> None:
    call = eca_call("c", "write_file", arguments={"path": str(tmp_path)}, server="eca")
    assert told(call, tmp_path) is None


def test_where_paths_lead_is_told_for_all_of_a_call(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "docs").symlink_to(outside)
    (inside / "link.txt").symlink_to(outside / "none")
    change = FileChange(str(inside / "docs/keys"), "", 0, 0)
    call = eca_call("c", "edit_file", details=change, arguments={"path": "docs/keys"}, server="eca")
    assert told(call, inside) == [f"outside the workspace by a link: docs/keys → {outside}/keys"]
    moved = {"source": str(inside / "link.txt"), "destination": str(inside / "docs/x")}
    assert told(eca_call("c", "move_file", arguments=moved, server="eca"), inside) == [
        f"outside the workspace by a link: link.txt → {outside}/none, docs/x → {outside}/x"
    ]
    many = {"paths": [f"docs/{number}" for number in range(1500)]}
    first, second = told(eca_call("c", "any", arguments=many), inside)
    assert first.endswith("and 997 more")
    assert second == "only 1000 of 1500 paths were checked"


def test_each_kind_of_place_is_a_line_of_its_own(tmp_path: Path) -> None:
    paths = {"paths": [".git/hooks/x", ".nvim.lua", ".eca/config.json", "a.py"]}
    assert told(eca_call("c", "any", arguments=paths), tmp_path) == [
        "in a git folder, from which git runs programs: .git/hooks/x",
        "run by Neovim or another editor when it starts there: .nvim.lua",
        "what the agent itself may do: .eca/config.json",
    ]


def test_what_a_shell_command_names_is_not_looked_up(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    details = ShellCommand((ShellPart("cat", ("out/passwd",)),))
    call = eca_call("c", "shell_command", details=details, arguments={"command": "cat out/passwd"})
    assert told(call, tmp_path) is None


def test_the_folder_of_a_command_and_a_link_within_the_workspace_are_shown(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / "src").mkdir(parents=True)
    outside.mkdir()
    (inside / "blink").symlink_to(outside)
    (inside / "way").symlink_to("src")
    (inside / "README.md").symlink_to("src/run.sh")
    for name, kind, place in (
        ("blink", "outside the workspace by a link", str(outside)),
        ("way", "another file or folder by a link", "src"),
    ):
        arguments = {"command": "make", "cwd": str(inside / name)}
        ran = ToolCall("c", kind=ToolKind.EXECUTE, command="make", arguments=arguments)
        assert told(ran, inside) == [f"{kind}: {name} → {place}"]
    change = FileChange(str(inside / "README.md"), "@@ -1 +1 @@\n-a\n+b", 1, 1)
    edit = ToolCall("c", kind=ToolKind.EDIT, changes=(change,), arguments={})
    assert told(edit, inside) == ["another file or folder by a link: README.md → src/run.sh"]
