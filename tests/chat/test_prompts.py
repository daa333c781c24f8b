"""Prompts: sent, queued, steering, taken back."""

from __future__ import annotations

from tests.chat.driver import ENDED, RUNNING, STOPPING, Driver, call, said, user
from tests.support.told import TellSteer, TellUnsteer, told_by

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.model.chat import QueuedPrompt, QueueKind
from eca_nvim.chat.user_actions.prompts import send_prompt
from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.contexts import FileContext
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import AgentGone, SteerTaken, ToolRejected, ToolRequested
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, Ability
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded


def prompts(driver: Driver) -> list[str]:
    return [effect.text for effect in driver.effects if isinstance(effect, Prompt)]


def test_contexts_go_with_the_prompt() -> None:
    driver = Driver()
    contexts = (FileContext("/a.py"),)
    changes = send_prompt(driver.chat, "look", 0, contexts)
    assert told_by(changes.effects)[0] == Prompt("chat", "look", contexts)


def test_a_steer_is_shown_told_and_confirmed_by_its_echo_20() -> None:
    driver = Driver()
    driver.run()
    driver.send("also this")
    assert driver.view.queue == [("steer", "also this")]
    assert driver.effects[-1] == TellSteer("chat", "also this")
    driver.hear(user("also this\n"))
    assert driver.view.queue == []
    assert driver.view.lines[-1] == "also this"
    driver.hear(ENDED)
    assert prompts(driver) == ["hello"]


def test_several_steers_are_echoed_as_one() -> None:
    driver = Driver()
    driver.run()
    driver.send("one")
    driver.send("two")
    driver.send("later", queue=True)
    driver.hear(user("one\ntwo\n"))
    assert driver.view.queue == [("queue", "later")]
    assert driver.view.lines[-2:] == ["one", "two"]


def test_a_steer_that_the_agent_says_it_has_taken_waits_no_more() -> None:
    """It may read like the prompt before it, and others may wait."""
    driver = Driver()
    driver.run()
    for text in ("one", "hello", "three"):
        driver.send(text)
    driver.hear(SteerTaken("hello"))
    assert driver.view.queue == [("steer", "one"), ("steer", "three")]
    assert driver.view.lines[-1] == "hello"
    driver.hear(ENDED)
    assert prompts(driver) == ["hello", "one"]


def test_an_unread_steer_is_the_next_prompt_before_the_queue_20() -> None:
    driver = Driver()
    driver.run()
    driver.send("queued", queue=True)
    driver.send("steer")
    driver.hear(ENDED)
    assert prompts(driver) == ["hello", "steer"]
    assert driver.view.queue == [("queue", "queued")]
    driver.hear(user("steer\n"), ENDED)
    assert prompts(driver) == ["hello", "steer", "queued"]
    assert driver.view.queue == []


def test_unread_steers_become_prompts_one_by_one() -> None:
    driver = Driver()
    driver.run()
    driver.send("queued", queue=True)
    file = FileContext("/a.py")
    driver.take(send_prompt(driver.chat, "one", driver.now, (file,)))
    driver.send("two")
    driver.hear(ENDED)
    assert driver.told(Prompt)[-1] == Prompt("chat", "one", (file,))
    assert driver.view.queue == [("queue", "two"), ("queue", "queued")]
    driver.hear(user("one\n"), RUNNING, ENDED)
    assert driver.effects[-1] == Prompt("chat", "two")
    driver.hear(user("two\n"), RUNNING, ENDED)
    assert prompts(driver) == ["hello", "one", "two", "queued"]


def test_unread_steers_follow_a_stop_one_by_one() -> None:
    driver = Driver()
    driver.run()
    driver.send("one")
    driver.send("two")
    driver.stop()
    driver.hear(STOPPING, ENDED)
    assert prompts(driver) == ["hello", "one"]
    driver.hear(user("one\n"), RUNNING, ENDED)
    assert prompts(driver) == ["hello", "one", "two"]


