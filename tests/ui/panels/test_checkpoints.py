"""`:Eca checkpoints`: the files before a prompt come back, also after a restart of Neovim."""

import subprocess
from pathlib import Path

import pytest
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import gate, handshake, turn, write


@pytest.mark.either_nvim
def test_what_a_command_did_is_taken_back_after_a_restart(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    kept, made, gone = (workspace / name for name in ("kept.py", "made.py", "gone.py"))
    ignored, old = workspace / "secret.env", workspace / "older.txt"
    ignored.write_text("then\n")
    old.write_text("ignored then, and not now\n")
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
    (workspace / ".gitignore").write_text("secret.env\n")  # the one for the other
    ignored.write_text("keys\n")

    nvim = start_nvim(settings=settings, columns=80, environment=state)
    nvim.keys(":Eca checkpoints<CR>")
    nvim.wait_screen("2 changed")
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
    assert old.exists()  # it was there before the checkpoint, which does not have it
    assert (kept.read_text(), gone.read_text(), made.exists()) == ("old\n", "gone\n", False)
    assert kept.stat().st_mode & 0o777 == 0o600
    nvim.wait_screen("before going back to rewrite it")  # which can be taken back, too
