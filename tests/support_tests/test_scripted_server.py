"""The scripted server performs its script and keeps a journal."""

import signal
from typing import Any

from tests.support import script
from tests.support.factories import PrepareScript
from tests.support_tests.peer import Peer, connect

INITIALIZE = {"workspaceFolders": [{"uri": "file:///home/me/project", "name": "project"}]}
PROMPT = {"chatId": "c-1", "message": 'say "hi"'}


def shake_hands(peer: Peer) -> None:
    peer.ask("initialize", INITIALIZE)
    peer.notify("initialized")
    peer.hear_method("config/updated")


def contents(peer: Peer) -> list[dict[str, Any]]:
    return [it["params"] for it in peer.heard if it.get("method") == "chat/contentReceived"]


def test_a_turn_in_the_real_order(scripted_server: PrepareScript) -> None:
    server = scripted_server(script.handshake(), script.turn(script.text("in ", "$workspace")))
    with connect(server.command) as peer:
        shake_hands(peer)
        answer = peer.ask("chat/prompt", PROMPT)
        peer.hear_until(lambda it: it["params"].get("content", {}).get("state") == "finished")
    assert answer["result"]["chatId"] == "c-1"
    texts = [(it["role"], it["content"].get("text")) for it in contents(peer)]
    assert texts[:3] == [
        ("user", 'say "hi"\n'),
        ("assistant", "in "),
        ("assistant", "/home/me/project"),
    ]
    methods = [it.get("method", "answer") for it in peer.heard[2:]]
    assert methods[:4] == ["chat/opened", "chat/contentReceived", "chat/statusChanged", "answer"]
    assert [it["method"] for it in server.received()] == [
        "initialize",
        "initialized",
        "chat/prompt",
    ]


def test_a_stream_at_full_speed_comes_whole(scripted_server: PrepareScript) -> None:
    server = scripted_server(script.turn(script.stream(1000, ("a$n ", 'b"\n'))))
    with connect(server.command) as peer:
        peer.ask("chat/prompt", PROMPT)
        peer.hear_until(lambda it: it["params"].get("status") == "idle")
    texts = [it["content"]["text"] for it in contents(peer) if it["role"] == "assistant"]
    assert len(texts) == 1000
    assert texts[:3] == ["a0 ", 'b"\n', "a2 "]


def test_a_stream_keeps_its_rate_and_is_cut_short(scripted_server: PrepareScript) -> None:
    steps = script.stream(100_000, rate=100, until="chat/promptStop")
    server = scripted_server(script.turn(steps, script.status("stopping")))
    with connect(server.command) as peer:
        peer.ask("chat/prompt", PROMPT)
        for _ in range(20):
            peer.hear()
        peer.notify("chat/promptStop", {"chatId": "c-1"})
        peer.hear_until(lambda it: it["params"].get("status") == "stopping")
    assert len(contents(peer)) < 10_000


def test_the_client_is_asked(scripted_server: PrepareScript) -> None:
    server = scripted_server(script.ask("editor/getDiagnostics", {}, 7), script.leave(0))
    with connect(server.command) as peer:
        assert peer.hear()["method"] == "editor/getDiagnostics"
        peer.send({"id": 7, "result": {"diagnostics": []}})
        assert peer.exit_status() == 0
    assert [answer["id"] for answer in server.answers()] == [7]


def test_errors_pauses_and_what_is_not_expected(scripted_server: PrepareScript) -> None:
    server = scripted_server(
        (*script.expect("chat/open"), *script.pause(1)),
        script.fail("chat/open", "chat_not_found", "no such chat"),
    )
    with connect(server.command) as peer:
        assert peer.ask("chat/list")["result"] == {"chats": []}
        assert peer.ask("rewrite/prompt")["error"]["code"] == -32601
        assert peer.ask("chat/open")["error"]["code"] == "chat_not_found"
        assert peer.ask("shutdown")["result"] is None
        peer.notify("exit")
        assert peer.exit_status() == 0


def test_messages_are_held_for_a_later_step(scripted_server: PrepareScript) -> None:
    server = scripted_server(
        (*script.expect("chat/prompt"), *script.reply("chat/prompt", {})),
        (*script.expect("chat/promptSteer"), *script.status("steered")),
    )
    with connect(server.command) as peer:
        peer.notify("chat/promptSteer", {"chatId": "c-1"})
        peer.ask("chat/prompt", PROMPT)
        assert peer.hear()["params"]["status"] == "steered"


def test_misbehaviour(scripted_server: PrepareScript) -> None:
    server = scripted_server(script.raw(b"noise"), script.stderr("oh no\n"), script.leave(3))
    with connect(server.command) as peer:
        assert peer.exit_status() == 3
        assert peer.process.stdout is not None
        assert peer.process.stderr is not None
        assert peer.process.stdout.read() == b"noise"
        assert peer.process.stderr.read() == b"oh no\n"


def test_a_stubborn_server_only_dies_by_force(scripted_server: PrepareScript) -> None:
    server = scripted_server(script.stubborn(), script.status("ready"))
    with connect(server.command) as peer:
        peer.hear()
        peer.process.send_signal(signal.SIGTERM)
        peer.notify("exit")
        assert peer.ask("chat/list")["result"] == {"chats": []}
        peer.close_input()
        assert peer.process.poll() is None