def test_a_command_is_queued_and_stays_itself() -> None:
    driver = Driver()
    driver.run()
    driver.send("/plugin-install x")
    driver.send("words")
    driver.send(" /prompt-show")
    assert driver.told(TellSteer) == [TellSteer("chat", "words")]
    kinds = [("steer", "words"), ("queue", "/plugin-install x"), ("queue", "/prompt-show")]
    assert driver.view.queue == kinds
    for _ in range(4):
        driver.hear(ENDED)
    assert prompts(driver) == ["hello", "words", "/plugin-install x", " /prompt-show"]


def test_the_path_of_a_file_is_no_command() -> None:
    driver = Driver()
    driver.run()
    driver.send("/etc/hosts is wrong")
    assert driver.told(TellSteer) == [TellSteer("chat", "/etc/hosts is wrong")]


def test_prompts_are_sent_in_the_order_in_which_they_are_listed() -> None:
    driver = Driver()
    driver.run()
    for text, queue in (("a", True), ("/b", False), ("c", False), ("d", True), ("e", False)):
        driver.send(text, queue=queue)
    listed = [text for _, text in driver.view.queue]
    driver.unqueue(2)
    for _ in range(5):
        driver.hear(ENDED)
    assert listed == ["c", "e", "a", "/b", "d"]
    assert prompts(driver) == ["hello", "c", "a", "/b", "d"]


def test_a_correction_that_could_not_steer_follows_a_stop_before_all_others() -> None:
    driver = Driver()
    driver.take(reducer.abilities_changed(driver.chat, ALL_ABILITIES - {Ability.STEER}, 0))
    driver.run()
    driver.send("later", queue=True)
    driver.send("correction")
    driver.stop()
    driver.send("and this")
    driver.hear(STOPPING, ENDED)
    assert prompts(driver) == ["hello", "correction"]
    assert driver.view.queue == [("queue", "and this"), ("queue", "later")]


def test_a_queue_survives_a_stop_and_is_not_sent_by_it() -> None:
    driver = Driver()
    driver.run()
    driver.send("queued", queue=True)
    driver.stop()
    driver.hear(STOPPING, ENDED)
    assert driver.state == "idle"
    assert driver.view.queue == [("queue", "queued")]
    assert prompts(driver) == ["hello"]
    driver.send("go on")
    driver.hear(user("go on\n"), RUNNING, ENDED)
    assert prompts(driver) == ["hello", "go on", "queued"]


def test_a_stop_of_nothing_is_told() -> None:
    driver = Driver()
    driver.stop()
    assert driver.view.other == [ops.Notify("info", "no turn is running")]
    driver.run()
    driver.stop()
    driver.stop()
    assert len([op for op in driver.view.other if isinstance(op, ops.Notify)]) == 1


def test_a_prompt_while_stopping_waits() -> None:
    driver = Driver()
    driver.run()
    driver.stop()
    driver.send("next")
    assert driver.view.queue == [("queue", "next")]
    assert not driver.told(TellSteer)


def test_a_second_prompt_never_replaces_a_running_turn_9() -> None:
    driver = Driver()
    driver.send("one")
    driver.send("two")
    assert prompts(driver) == ["one"]
    assert driver.view.lines == ["one"]


def test_the_reason_of_a_rejection_is_the_next_prompt_6() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(call(), needs_approval=True))
    driver.send("queued", queue=True)
    driver.reject("t1", "use grep")
    assert ("queue", "use grep") in driver.view.queue
    driver.hear(ToolRejected(call(), "user"), ENDED)
    assert prompts(driver) == ["hello", "use grep"]
    assert driver.ends == ["rejected"]


def test_nothing_follows_a_failure() -> None:
    driver = Driver()
    driver.run()
    driver.send("steer")
    driver.send("queued", queue=True)
    driver.hear(TurnEnded(TurnEnd.FAILED, "no"))
    assert prompts(driver) == ["hello"]
    assert driver.view.queue == [("queue", "steer"), ("queue", "queued")]


