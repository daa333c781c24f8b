"""The scenes of the demo agent work in any order, repeatedly, and after files are gone."""

import random
import re
from pathlib import Path

import pytest
from tests.demo.client import (
    WITHOUT_PAUSES,
    Client,
    Message,
    assistant_text,
    is_finished,
    method_of,
    params_of,
)
from tests.demo.test_demo import leave

from eca_nvim.demo.scenes import GREETING
from eca_nvim.jsonrpc import Request

OFFERED = [
    prompt for line in re.findall(r"(?m)^- (.*?):", GREETING) for prompt in line.split("` or `")
]
PROMPTS = [prompt.strip("`") for prompt in OFFERED]
SHORT = {"stream 100000": "stream 500"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "eca-demo-order"
    folder.mkdir()
    return folder


@pytest.fixture
def client(folder: Path) -> Client:
    return Client(folder.parent, WITHOUT_PAUSES, ECA_DEMO_FOLDER=str(folder))


def answer_to(client: Client, prompt: str) -> str:
    """Play a scene, answer all questions, and return what the agent said."""
    client.prompt(SHORT.get(prompt, prompt), trust=True)
    text = ""
    while True:
        seen = client.until(lambda it: is_main_end(it) or isinstance(it, Request))
        text += assistant_text(seen)
        question = seen[-1]
        if not isinstance(question, Request):
            return text
        is_ask = method_of(question) == "chat/askQuestion"
        client.answer(question, {"answer": "Lua"} if is_ask else {"diagnostics": []})


def is_main_end(message: Message) -> bool:
    return is_finished(message) and "parentChatId" not in params_of(message)


def test_the_list_is_what_the_greeting_shows() -> None:
    assert len(PROMPTS) == 13
    assert {"refactor", "plan", "fail", "crash"} < set(PROMPTS)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_every_scene_ends_in_words_in_any_order_twice(client: Client, seed: int | None) -> None:
    prompts = [prompt for prompt in PROMPTS if prompt != "crash"]
    for _ in range(2):
        if seed is not None:
            random.Random(seed).shuffle(prompts)
        for prompt in prompts:
            said = answer_to(client, prompt)
            assert "That did not work" not in said, prompt
            assert said or prompt == "fail"
    leave(client)


@pytest.mark.parametrize("names", [("greet.py",), ("README.md",), ("greet.py", "README.md")])
def test_a_file_that_is_gone_is_the_fault_of_a_tool(
    client: Client, folder: Path, names: tuple[str, ...]
) -> None:
    answer_to(client, "hello")
    for name in names:
        (folder / name).unlink()
    said = {prompt: answer_to(client, prompt) for prompt in PROMPTS if prompt != "crash"}
    assert any("No such file" in text for text in said.values())
    leave(client)


def test_replace_swaps_the_words_wherever_they_are(client: Client, folder: Path) -> None:
    answer_to(client, "refactor")
    answer_to(client, "replace a word")
    assert '"Welcome, "' in (folder / "greeting.py").read_text()
    answer_to(client, "replace a word")
    assert '"Hello, "' in (folder / "greeting.py").read_text()
    answer_to(client, "fix the greeting")
    assert "name.lower()" not in (folder / "greeting.py").read_text()
    leave(client)
