"""One recording of each real ACP agent through the whole plugin, each a server of one Neovim."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.golden import assert_golden
from tests.support.servers import ACP_RECORDINGS, module_command
from tests.ui.talk import lines_of

pytestmark = pytest.mark.either_nvim

Message: TypeAlias = dict[str, Any]

GOLDEN = Path(__file__).parent / "golden" / "acp"
NAMES = (
    *("claudezed-edit-diff", "codex-shell", "codexzed-shell", "copilot-modes"),
    *("fastagent-perm-reject-always", "pyecho-text", "pyexample-content", "qwen-edit-diff"),
    *("sdkexample-perm-reject", "vibe-todo"),
)
SETTINGS = ("session/set_mode", "session/set_config_option")
TIME = re.compile(r"  \d+(\.\d)?m?s$")
"""How long a call ran, in its header: another time in each run."""
WATCH = """
vim.g.ended = 0
vim.api.nvim_create_autocmd('User', {
  pattern = 'EcaTurnFinished',
  callback = function() vim.g.ended = vim.g.ended + 1 end,
})
"""
CHOOSE = """
local request = require('eca').pending()[1]
if request then
  require('eca').choose({ id = request.id, choice = ... })
end
return request ~= nil
"""


def messages(name: str) -> list[Message]:
    """Read a recording without the settings that its client made."""
    path = ACP_RECORDINGS / f"{name}.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    made = {_of(it).get("id") for it in lines if _of(it).get("method") in SETTINGS}
    return [it for it in lines if not (_of(it).get("id") in made and _is_ours(it))]


def _of(line: Message) -> Message:
    """Return the message of a line; none if it is standard error."""
    return line["msg"] if isinstance(line["msg"], dict) else {}


def _is_ours(line: Message) -> bool:
    """Return whether a line is a request of the client, or the answer to one."""
    return bool((line["dir"] == "c2a") == ("method" in _of(line)))


def prompts(lines: Sequence[Message]) -> Iterator[str]:
    for line in lines:
        if _of(line).get("method") == "session/prompt":
            yield "".join(it.get("text", "") for it in line["msg"]["params"]["prompt"])


def choices(lines: Sequence[Message]) -> Iterator[str]:
    for line in lines:
        outcome = (_of(line).get("result") or {}).get("outcome")
        if line["dir"] == "c2a" and outcome is not None:
            yield outcome["optionId"]


def report_of(name: str, folder: Path) -> Path:
    """Return the file in which the player says what the client did otherwise."""
    return folder / f"{name}.report.json"


def play(nvim: Neovim, name: str) -> str:
    """Do what the recorded client did in a chat of its agent; returns the transcript."""
    lines = messages(name)
    answers = [*choices(lines)]
    nvim.lua("vim.g.ended = 0; require('eca').new({ server = ... })", name)
    nvim.wait_until("require('eca').status().server == 'ready'")
    for turn, prompt in enumerate(prompts(lines), 1):
        nvim.lua("require('eca').send(...)", prompt)

        def has_ended(turn: int = turn) -> bool:
            if answers and nvim.lua(CHOOSE, answers[0]):
                del answers[0]
                nvim.wait_until("#require('eca').pending() == 0")
            return bool(nvim.lua("return vim.g.ended") == turn)

        nvim.wait_for(has_ended, f"the end of turn {turn} of {name}")
    return "\n".join(TIME.sub("", line) for line in lines_of(nvim))


def test_agents_read_as_before(start_nvim: StartNeovim, workspace: Path, tmp_path: Path) -> None:
    edited = workspace / "old.txt"
    (workspace / ".hg").mkdir()
    servers = {}
    for name in NAMES:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, messages(name))), encoding="utf-8")
        report = report_of(name, tmp_path)
        command = module_command("tests.support.replay_acp", str(path), "--report", str(report))
        servers[name] = {"command": command, "protocol": "acp"}
    settings = {"server": NAMES[0], "servers": servers, "approval": {"guard": 0}}
    nvim = start_nvim(settings=settings, columns=120, lines=40)
    nvim.lua(WATCH)
    for name in NAMES:
        edited.write_text("one\ntwo\nthree\n")
        assert_golden(play(nvim, name), GOLDEN / f"{name}.txt")
        if name in ("claudezed-edit-diff", "qwen-edit-diff"):  # they write through the editor
            assert edited.read_text() == "one\nTWO\nthree\n"
            [used] = nvim.lua("return require('eca').files(require('eca').status().chat)")
            assert used["written"] == 1
            nvim.keys(":Eca review<CR>")
            nvim.wait_screen("1 change in 1 file to review")
            assert "two" in nvim.wait_screen("▌ TWO")
            nvim.keys(":Eca changes keep<CR>:Eca review<CR>")
            nvim.wait_screen("nothing left to review")
            nvim.keys(":wincmd p<CR>")
    for name in NAMES:
        nvim.keys(f":Eca quit {name}<CR>")
    for name in NAMES:
        report = report_of(name, tmp_path)
        nvim.wait_for(report.exists, f"the report of {name}")
        found = json.loads(report.read_text(encoding="utf-8"))
        assert found["missing"] == []
        assert {it["key"] for it in found["different"]} <= {"prompt"}, name  # paths, contexts