def test_a_waiting_prompt_is_taken_back() -> None:
    driver = Driver()
    driver.run()
    for text in ("one", "two", "three"):
        driver.send(text)
    driver.unqueue(2)
    assert driver.view.queue == [("steer", "one"), ("steer", "three")]
    told = [TellUnsteer("chat"), TellSteer("chat", "one"), TellSteer("chat", "three")]
    assert driver.effects[-3:] == told
    driver.unqueue(9)
    assert len(driver.view.queue) == 2


def test_a_waiting_prompt_is_taken_back_to_be_edited() -> None:
    driver = Driver()
    driver.run()
    driver.send("one\ntwo", queue=True)
    driver.unqueue(1, edit=True)
    assert driver.view.queue == []
    assert driver.view.other == [ops.SetInput("chat", "one\ntwo")]


def test_contexts_wait_with_their_prompt() -> None:
    driver = Driver()
    driver.run()
    file = FileContext("/workspace/a")
    changes = send_prompt(driver.chat, "steer", driver.now, (file,))
    assert told_by(driver.take(changes).effects) == [TellSteer("chat", "steer", (file,))]
    driver.take(send_prompt(driver.chat, "queued", driver.now, (file,), queue=True))
    driver.hear(ENDED)
    assert driver.told(Prompt)[-1] == Prompt("chat", "steer", (file,))
    driver.hear(user("steer\n"), RUNNING, ENDED)
    assert driver.told(Prompt)[-1] == Prompt("chat", "queued", (file,))


def test_a_queued_prompt_is_taken_back_without_telling_anyone() -> None:
    driver = Driver()
    driver.run()
    driver.send("queued", queue=True)
    driver.unqueue(1)
    assert driver.view.queue == []
    assert not driver.told(TellUnsteer)


def test_an_empty_prompt_sends_what_waits_or_nothing() -> None:
    driver = Driver()
    driver.send("  ")
    assert driver.effects == []
    driver.run()
    driver.send("queued", queue=True)
    driver.send(" ")
    driver.hear(AgentGone("gone"))
    driver.send(" ")
    assert prompts(driver) == ["hello", "queued"]


def test_several_lines_wait_as_one() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*said("x"))
    driver.send("a\nb", queue=True)
    assert driver.view.queue == [("queue", "a b")]


def test_a_prompt_of_nothing_but_escapes_is_a_block_without_text() -> None:
    driver = Driver()
    driver.hear(user("\x1b[["))
    assert [block.body for block in driver.view.blocks] == [[]]


def test_blank_lines_around_a_prompt_are_no_part_of_it() -> None:
    driver = Driver()
    driver.run("\n \n  indented\nand more\n\n")
    assert prompts(driver) == ["  indented\nand more"]
    assert driver.view.lines == ["  indented", "and more"]
    driver.send("\n/clear\n")
    driver.send(" \n\t\n")
    assert driver.view.queue == [("queue", "/clear")]


def test_a_prompt_waits_from_the_start_if_the_agent_cannot_be_steered() -> None:
    driver = Driver()
    driver.take(reducer.abilities_changed(driver.chat, ALL_ABILITIES - {Ability.STEER}, 0))
    assert driver.view.status["lacks"] == ["steer"]
    driver.run("first")
    driver.send("second")
    assert driver.told(TellSteer) == []
    assert driver.chat.queue == [QueuedPrompt(QueueKind.CORRECTION, "second")]
    [told] = [op for op in driver.view.other if isinstance(op, Notify)]
    assert told.text == "this server cannot be steered: your prompt is queued"
    driver.send("third", queue=True)
    driver.send("/command")
    assert len([op for op in driver.view.other if isinstance(op, Notify)]) == 1
    driver.hear(ENDED)
    assert [prompt.text for prompt in driver.told(Prompt)] == ["first", "second"]
