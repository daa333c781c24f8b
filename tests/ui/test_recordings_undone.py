"""Recorded sessions change files, and going back to their first prompts undoes all of it."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.agents.recorded import cut
from tests.session.lives import state
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.recording import WORKSPACE
from tests.support.servers import module_command
from tests.ui.talk import Value
from tests.ui.test_acp_recordings import WATCH, messages, prompts

SCRIPT: Final = r"""
sleep 0.6  # a model takes longer: by then the prompt's tree is stored, on a busy machine, too
rm -f src/calc.py; mkdir -p deep; printf 'two\r\n' > deep/made.txt; chmod 755 old.txt; echo >> key
"""
ECA: Final = {"edit_approved": 5, "subagent": 1, "shell": 3}
"""Recordings with the number of prompts to play: the next ones are for other tests."""
ACP: Final = ("qwen-edit-diff", "claudezed-write-new", "fastagent-shell")
REVIEWED: Final = {
    "edit_approved": (3, "new/moved.txt"),
    "qwen-edit-diff": (1, "old.txt"),
    "claudezed-write-new": (1, "new.txt"),
}
"""How many changes there are to review after some, and the file with the first one."""
COMMAND: Final = "for i in 1 2 3; do echo line $i; sleep 0.3; done; exit 3"

ALLOW: Final = """
local request = require('eca').pending()[1]
if request then
  require('eca').approve({ id = request.id })
end
"""


def eca_server(name: str, folder: Path) -> tuple[Value, Sequence[str]]:
    """Return a server that plays a recording and does what its tools did, and the prompts."""
    events = cut(name, ECA[name])
    lines = [{"t": it.time, "dir": it.direction, "msg": it.message} for it in events]
    path = folder / f"{name}.jsonl"
    told = "\n".join(map(json.dumps, lines))
    told = told.replace('"name": "read_file"', '"name": "shell_command"')  # that only reads
    path.write_text(told, encoding="utf-8")
    scripts = json.dumps({"shell_command": SCRIPT})
    command = module_command("tests.support.replay_server", str(path), "--scripts", scripts)
    said = [it.message["params"]["message"] for it in events if it.name == "chat/prompt"]
    return {"command": command, "protocol": "eca"}, said


def acp_server(name: str, folder: Path) -> tuple[Value, Sequence[str]]:
    """Return an agent that plays a recording: we write files for it, and run its command."""
    played = "\n".join(map(json.dumps, messages(name)))
    path = folder / f"{name}.jsonl"
    path.write_text(played.replace(COMMAND, json.dumps(SCRIPT)[1:-1]), encoding="utf-8")
    command = module_command("tests.support.replay_acp", str(path))
    return {"command": command, "protocol": "acp"}, [*prompts(messages(name))]


def play(nvim: Neovim, name: str, said: Sequence[str]) -> None:
    """Send the prompts of a recording in a chat of its own, and allow what it asks for."""
    nvim.lua("vim.g.ended = 0; require('eca').new({ server = ... })", name)
    nvim.wait_until("require('eca').status().server == 'ready'")
    for turn, prompt in enumerate(said, 1):
        nvim.lua("require('eca').send(...)", prompt.replace(WORKSPACE, str(nvim.launch.cwd)))

        def has_ended(turn: int = turn) -> bool:
            nvim.lua(ALLOW)
            return bool(nvim.lua("return vim.g.ended") == turn)

        nvim.wait_for(has_ended, f"the end of turn {turn} of {name}")


def review(nvim: Neovim, count: int, first: str) -> None:
    """Review what was changed in the files, without deciding about it."""
    nvim.keys(":Eca review<CR>")
    nvim.wait_until(f"require('eca').status().unreviewed == {count}")
    nvim.wait_until(f"vim.fn.expand('%') == '{first}'")
    nvim.keys(":Eca review hide<CR>")


def undo_all(nvim: Neovim, first: str) -> str:
    """Press gu on the first prompt, and undo files only; return what was asked before that."""
    nvim.keys("<Esc>:EcaChat<CR><Esc><C-w>kgg")
    nvim.command(f"call search('{first.split(maxsplit=1)[0]}', 'c')")
    nvim.input("gu")
    nvim.wait_screen("Roll back to before")
    nvim.input("2<CR>")
    asked = nvim.wait_screen("undo turn").text()
    nvim.keys("u")
    nvim.wait_screen("undone in")
    return asked


def test_all_files_are_as_before(start_nvim: StartNeovim, workspace: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    (workspace / "old.txt").write_text("one\ntwo\nthree\n")
    (workspace / "key").write_bytes(b"\0\xff")
    (workspace / "key").chmod(0o600)
    before = state(workspace)
    played = {it: eca_server(it, tmp_path) for it in ECA}
    played |= {it: acp_server(it, tmp_path) for it in ACP}
    servers: Mapping[str, Value] = {name: server for name, (server, _) in played.items()}
    settings = {"server": "shell", "servers": servers, "approval": {"guard": 0}}
    nvim = start_nvim(settings=settings, columns=80, lines=24)
    nvim.lua(WATCH)
    for name, (_, said) in played.items():
        play(nvim, name, said)
        assert state(workspace) != before, name
        if name in REVIEWED:
            review(nvim, *REVIEWED[name])
        asked = undo_all(nvim, said[0])
        as_before = f"the files of {name} to be as before; asked was:\n{asked}\n"
        nvim.wait_for(lambda: state(workspace) == before, as_before)
        nvim.command("messages clear")
