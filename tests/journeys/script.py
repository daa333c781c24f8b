"""The script of the model, as it stands in a prompt, and the answers that it leads to.

The last line of a prompt that begins with `SCRIPT` holds the answers, one a call of the model, as a
JSON list of steps in base 64, so that the prompt does not contain what the model will say:

    {"say": TEXT}                a text, in pieces
    {"think": TEXT}              a thought, before what else the step has
    {"run": COMMAND}             a shell command, out of the sandbox if the agent has one
    {"run_boxed": COMMAND}       a shell command, in the sandbox if the agent has one
    {"read": PATH}               a file, which some agents want before they change it
    {"write": [PATH, TEXT]}      a new file
    {"edit": [PATH, OLD, NEW]}   a change of a file
    {"diagnose": PATH}           what the editor's MCP server knows of a file
    {"slowly": COUNT}            COUNT lines, 20 a second
    {"recall": WORD}             "I remember WORD" if an earlier message has it, else that not
    {"fail": STATUS}             an HTTP error

A step asks for the first tool of `tools.py` that the agent offers. After the last step the model
says "done".
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.journeys.tools import TOOLS

Table: TypeAlias = Mapping[str, Any]

MARK = "SCRIPT "
END = " ."
"""Some agents put the next part of the prompt right behind it."""
PIECE = 12
"""Characters of a piece of text."""


@dataclass(frozen=True)
class Tool:
    """A tool that an agent offers to the model; kind is what `/responses` calls its type."""

    properties: Table = field(default_factory=dict)
    kind: str = "function"


@dataclass(frozen=True)
class Message:
    """A message of a conversation: results counts the results of tools in it."""

    text: str
    is_users: bool = False
    results: int = 0


def scripted(*steps: Table) -> str:
    """Return the line that makes the model follow these steps."""
    return f"{MARK}{b64encode(json.dumps(steps).encode()).decode()}{END}"


def steps_in(text: str) -> Sequence[Table] | None:
    """Return the steps that a text asks for."""
    for line in reversed(text.splitlines()):
        _, found, script = line.partition(MARK)
        if found:
            steps: Sequence[Table] = json.loads(b64decode(script.split()[0]))
            return steps
    return None


def text_of(content: object) -> str:
    """Return the text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(it["text"]) for it in parts if isinstance(it, dict) and it.get("text"))


class Answer:
    """What the model answers to one call."""

    def __init__(self, step: Table, offered: Mapping[str, Tool]) -> None:
        self.status: int = step.get("fail", 200)
        self.thought: str = step.get("think", "")
        self.text: str = step.get("say", "")
        self.pause: float = 0.0
        self.call: tuple[str, Table] | None = None
        if "slowly" in step:
            self.text = "".join(f"line {number}\n" for number in range(1, step["slowly"] + 1))
            self.pause = 0.05
        for kind in TOOLS.keys() & step.keys():
            wanted = step[kind] if isinstance(step[kind], list) else [step[kind]]
            self._choose(kind, wanted, offered)

    def _choose(self, kind: str, wanted: list[str], offered: Mapping[str, Tool]) -> None:
        name = next((name for name in TOOLS[kind] if name in offered), None)
        if name is None:
            self.text = f"no tool for it among {sorted(offered)}"
            return
        arguments, known = TOOLS[kind][name](*wanted), offered[name].properties
        fitting = {key: value for key, value in arguments.items() if key in known}
        self.call = name, fitting or arguments

    @property
    def pieces(self) -> Iterator[str]:
        """The text in pieces, each a line or a few characters."""
        if self.pause:
            yield from self.text.splitlines(keepends=True)
        else:
            yield from (self.text[at : at + PIECE] for at in range(0, len(self.text), PIECE))


def answer_to(messages: Sequence[Message], offered: Mapping[str, Tool]) -> Answer:
    """Choose the answer: the step after those whose tools have a result since the script came.

    A call that offers no tools asks for something beside the conversation, such as a title.
    """
    steps: Sequence[Table] | None = None
    done = 0
    for message in messages:
        if message.is_users and (found := steps_in(message.text)):
            steps, done = found, 0
        else:
            done += message.results
    if steps is None or not offered:
        return Answer({"say": "a title"}, offered)
    step = steps[done] if done < len(steps) else {"say": "done"}
    if "recall" in step:
        knows = any(step["recall"] in it.text for it in messages)
        step = {"say": f"I {'remember' if knows else 'do not know'} {step['recall']}"}
    return Answer(step, offered)
