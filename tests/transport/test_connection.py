"""A connection to a correct server."""

import anyio
import pytest
from tests.transport.harness import DEADLINE_S, Children, Inbox

from eca_nvim.jsonrpc import Notification, NotOpen, Request
from eca_nvim.transport import Connection, PendingRequest, RemoteError

pytestmark = pytest.mark.anyio


async def test_requests_get_their_answers(children: Children) -> None:
    async with children.open(Inbox(), "echo") as connection:
        with anyio.fail_after(DEADLINE_S):
            assert await connection.request("m", {"text": "žluťoučký 🐎"}) == {
                "text": "žluťoučký 🐎"
            }
            assert await connection.request("m") is None


async def test_many_wait_at_once(children: Children) -> None:
    answers: dict[int, object] = {}

    async def ask(connection: Connection, number: int) -> None:
        answers[number] = await connection.request("m", number)

    with anyio.fail_after(DEADLINE_S):
        async with (
            children.open(Inbox(), "echo") as connection,
            anyio.create_task_group() as tasks,
        ):
            for number in range(50):
                tasks.start_soon(ask, connection, number)
    assert answers == {number: number for number in range(50)}


async def test_an_error_of_the_server_is_raised(children: Children) -> None:
    async with children.open(Inbox(), "echo") as connection:
        with pytest.raises(RemoteError, match=r"^no chat \(chat_not_found\)$") as raised:
            await connection.request("fail")
    assert (raised.value.code, raised.value.data) == ("chat_not_found", None)


async def test_everything_is_written_in_the_order_of_the_calls(children: Children) -> None:
    async with children.open(Inbox(), "echo") as connection:
        await connection.request("ask")
        for number in range(200):
            connection.notify(f"notify{number}", {"text": "x" * 1000})
            connection.start_request(f"request{number}")
        connection.respond("q1", None)
        connection.notify("last")
        pairs = [(f"notify{number}", f"request{number}") for number in range(200)]
        with anyio.fail_after(DEADLINE_S):
            assert await connection.request("seen") == [
                "ask",
                *(method for pair in pairs for method in pair),
                "answer",
                "last",
                "seen",
            ]


async def test_what_is_read_together_is_handled_together(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "echo") as connection:
        await connection.request("burst", 100)
        assert inbox.batches == [[Notification(f"n{number}", None) for number in range(100)]]


async def test_an_answer_is_seen_after_what_came_before_it(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "echo") as connection:
        for count in (1, 3000, 5):
            inbox.batches.clear()
            await connection.request("burst", count)
            assert inbox.methods == [f"n{number}" for number in range(count)]


async def test_an_answer_is_heard_in_its_place(children: Children) -> None:
    inbox = Inbox()
    heard: list[list[str]] = []
    async with children.open(inbox, "echo") as connection:

        def hear(pending: PendingRequest) -> None:
            pending.answer()
            heard.append(inbox.methods)

        started = [connection.start_request("burst", 2, hear) for _ in range(3)]
        for pending in started:
            await pending.result()
    assert heard == [["n0", "n1"] * count for count in (1, 2, 3)]


async def test_the_server_asks_and_is_answered_later(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "echo") as connection:
        await connection.request("ask")
        assert await inbox.wait_for("editor/getDiagnostics") == Request(
            "q1", "editor/getDiagnostics", {}
        )
        connection.respond("q1", {"diagnostics": []})
        answered = await inbox.wait_for("answered")
        assert answered.params == {"jsonrpc": "2.0", "id": "q1", "result": {"diagnostics": []}}
        with pytest.raises(NotOpen):
            connection.respond("q1", None)


async def test_the_server_asks_and_gets_an_error(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "echo") as connection:
        await connection.request("ask")
        connection.respond_error("q1", -32603, "no editor")
        answered = await inbox.wait_for("answered")
        error = {"code": -32603, "message": "no editor"}
        assert answered.params == {"jsonrpc": "2.0", "id": "q1", "error": error}


async def test_giving_up_cancels_the_request(
    children: Children, caplog: pytest.LogCaptureFixture
) -> None:
    async with children.open(Inbox(), "echo") as connection:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await connection.request("silent")
        with anyio.fail_after(DEADLINE_S):
            assert await connection.request("seen") == ["silent", "$/cancelRequest", "seen"]
    assert "skipped" not in caplog.text


async def test_a_deadline_cancels_the_request(children: Children) -> None:
    async with children.open(Inbox(), "echo") as connection:
        with pytest.raises(TimeoutError), anyio.fail_after(0.01):
            await connection.request("silent")
        with anyio.fail_after(DEADLINE_S):
            assert await connection.request("seen") == ["silent", "$/cancelRequest", "seen"]


async def test_five_megabytes_pass_both_ways(children: Children) -> None:
    text = "0123456789" * 500_000
    async with children.open(Inbox(), "echo") as connection:
        with anyio.fail_after(DEADLINE_S):
            assert await connection.request("m", {"text": text}) == {"text": text}


async def test_what_cannot_be_read_is_logged_and_skipped(
    children: Children, caplog: pytest.LogCaptureFixture
) -> None:
    inbox = Inbox()
    async with children.open(inbox, "babbles") as connection:
        with anyio.fail_after(DEADLINE_S):
            assert await connection.request("m") == "still here"
    assert inbox.methods == ["one", "two"]
    for fault in ("dt_socket", "{broken]}", "Content-Length: -1", "not a JSON object", "id=99"):
        assert fault in caplog.text
