"""The Python half of calls to the editor, and the services that use them."""

from collections.abc import Callable, Sequence

import anyio
import pytest

from eca_nvim.agents.base import Diagnostic, Location, NoAnswer
from eca_nvim.chat.vocabulary.intents import CallReturned
from eca_nvim.nvim import editor as editor_module
from eca_nvim.nvim.editor import CallFailed, Editor, EditorCalls, Unanswered

pytestmark = pytest.mark.anyio

FINDING = {
    "path": "/w/a.py",
    "start_line": 0,
    "start_column": 1,
    "end_line": 0,
    "end_column": 4,
    "severity": "warning",
    "message": "mind this",
}
DIAGNOSTIC = Diagnostic("/w/a.py", 0, 1, 0, 4, "warning", "mind this")
OTHER = Diagnostic("/w/b.py", 0, 1, 0, 4, "warning", "mind this")


class Neovim:
    """Answers the host's calls with what the test says."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Sequence[object]]] = []
        self.answer: Callable[[int], CallReturned | None] = lambda _number: None
        self.calls = EditorCalls(self.run)
        self.editor = Editor(self.calls)

    def run(self, code: str, arguments: Sequence[object]) -> None:
        self.asked.append((code, arguments))
        number = arguments[0]
        assert isinstance(number, int)
        if (answer := self.answer(number)) is not None:
            self.calls.returned(answer)

    def answers(self, value: object, *, ok: bool = True) -> None:
        """Answer every call from now on."""
        self.answer = lambda number: CallReturned(number, ok, value)

    def answers_nothing(self) -> None:
        """Wait for the user from now on."""
        self.answer = lambda _number: None


@pytest.fixture
def neovim() -> Neovim:
    return Neovim()


async def test_each_call_gets_its_own_answer(neovim: Neovim) -> None:
    values: dict[str, object] = {}

    async def ask(name: str) -> None:
        values[name] = await neovim.calls.call(name, {})

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "one")
            tasks.start_soon(ask, "two")
            await anyio.wait_all_tasks_blocked()
            for _, (number, name, _arguments) in reversed(neovim.asked):
                assert isinstance(number, int)
                neovim.calls.returned(CallReturned(number, True, f"answer to {name}"))
    assert values == {"one": "answer to one", "two": "answer to two"}


async def test_a_failure_is_raised_with_neovims_words(neovim: Neovim) -> None:
    neovim.answers("E484: no luck", ok=False)
    with pytest.raises(CallFailed, match="unsaved: E484: no luck"):
        await neovim.editor.unsaved(["/w/a.py"])


async def test_no_answer_in_time_is_raised_and_a_late_one_is_dropped(neovim: Neovim) -> None:
    with pytest.raises(Unanswered):
        await neovim.calls.call("unsaved", {}, seconds=0)
    neovim.calls.returned(CallReturned(1, True, "late"))
    neovim.answers([{"path": "/w/a.py", "text": "new"}])
    assert await neovim.editor.unsaved(["/w/a.py"]) == {"/w/a.py": "new"}


async def test_diagnostics_are_asked_for_one_file_or_for_all(neovim: Neovim) -> None:
    neovim.answers([{**FINDING, "strange": 1}])
    assert await neovim.editor.diagnostics("/w/a.py") == (DIAGNOSTIC,)
    assert await neovim.editor.diagnostics(None) == (DIAGNOSTIC,)
    assert [arguments[1:] for _, arguments in neovim.asked] == [
        ["diagnostics", {"path": "/w/a.py"}],
        ["diagnostics", {}],
    ]


async def test_diagnostics_are_in_order_of_their_places(neovim: Neovim) -> None:
    places = [("/w/b.py", 0, 1), ("/w/a.py", 9, 0), ("/w/a.py", 2, 7), ("/w/a.py", 2, 1)]
    keys = ("path", "start_line", "start_column")
    neovim.answers([{**FINDING, **dict(zip(keys, place, strict=True))} for place in places])
    found = await neovim.editor.diagnostics(None)
    assert [(it.path, it.start_line, it.start_column) for it in found] == sorted(places)


async def test_none_at_all_may_be_an_empty_table(neovim: Neovim) -> None:
    neovim.answers({})
    assert await neovim.editor.diagnostics(None) == ()


async def test_a_finding_that_lacks_a_field_is_a_failure(neovim: Neovim) -> None:
    neovim.answers([{"path": "/w/a.py"}])
    with pytest.raises(CallFailed, match="start_line"):
        await neovim.editor.diagnostics(None)


async def test_in_a_prompt_the_diagnostics_told_last_are_the_answer(
    neovim: Neovim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor_module, "DIAGNOSTICS_TIMEOUT", 0)
    told = [
        {"path": "/w/b.py", "items": [{**FINDING, "path": "/w/b.py"}]},
        {"path": "/w/a.py", "items": [FINDING]},
    ]
    neovim.answers(told)
    neovim.editor.watch()
    neovim.answers_nothing()
    assert await neovim.editor.diagnostics(None) == (DIAGNOSTIC, OTHER)
    assert await neovim.editor.diagnostics("/w/b.py") == (OTHER,)
    assert await neovim.editor.diagnostics("/w/c.py") == ()
    neovim.calls.returned(CallReturned(1, True, [{"path": "/w/a.py", "items": {}}]))
    assert await neovim.editor.diagnostics(None) == (OTHER,)


async def test_a_feed_that_fails_is_logged(
    neovim: Neovim, caplog: pytest.LogCaptureFixture
) -> None:
    neovim.answers("no diagnostics", ok=False)
    neovim.editor.watch()
    assert "no diagnostics" in caplog.text


async def test_places_are_found_or_asked_for_again(neovim: Neovim) -> None:
    place = {"path": "/w/a.py", "start_line": 1, "start_column": 2, "end_line": 1, "end_column": 3}
    neovim.answers([place])
    found = await neovim.editor.locations("definition", "/w/a.py", 3, 4)
    assert found == (Location("/w/a.py", 1, 2, 1, 3),)
    neovim.answers("no-server")
    found = await neovim.editor.locations("definition", "/w/a.py", 3, 4)
    assert found is NoAnswer.NO_SERVER
