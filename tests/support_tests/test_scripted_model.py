"""The model that real agents are given: which step it answers with, and with which tool."""

import json
from collections.abc import Mapping
from typing import Any

from tests.journeys import anthropic, google, openai
from tests.journeys.script import Answer, Message, Tool, answer_to, scripted

TOOLS = {"run_shell_command": Tool(), "exec_command": Tool(kind="custom")}
PROMPT = Message("go\n" + scripted({"run": "ls"}), is_users=True)
RESULT = Message("out", results=1)
SAID = "a text of some length"


def test_a_step_is_answered_once() -> None:
    first = answer_to([PROMPT], TOOLS)
    assert first.call is not None
    assert first.call[0] == "run_shell_command"
    assert first.call[1]["command"] == "ls"
    after = answer_to([PROMPT, Message(""), RESULT], TOOLS)
    assert (after.call, after.text) == (None, "done")
    again = answer_to([PROMPT, RESULT, PROMPT], TOOLS)
    assert again.call is not None


def test_what_it_cannot_do_is_said() -> None:
    assert "no tool for it" in answer_to([PROMPT], {"other": Tool()}).text
    assert answer_to([PROMPT], {}).text == "a title"
    assert answer_to([Message("hello", is_users=True)], TOOLS).text == "a title"


def test_a_tool_gets_the_arguments_that_it_has() -> None:
    answer = Answer({"write": ["/a", "text"]}, {"write": Tool({"filePath": {}, "content": {}})})
    assert answer.call == ("write", {"filePath": "/a", "content": "text"})


def test_every_protocol_carries_text_and_calls() -> None:
    answer = Answer({"say": SAID, "run": "ls"}, TOOLS)
    spoken = [it["choices"][0]["delta"] for it in openai.chunks(answer) if not isinstance(it, str)]
    assert "".join(it.get("content", "") for it in spoken) == SAID
    assert [it["tool_calls"][0]["function"]["name"] for it in spoken if "tool_calls" in it] == [
        "run_shell_command"
    ]
    whole = [it for it in openai.events(answer, TOOLS) if not isinstance(it, str)][-1]
    assert [it["type"] for it in whole["response"]["output"]] == ["message", "function_call"]

    deltas = [it["delta"] for it in anthropic.events(answer) if it["type"].endswith("block_delta")]
    assert "".join(it.get("text", "") for it in deltas) == SAID
    assert [json.loads(it["partial_json"])["command"] for it in deltas if "partial_json" in it] == [
        "ls"
    ]

    parts = [it["candidates"][0]["content"]["parts"][0] for it in google.chunks(answer)]
    assert "".join(it.get("text", "") for it in parts) == SAID
    assert [it["functionCall"]["args"]["command"] for it in parts if "functionCall" in it] == ["ls"]


def test_every_protocol_tells_the_results_of_tools() -> None:
    said, called = openai.messages_of(
        {"messages": [{"role": "user", "content": SAID}, {"role": "tool", "content": "out"}]}
    )
    assert (said.text, said.is_users, said.results, called.results) == (SAID, True, 0, 1)
    parts: list[Mapping[str, Any]] = [{"type": "tool_result"}, {"type": "text", "text": SAID}]
    [message] = anthropic.messages_of({"messages": [{"role": "user", "content": parts}]})
    assert (message.text, message.results) == (SAID, 1)
    [message] = google.messages_of({"contents": [{"parts": [{"functionResponse": {}}]}]})
    assert (message.text, message.results) == ("", 1)
    body = {"input": [{"type": "function_call_output", "output": "out"}]}
    assert openai.messages_of(body)[0].results == 1
