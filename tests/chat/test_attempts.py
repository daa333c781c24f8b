"""Several answers to one prompt: one is shown, the others are put aside whole."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from tests.chat.driver import ENDED, Driver, call, said
from tests.chat.test_history_changes import block

from eca_nvim.chat.model.attempts import kept_chats
from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.user_actions import attempts, history_edits
from eca_nvim.chat.user_actions.folding import redraw
from eca_nvim.chat.user_actions.prompts import hold_prompt, send_prompt
from eca_nvim.chat.vocabulary.call_details import Subagent
from eca_nvim.chat.vocabulary.contexts import FileContext
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Role, TextReceived, ToolFinished, ToolRunning
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded, UsageReported


class Talk(Driver):
    """A chat, and the sessions that its agent keeps: what was said in each, by our ids."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: dict[str, list[str]] = {"chat": []}
        self._count = 0

    def prompt(self, text: str) -> None:
        self.send(text)
        self._answer(text)

    def _answer(self, text: str) -> None:
        self._count += 1
        answer, here = f"answer {self._count}", self.sessions["chat"]
        echo = TextReceived(Role.USER, f"{text}\n", f"id of {text} {self._count}")
        self.hear(echo, *said(answer), ENDED)
        here += [text, answer]

    def retry(self, model: str = "", recap: str | None = None) -> None:
        prompt = attempts.last_prompt(self.chat)
        assert prompt is not None
        kept = f"kept {len(self.sessions)}"
        self.sessions[kept] = here = self.sessions["chat"]
        last = max(at for at, it in enumerate(here) if it == prompt.text)
        self.sessions["chat"] = here[:last]
        self.take(attempts.ask_again(self.chat, prompt, kept, model, self.now, recap))
        self._answer(prompt.text)

    def step(self, at: int, step: int) -> bool:
        row = attempts.attempts_at(self.chat, at)
        if row is None:
            return False
        place = (row.place + step) % len(row.attempts)
        kept, mine = row.attempts[place].kept_as, self.sessions["chat"]
        self.sessions["chat"], self.sessions[kept] = self.sessions[kept], mine
        self.take(attempts.show_attempt(self.chat, row, place, self.now))
        return True

    @property
    def said(self) -> Sequence[str]:
        """What the transcript says was said."""
        lines = transcript(self.chat, self.now).splitlines()
        return [it for it in lines if it and not it.startswith((">", "#"))]

    @property
    def seen(self) -> Sequence[str]:
        """The rows that are on the screen."""
        return [row for it in self.view.blocks for row in [it.header, *it.body] if row]


@given(st.lists(st.one_of(st.just("prompt"), st.just("retry"), st.integers(-9, 9)), max_size=14))
def test_what_is_shown_is_what_the_agents_session_has(steps: list[str | int]) -> None:
    talk = Talk()
    talk.prompt("p0")
    for number, step in enumerate(steps, 1):
        prompts = [it.id for it in talk.view.blocks if it.kind.value == "user"]
        if step == "prompt":
            talk.prompt(f"p{number}")
        elif step == "retry":
            talk.retry()
        elif isinstance(step, int):
            talk.step(prompts[step % len(prompts)] if step else 0, 1 if step > 0 else -1)
        assert talk.said == talk.sessions["chat"]
        rows = [it for it in talk.seen if not it.startswith("answer ") or "/" not in it]
        assert rows == talk.said
        assert {it.id for it in talk.view.blocks} == set(talk.chat.blocks)
        kept = kept_chats(talk.chat.root.blocks)
        assert len(set(kept)) == len(kept)
        assert {*kept, "chat"} == {*talk.sessions}
    before, talk.view.status = talk.seen, {}
    talk.take(redraw(talk.chat, talk.now))
    assert talk.seen == before


def test_the_row_names_the_answer_and_its_model() -> None:
    talk = Talk()
    talk.chat.shown_options = {"model": "mock-1"}
    talk.prompt("hello")
    talk.chat.shown_options = {"model": "mock-2"}
    talk.retry("mock-2", recap="said")
    assert talk.seen == ["hello", "answer 2/2 · mock-2 · new session", "answer 2"]
    talk.step(0, 1)
    assert talk.seen == ["hello", "answer 1/2 · mock-1", "answer 1"]
    assert "> answer 1/2 · mock-1" in transcript(talk.chat, 0).splitlines()


