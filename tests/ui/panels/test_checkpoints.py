"""`:Eca checkpoints`: the files before a prompt come back, also after a restart of Neovim."""

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Value, expect, gate, handshake, reply, turn, write

DAY = 86_400


@pytest.mark.either_nvim
def test_what_a_command_did_is_taken_back_after_a_restart(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    kept, made, gone = (workspace / name for name in ("kept.py", "made.py", "gone.py"))
    ignored, old = workspace / "secret.env", workspace / "older.txt"
    ignored.write_text("then\n")
    old.write_text("ignored then and now\n")
    (workspace / ".gitignore").write_text("older.txt\n")
    kept.write_text("old\n")
    kept.chmod(0o600)
    gone.write_text("gone\n")
    script = handshake(), turn(gate(tmp_path / "gate"), write(kept, "new\n"), write(made, "made\n"))
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    server = {"command": scripted_server(*script).command}
    settings = {"server": server, "checkpoints": {"enabled": True}}
    nvim = start_nvim(settings=settings, columns=80, environment=state)
    nvim.keys(":EcaChat rewrite it<CR><Esc>")
    nvim.keys(":Eca checkpoints<CR>")
    nvim.wait_screen("checkpoints: 1")
    (tmp_path / "gate").write_text("")
    nvim.wait_screen("2 changed")
    nvim.quit()
    gone.unlink()
    # Had a line gone, what was made may have been ignored then, and would stay.
    (workspace / ".gitignore").write_text("older.txt\nsecret.env\n")
    ignored.write_text("keys\n")

    nvim = start_nvim(settings=settings, columns=80, environment=state)
    nvim.keys(":Eca checkpoints<CR>")
    nvim.wait_screen("2 changed")
    (told,) = nvim.lua("return require('eca').checkpoints()")
    assert told["files"] == [str(kept), str(made)]
    assert (told["prompt"], told["turn"]) == ("rewrite it", 1)
    assert abs(told["time"] - time.time()) < DAY
    nvim.keys("<CR>")
    screen = nvim.wait_screen("restored")
    assert "deleted" in screen
    assert "created" in screen
    assert kept.read_text() == "new\n"
    nvim.keys("r")
    question = "Restore 4 files as they were: .gitignore, gone.py, kept.py, made.py?"
    nvim.wait_screen(question)
    nvim.keys("1<CR>")
    nvim.wait_screen("4 files restored")
    assert ignored.read_text() == "keys\n"  # it is not stored now, so it would be lost
    assert old.exists()
    assert (kept.read_text(), gone.read_text(), made.exists()) == ("old\n", "gone\n", False)
    assert kept.stat().st_mode & 0o777 == 0o600
    nvim.wait_screen("before going back to rewrite it")  # which can be taken back, too
    kept.write_text("by the user\n")
    restored = restore(nvim, checkpoint=told["id"])
    done = [{"path": str(it), "done": "restored"} for it in (kept, ignored)]
    assert restored["files"] == done  # the other one is not ignored any more
    assert kept.read_text() == "old\n"
    assert restore(nvim, checkpoint=restored["undo"])["files"] == restored["files"]
    assert kept.read_text() == "by the user\n"
    assert restore(nvim, checkpoint="none")["fault"] == "there is no checkpoint none"
    absent = restore(nvim, checkpoint=told["id"], history=True)
    assert absent["fault"] == "the prompt of this checkpoint is in no open chat"
    assert restore(nvim, checkpoint=told["id"], files=False)["files"] == []
    nvim.lua("require('eca').restore({ checkpoint = 'none' })")
    nvim.wait_screen("nothing was restored: there is no checkpoint none")
    nvim.wait_screen("after going back to rewrite it")
    nvim.keys("GD")
    nvim.wait_screen("Delete the checkpoint of rewrite it?")
    nvim.keys("1<CR>")
    nvim.wait_for(lambda: nvim.lua("return require('eca').checkpoints()") == [], "none to be left")


def restore(nvim: Neovim, **options: Value) -> Mapping[str, Any]:
    """Restore by the Lua API; return what the callback gets."""
    nvim.lua("_G.got = nil require('eca').restore(..., function(it) _G.got = it end)", options)
    nvim.wait_for(lambda: nvim.lua("return _G.got ~= nil"), "the answer")
    got: Mapping[str, Any] = nvim.lua("return _G.got")
    return got


@pytest.mark.either_nvim
def test_a_script_goes_back_in_chat_and_files(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    file = workspace / "file.py"
    file.write_text("old\n")
    script = (
        handshake(),
        turn(gate(tmp_path / "gate"), write(file, "new\n")),
        [*expect("chat/rollback"), *reply("chat/rollback", {})],
    )
    settings = {
        "server": {"command": scripted_server(*script).command},
        "checkpoints": {"enabled": True},
    }
    nvim = start_nvim(settings=settings, columns=80)
    nvim.keys(":EcaChat rewrite it<CR><Esc>")
    nvim.wait_for(lambda: nvim.lua("return #require('eca').checkpoints()"), "the checkpoint")
    (tmp_path / "gate").write_text("")
    nvim.wait_for(
        lambda: (
            [it["files"] for it in nvim.lua("return require('eca').checkpoints()")] == [[str(file)]]
        ),
        "the turn to be kept",
    )
    (told,) = nvim.lua("return require('eca').checkpoints()")
    restored = restore(nvim, checkpoint=told["id"], history=True)
    assert restored["files"] == [{"path": str(file), "done": "restored"}]
    assert file.read_text() == "old\n"
