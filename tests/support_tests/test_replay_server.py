"""The replay player: translation, order, and what it reports."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.support import servers
from tests.support.editor import Neovim
from tests.support.factories import PrepareReplay
from tests.support.servers import Replay
from tests.support.wire import encode
from tests.support_tests.peer import Peer, connect

FOLDER = {"workspaceFolders": [{"uri": "file:///home/me/project", "name": "project"}]}
CHAT = {"chatId": "live-chat"}
CALL = "00000000-0000-0000-0000-000000000001"
TEXT = {"text": "see\u2028 /workspace/a.py"}
RECORDING: list[tuple[str, dict[str, Any]]] = [
    ("c2s", {"id": 1, "method": "initialize", "params": {}}),
    ("s2c", {"id": 1, "result": {}}),
    ("c2s", {"id": 2, "method": "chat/prompt", "params": {"chatId": "c-old", "message": "x"}}),
    ("s2c", {"method": "chat/contentReceived", "params": {"chatId": "c-old", "content": TEXT}}),
    ("s2c", {"id": 2, "result": {"chatId": "c-old"}}),
    ("c2s", {"method": "chat/toolCallApprove", "params": {"chatId": "c-old", "toolCallId": CALL}}),
    ("s2c", {"id": 99, "method": "editor/getDiagnostics", "params": {}}),
    ("c2s", {"id": 99, "result": {}}),
    ("s2c", {"id": 50, "result": {}}),
    ("c2s", {"id": 3, "method": "shutdown"}),
    ("s2c", {"id": 3, "result": None}),
    ("c2s", {"method": "exit"}),
]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replay:
    """Prepare the recording above."""
    lines = [{"t": 0, "dir": way, "msg": message} for way, message in RECORDING]
    lines.insert(1, {"t": 0, "dir": "c2s", "msg": []})
    (tmp_path / "made.jsonl").write_text(
        "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    )
    monkeypatch.setattr(servers, "RECORDINGS", tmp_path)
    return servers.replay("made", tmp_path)


def report_of(replay: Replay) -> dict[str, Any]:
    report = replay.report()
    assert report is not None
    return report


def begin(peer: Peer) -> None:
    peer.ask("initialize", FOLDER)
    peer.ask("chat/prompt", {**CHAT, "message": "y"})


def test_a_faithful_client_leaves_an_empty_report(recorded: Replay) -> None:
    with connect(recorded.command) as peer:
        begin(peer)
        peer.notify("chat/toolCallApprove", {**CHAT, "toolCallId": CALL})
        peer.send({"id": peer.hear()["id"], "result": {}})
        assert peer.ask("shutdown")["result"] is None
        peer.notify("exit")
        assert peer.exit_status() == 0
    assert report_of(recorded) == {"missing": [], "unexpected": [], "different": [], "matched": 6}
    spoken = peer.heard[1]["params"]
    assert spoken == {"chatId": "live-chat", "content": {"text": "see\u2028 /home/me/project/a.py"}}
    assert peer.heard[2]["result"] == {"chatId": "live-chat"}


def test_differences_and_surprises_are_reported(recorded: Replay) -> None:
    with connect(recorded.command) as peer:
        assert peer.ask("chat/list")["result"] == {"chats": []}
        assert peer.ask("rewrite/prompt")["error"]["code"] == -32601
        begin(peer)
        peer.notify("chat/toolCallApprove", {**CHAT, "toolCallId": "other", "save": "session"})
        peer.send({"id": peer.hear()["id"], "result": {}})
        peer.ask("shutdown")
        peer.close_input()
        assert peer.exit_status() == 0
    report = report_of(recorded)
    assert report["unexpected"] == ["chat/list", "rewrite/prompt"]
    assert [(it["key"], it["live"]) for it in report["different"]] == [
        ("toolCallId", "other"),
        ("save", "session"),
    ]
    assert report["missing"] == ["exit"]


def test_what_comes_early_is_held_for_its_place(recorded: Replay) -> None:
    with connect(recorded.command) as peer:
        peer.notify("chat/toolCallApprove", {**CHAT, "toolCallId": CALL})
        begin(peer)
        assert peer.hear()["method"] == "editor/getDiagnostics"


@pytest.mark.parametrize("leave", ["shutdown", "end of input", "SIGTERM"])
def test_leaving_early_is_reported(recorded: Replay, leave: str) -> None:
    with connect(recorded.command) as peer:
        begin(peer)
        match leave:
            case "shutdown":
                assert peer.ask("shutdown")["result"] is None
            case "end of input":
                peer.close_input()
            case _:
                peer.process.send_signal(signal.SIGTERM)
        assert peer.exit_status() == (128 + signal.SIGTERM if leave == "SIGTERM" else 0)
    rest = ["chat/toolCallApprove", "response", "shutdown", "exit"]
    assert report_of(recorded)["missing"] == rest


def test_patience_ends(recorded: Replay) -> None:
    with connect([*recorded.command, "--patience", "0.1"]) as peer:
        peer.ask("initialize", FOLDER)
        assert peer.hear_method("editor/getDiagnostics")
        peer.close_input()
        peer.exit_status()
    assert report_of(recorded)["missing"][:2] == ["chat/prompt", "chat/toolCallApprove"]


def test_a_real_recording_plays(replay: PrepareReplay) -> None:
    playing = replay("handshake", speed=0.01)
    with connect([*playing.command, "server"]) as peer:
        assert "result" in peer.ask("initialize", FOLDER)
        peer.notify("initialized")
        assert peer.hear_method("config/updated")
        peer.close_input()
        peer.exit_status()
    assert report_of(playing)["matched"] >= 2


def test_an_unknown_recording_is_told(replay: PrepareReplay) -> None:
    with pytest.raises(AssertionError, match="no recording"):
        replay("never made")


def test_the_report_is_read_when_neovim_has_left(recorded: Replay, nvim: Neovim) -> None:
    nvim.lua(
        """local command, greeting = ...
        local job = vim.fn.jobstart(command, { on_stdout = function() vim.g.answered = 1 end })
        vim.fn.chansend(job, greeting)""",
        recorded.command,
        encode('{"id": 1, "method": "initialize", "params": {}}').decode(),
    )
    nvim.wait_until("vim.g.answered")
    with pytest.raises(AssertionError, match=r'"missing": \[\s+"chat/prompt"'):
        recorded.assert_as_recorded(nvim)
    assert nvim.child.status == 0
