"""The float shows where a path leads, and nothing is written without approval."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import expect, handshake, reply, send, text, turn
from tests.support.servers import ScriptedServer
from tests.ui.talk import asks, say, start_chat, tool, wait_line

pytestmark = pytest.mark.either_nvim

WARNINGS = "return (require('eca.state.mirror').pending()[1] or {}).warnings"


def wait_told(nvim: Neovim, warning: str) -> None:
    """Wait until the only call that waits has one warning, with a text in it."""

    def told() -> bool:
        lines = nvim.lua(WARNINGS) or []
        return len(lines) == 1 and warning in lines[0]

    nvim.wait_for(told, f"the warning {warning!r}")


def wait_rejected(nvim: Neovim, server: ScriptedServer, count: int) -> None:
    nvim.wait_for(lambda: len(server.received("chat/toolCallReject")) == count, "a rejection")


def edit(call: str, path: str) -> list[dict[str, object]]:
    """Ask for an edit, as the real server does."""
    change = {"type": "fileChange", "path": path, "diff": "@@ -0,0 +1,1 @@\n+x"}
    counted = change | {"linesAdded": 1, "linesRemoved": 0}
    return asks(call, "write_file", arguments={"path": path, "content": "x"}, details=counted)


def test_where_a_path_leads_is_on_the_screen(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    (workspace / "docs").symlink_to(keys)
    (workspace / "link.txt").symlink_to("/no/such/place")
    (workspace / ".git/hooks").mkdir(parents=True)
    cases = {
        f"{workspace}/docs/authorized_keys": "outside the workspace by a link: docs/authorized",
        f"{workspace}/link.txt": "outside the workspace by a link: link.txt → /no/such/place",
        f"{workspace}/.git/hooks/pre-commit": "in a git folder, from which git runs programs",
        f"{workspace}/.nvim.lua": "run by Neovim or another editor when it starts there: .nvim.lua",
        "file://evil.host/etc/passwd": "outside the workspace: file://evil.host/etc/passwd",
        f"file://{workspace}/docs/x": "outside the workspace by a link: docs/x",
    }
    ids = [f"call-{number}" for number in range(len(cases))]
    steps = [
        [*edit(call, path), *expect("chat/toolCallReject"), *tool("Rejected", call)]
        for call, path in zip(ids, cases, strict=True)
    ]
    moved = {"source": f"{workspace}/link.txt", "destination": f"{workspace}/docs/y"}
    moves = [*asks("move", "move_file", arguments=moved), *expect("chat/toolCallReject")]
    server = scripted_server(handshake(), turn(*steps, moves))
    nvim = start_chat(start_nvim, server, settings={"approval": {"guard": 0}}, columns=160)
    say(nvim, "go")
    wait_told(nvim, f"→ {keys}/authorized_keys")
    (workspace / "docs").unlink()
    (workspace / "docs").symlink_to(tmp_path)
    nvim.command("Eca approve")
    nvim.wait_until("vim.fn.execute('messages'):find('look again', 1, true)")
    wait_told(nvim, f"→ {tmp_path}/authorized_keys")
    assert server.received("chat/toolCallApprove") == []
    for number, warning in enumerate(cases.values()):
        wait_told(nvim, warning)
        screen = nvim.wait_screen(f"! {warning}"[:45])
        assert "DiagnosticWarn" in screen.groups_at(*screen.find(f"! {warning}"[:45]))
        nvim.command("Eca reject")
        wait_rejected(nvim, server, number + 1)
    wait_told(nvim, f"by a link: link.txt → /no/such/place, docs/y → {tmp_path}/y")


def test_a_change_that_a_server_of_today_proposes_is_only_shown(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    proposal = {
        "type": "fileChange",
        "description": "Change it",
        "manualApproval": False,
        "file": ".nvim.lua",
        "changes": [{"kind": "create", "content": "os.exit()\n"}],
    }
    told = send("chat/contentReceived", {"chatId": "$chat", "content": proposal})
    server = scripted_server(handshake(), turn(told, text("that is all")))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "that is all")
    wait_line(nvim, ".nvim.lua")
    assert not (workspace / ".nvim.lua").exists()


def test_a_change_that_an_old_server_proposes_asks_unless_it_says_otherwise(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    change = [{"kind": "create", "content": "x\n"}]
    vague = {"type": "fileChange", "file": "vague.txt", "changes": change}
    hook = {**vague, "file": ".git/hooks/pre-commit", "manualApproval": False}
    waived = {**vague, "file": "waived.txt", "manualApproval": False}
    said = (vague, hook, waived, {"type": "text", "text": "Done."})
    contents = [{"chatId": "d1", "content": it, "isComplete": it is said[-1]} for it in said]
    server = scripted_server(
        *(expect("initialize"), reply("initialize", {}), expect("initialized")),
        *(expect("chat/prompt"), reply("chat/prompt", {"chatId": "d1", "status": "success"})),
        *(send("chat/contentReceived", params) for params in contents),
    )
    nvim = start_chat(start_nvim, server, settings={"approval": {"guard": 0}})
    say(nvim, "go")
    nvim.wait_for((workspace / "waived.txt").exists, "the file that needs no approval")
    nvim.wait_until("#require('eca').pending() == 2")
    wait_line(nvim, "waived.txt")
    assert not (workspace / "vague.txt").exists()
    nvim.command("Eca approve")
    nvim.wait_for((workspace / "vague.txt").exists, "the file that was approved")
    nvim.wait_screen("! in a git folder")
    assert not (workspace / ".git").exists()