def test_the_prompt_is_sent_as_it_was() -> None:
    driver, context = Driver(), FileContext("/workspace/a.py")
    driver.chat.recap = "old"
    driver.take(send_prompt(driver.chat, "go", 1, (context,)))
    driver.hear(*said("no"), ENDED)
    prompt = attempts.last_prompt(driver.chat)
    assert prompt is not None
    driver.take(attempts.ask_again(driver.chat, prompt, "kept", "", 2, "said"))
    sent = [it for it in driver.effects if isinstance(it, Prompt)]
    assert sent[1:] == [Prompt("chat", "go", (context,), "said")]


def test_a_steer_is_no_prompt_of_its_own() -> None:
    driver = Driver()
    driver.run("first")
    driver.hear(*said("one"), ENDED)
    driver.run("second")
    driver.send("steer")
    driver.hear(TextReceived(Role.USER, "steer\n"), *said("two"), ENDED)
    prompt = attempts.last_prompt(driver.chat)
    assert prompt is not None
    assert prompt.text == "second"
    driver.take(attempts.ask_again(driver.chat, prompt, "kept", "", 2))
    assert attempts.attempts_at(driver.chat, 0) is not None
    assert attempts.attempts_at(driver.chat, block(driver, "one")) is None
    assert attempts.attempts_at(driver.chat, block(driver, "second")) is not None


def test_a_subagent_comes_back_with_its_call() -> None:
    driver, agent = Talk(), call("c1", "spawn_agent", details=Subagent("explorer", "child"))
    driver.send("delegate")
    driver.hear(ToolRunning(agent))
    driver.hear(*said("from the child"), child="child")
    driver.hear(ToolFinished(agent, ("ok",)), UsageReported(session_tokens=7), *said("done"), ENDED)
    driver.toggle(driver.chat.root.calls["c1"].id, to_open=True)
    before = driver.seen
    assert "from the child" in before
    prompt = attempts.last_prompt(driver.chat)
    assert prompt is not None
    driver.take(attempts.ask_again(driver.chat, prompt, "kept", "", 2))
    assert not driver.chat.anchors
    driver.hear(*said("again"), UsageReported(session_tokens=9), ENDED)
    row = attempts.attempts_at(driver.chat, 0)
    assert row is not None
    driver.take(attempts.show_attempt(driver.chat, row, 0, 3))
    assert [it for it in driver.seen if "answer 1/2" not in it] == before
    assert driver.chat.usage == UsageReported(session_tokens=7)


def test_an_answer_that_does_not_come_is_told_below_the_row() -> None:
    talk = Talk()
    talk.prompt("hello")
    prompt = attempts.last_prompt(talk.chat)
    assert prompt is not None
    talk.take(attempts.ask_again(talk.chat, prompt, "kept", "", 2))
    talk.hear(TurnEnded(TurnEnd.DONE))
    assert "without an answer" in talk.seen[-1]


def test_rolling_back_removes_all_answers() -> None:
    talk = Talk()
    talk.prompt("hello")
    talk.retry()
    prompt = history_edits.prompt_of(talk.chat, 0)
    assert prompt is not None
    talk.take(history_edits.roll_back(talk.chat, prompt, 3))
    assert talk.seen == []
    assert kept_chats(talk.chat.root.blocks) == []


def test_ids_of_another_session_come_back() -> None:
    talk = Talk()
    talk.prompt("one")
    talk.prompt("two")
    talk.retry(recap="said")
    first = history_edits.prompt_of(talk.chat, block(talk, "one"))
    assert first is not None
    assert first.content_id is None
    talk.step(0, 1)
    assert first.content_id == "id of one 1"


def test_a_prompt_that_is_held_back_leaves_the_way_to_the_other_answer() -> None:
    """An option that the agent has not set holds it: it is queued, and sent later."""
    talk = Talk()
    talk.prompt("hello")
    prompt = attempts.last_prompt(talk.chat)
    assert prompt is not None
    talk.take(attempts.ask_again(talk.chat, prompt, "kept", "", 2))
    talk.take(hold_prompt(talk.chat, "hello", (), "not sent", 3))
    talk.send("")
    talk.hear(TextReceived(Role.USER, "hello\n", "u2"), *said("late"), ENDED)
    row = attempts.attempts_at(talk.chat, 0)
    assert row is not None
    talk.take(attempts.show_attempt(talk.chat, row, 0, 4))
    assert talk.seen == ["hello", "answer 1/2", "answer 1"]
    row = attempts.attempts_at(talk.chat, 0)
    assert row is not None
    talk.take(attempts.show_attempt(talk.chat, row, 1, 5))
    assert talk.seen[-2:] == ["hello", "late"]
