"""What a look at the disk adds to what waits."""

from __future__ import annotations

from pathlib import Path

from eca_nvim.chat.details import ToolCall
from eca_nvim.chat.events import ToolRequested
from eca_nvim.chat.model import Chat
from eca_nvim.chat.pending import all_pending
from eca_nvim.chat.reducer import apply
from eca_nvim.chat.settings import RenderSettings
from eca_nvim.session.warnings import on_disk


def told(call: ToolCall, folder: Path) -> object:
    """Give the warnings of a call that waits."""
    chat = Chat("a", RenderSettings(folders=(str(folder),)))
    apply(chat, ToolRequested(call, needs_approval=True), 0)
    return all_pending([chat], on_disk).items[0].get("warnings")


def move(destination: Path) -> ToolCall:
    places = {"source": str(destination.parent / "a"), "destination": str(destination)}
    return ToolCall("c", "move_file", arguments=places, server="eca")


def test_a_move_onto_a_file_is_a_warning(tmp_path: Path) -> None:
    free, taken, dangling = tmp_path / "free", tmp_path / "taken", tmp_path / "dangling"
    taken.write_text("precious\n")
    dangling.symlink_to(tmp_path / "nowhere")
    assert told(move(free), tmp_path) is None
    assert told(move(taken), tmp_path) == ["there is a file already where this moves to: taken"]
    assert told(move(dangling), tmp_path) == [
        "there is a file already where this moves to: dangling"
    ]


def test_it_comes_after_what_the_call_itself_tells(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "b"
    outside.write_text("precious\n")
    assert told(move(outside), inside) == [
        f"outside the workspace: {tmp_path / 'a'}, {outside}",
        f"there is a file already where this moves to: {outside}",
    ]


def test_what_moves_nothing_is_left_alone(tmp_path: Path) -> None:
    call = ToolCall("c", "write_file", arguments={"path": str(tmp_path)}, server="eca")
    assert told(call, tmp_path) is None
