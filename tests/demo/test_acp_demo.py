"""The demo agent by the Agent Client Protocol; the official SDK's models check what it sends."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from eca_nvim.server.find import ACP_DEMO, DEMO_FOLDER, ServerOptions, find_server

Value: TypeAlias = Any


def check(name: str, message: Value) -> None:
    """Fail if a message is not valid by a model of the official SDK."""
    from acp import schema

    getattr(schema, name).model_validate(message)


class Client:
    """A client that answers every request for permission, and every form, in one way."""

    def __init__(self, folder: Path) -> None:
        options = ServerOptions(environment={DEMO_FOLDER: str(folder)})
        found = find_server(ACP_DEMO, {ACP_DEMO: options})
        assert found.protocol == "acp"
        self._process = subprocess.Popen(
            found.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(found.environment),
            text=True,
        )
        self._last_id = 0
        self.choice = "once"
        self.answer: Value = {"action": "decline"}
        self.asked: list[Value] = []
        self.updates: list[Value] = []
        self.request("initialize", protocolVersion=1)
        made = self.request("session/new", cwd=str(folder), mcpServers=[])["result"]
        check("NewSessionResponse", made)
        self.options = made["configOptions"]
        self.session = made["sessionId"]

    def send(self, **message: Value) -> None:
        """Send a message."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self._process.stdin.flush()

    def request(self, method: str, **params: Value) -> Value:
        """Send a request, handle what comes before its answer, and return that."""
        self._last_id += 1
        self.send(id=self._last_id, method=method, params=params)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._last_id and "method" not in message:
                return message
            self._handle(message)
        return None

    def _handle(self, message: Value) -> None:
        params = message["params"]
        if message["method"] == "session/update":
            check("SessionNotification", params)
            self.updates.append(params["update"])
            return
        self.asked.append(params)
        if message["method"] == "elicitation/create":
            check("ElicitationFormMode", params)
            self.send(id=message["id"], result=self.answer)
            return
        check("RequestPermissionRequest", params)
        if self.choice == "cancel":
            self.send(method="session/cancel", params={"sessionId": self.session})
            outcome: Mapping[str, str] = {"outcome": "cancelled"}
        else:
            outcome = {"outcome": "selected", "optionId": self.choice}
        self.send(id=message["id"], result={"outcome": outcome})

    def prompt(self, text: str) -> Value:
        """Send a prompt, and return the answer to it."""
        self.updates.clear()
        self.asked.clear()
        blocks = [{"type": "text", "text": text}]
        return self.request("session/prompt", sessionId=self.session, prompt=blocks)

    def choose(self, option: str, value: Value) -> Value:
        """Set an option, and return the answer."""
        return self.request(
            "session/set_config_option", sessionId=self.session, configId=option, value=value
        )

    def kinds(self) -> set[str]:
        """Return the kinds of the updates since the last prompt."""
        return {it["sessionUpdate"] for it in self.updates}

    @property
    def text(self) -> str:
        """The answer to the last prompt."""
        chunks = (it for it in self.updates if it["sessionUpdate"] == "agent_message_chunk")
        return "".join(it["content"]["text"] for it in chunks)

    def close(self) -> tuple[int, str]:
        """Disconnect, and return the exit code and what it said on standard error."""
        errors = self._process.communicate()[1]
        return self._process.returncode, errors


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    started = Client(tmp_path / "eca-demo-test")
    yield started
    started.close()


DONE = {"stopReason": "end_turn"}


def test_a_call_asks_with_four_choices_and_always_is_kept(client: Client) -> None:
    client.choice = "always-tool"
    assert client.prompt("fix the greeting")["result"] == DONE
    [asked] = client.asked
    kinds = [it["kind"] for it in asked["options"]]
    assert kinds == ["allow_once", "allow_always", "allow_always", "reject_once"]
    [diff] = asked["toolCall"]["content"]
    assert (diff["oldText"], diff["newText"]) == ("name.lower()", "name")
    assert {
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "usage_update",
    } <= client.kinds()
    assert client.prompt("refactor")["result"] == DONE
    tools = [it["toolCall"]["title"].split()[0] for it in client.asked]
    assert tools == ["Creating", "Moving"]  # edits are allowed


def test_a_no_goes_on_and_a_cancel_ends_the_turn(client: Client) -> None:
    client.choice = "no"
    assert client.prompt("run it")["result"] == DONE
    assert client.text.endswith("then I leave it.")
    client.choice = "cancel"
    assert client.prompt("run it")["result"] == {"stopReason": "cancelled"}
    client.choice = "once"
    assert client.prompt("delegate")["result"] == DONE
    assert "Hello, reader!" in client.text
    assert client.prompt("diagnostics")["result"] == DONE


def test_a_question_is_a_form(client: Client) -> None:
    assert client.prompt("ask me something")["result"] == DONE
    assert client.text == "Never mind, then."
    client.answer = {"action": "accept", "content": {"part": "Lua", "note": "it is small"}}
    assert client.prompt("ask me something")["result"] == DONE
    assert client.text == "**Lua (it is small)**: a fine choice."


def test_plans_and_errors_of_the_model(client: Client) -> None:
    assert client.prompt("plan")["result"] == DONE
    states = [
        [it["status"] for it in plan["entries"]] for plan in client.updates if "entries" in plan
    ]
    assert states[0] == ["pending"] * 3
    assert states[-1] == ["completed"] * 3
    assert "invalid api key" in client.prompt("fail")["error"]["message"]
    assert client.prompt("crash") is None
    assert client.close() == (3, "demo agent: RuntimeError('crashing on request')\n")


def test_the_text_of_a_context_chooses_no_scene(client: Client) -> None:
    terminal = {"type": "text", "text": "make: FAILED, crash"}
    typed = {"type": "text", "text": "hello"}
    asked = {"sessionId": client.session, "prompt": [typed, terminal]}
    assert client.request("session/prompt", **asked)["result"] == DONE
    assert "I am the **demo agent**" in client.text


def test_options_depend_on_each_other_and_refuse_what_they_do_not_offer(client: Client) -> None:
    assert [it["category"] for it in client.options[:3]] == ["mode", "model", "thought_level"]
    assert client.choose("effort", "high")["result"]["configOptions"][2]["currentValue"] == "high"
    effort = client.choose("model", "demo/echo")["result"]["configOptions"][2]
    assert (effort["currentValue"], len(effort["options"])) == ("low", 1)
    assert "not on offer" in client.choose("effort", "high")["error"]["message"]
    client.choose("mode", "bypassPermissions")
    client.choose("thoughts", False)
    assert client.prompt("fix the greeting")["result"] == DONE
    assert client.asked == []
    assert "agent_thought_chunk" not in client.kinds()
    client.choose("mode", "ask")
    client.choice = "no"
    client.prompt("run it")
    assert len(client.asked) == 1


def test_the_demo_needs_nothing_but_python(tmp_path: Path) -> None:
    found = find_server(ACP_DEMO, {ACP_DEMO: ServerOptions(environment={"PATH": str(tmp_path)})})
    assert found.command[0] == sys.executable
