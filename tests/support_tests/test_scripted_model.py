"""The model that real agents are given: which step it answers with, and with which tool."""

from tests.journeys.scripted_model import Answer, answer_to, chunks, events, scripted

TOOLS = {"run_shell_command": {}, "exec_command": {"type": "custom"}}
PROMPT = {"role": "user", "content": [{"type": "text", "text": "go\n" + scripted({"run": "ls"})}]}


def test_a_step_is_answered_once() -> None:
    first = answer_to([PROMPT], TOOLS)
    assert first.call is not None
    assert first.call[0] == "run_shell_command"
    assert first.call[1]["command"] == "ls"
    after = answer_to([PROMPT, {"role": "assistant"}, {"role": "tool", "content": "out"}], TOOLS)
    assert (after.call, after.text) == (None, "done")
    again = answer_to([PROMPT, {"type": "function_call_output"}, PROMPT], TOOLS)
    assert again.call is not None


def test_what_it_cannot_do_is_said() -> None:
    assert "no tool for it" in answer_to([PROMPT], {"other": {}}).text
    assert answer_to([PROMPT], {}).text == "a title"
    assert answer_to([{"role": "user", "content": "hello"}], TOOLS).text == "a title"


def test_both_protocols_carry_text_and_calls() -> None:
    answer = Answer({"say": "a text of some length", "run": "ls"}, TOOLS)
    spoken = [it["choices"][0]["delta"] for it in chunks(answer) if not isinstance(it, str)]
    assert "".join(it.get("content", "") for it in spoken) == "a text of some length"
    assert [it["tool_calls"][0]["function"]["name"] for it in spoken if "tool_calls" in it] == [
        "run_shell_command"
    ]
    whole = [it for it in events(answer, TOOLS) if not isinstance(it, str)][-1]
    assert [it["type"] for it in whole["response"]["output"]] == ["message", "function_call"]
