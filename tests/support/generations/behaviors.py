"""A server of the generation with behaviors: tool calls, and chat ids made by the server.

Words on its command line change it: `early-result` names models and behaviors in the answer to
initialize, as servers of that time did; `mute-stop` sends nothing when a turn is stopped;
`late-config` waits for `mcp/startServer` before it sends the choices, `late-words` before it
answers a prompt; `no-config` sends no choices; `crossed` starts the first two new chats in reverse
order.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, TextIO, TypeAlias

from tests.support.generations.peer import Misused, Server, allow, need, run

Value: TypeAlias = Any

MODELS = ["anthropic/claude-sonnet-4", "openai/gpt-5"]
CONTEXTS: dict[str, dict[str, type]] = {
    "file": {"path": str},
    "directory": {"path": str},
    "web": {"url": str},
    "repoMap": {},
    "cursor": {"path": str, "position": dict},
    "mcpResource": {"uri": str, "name": str, "description": str, "mimeType": str, "server": str},
}
RESOURCE = {
    "type": "mcpResource",
    "uri": "notes://todo",
    "name": "todo",
    "description": "What to do",
    "mimeType": "text/plain",
    "server": "notes",
}
PROMPT = {
    "name": "greet",
    "description": "Greets someone",
    "type": "mcp-prompt",
    "arguments": [{"name": "who", "description": "Who it is", "required": True}],
}
DIFF = "@@ -1,2 +1,2 @@\n-def add(a, b):\n+def plus(a, b):\n     return a + b\n"


class Behaviors(Server):
    """Answers prompts by their first word."""

    content_type = True
    model = MODELS[0]
    agents: ClassVar[Sequence[str]] = ("agent", "plan")
    agent_name: ClassVar[str] = "behavior"
    contexts: ClassVar[Mapping[str, Mapping[str, type]]] = CONTEXTS
    tool_server: ClassVar[Mapping[str, str]] = {}
    option: ClassVar[str] = "chatBehavior"
    saves: ClassVar[tuple[str, ...]] = ()

    def __init__(self, journal: TextIO, words: list[str]) -> None:
        super().__init__(journal, words)
        self.chats: list[str] = []
        self._numbers = count(1)
        self._waiting: dict[str, bool | None] = {}  # by tool call: approved, refused, not yet
        self._stopped: set[str] = set()
        self._started = False
        self.requests |= {
            "initialize": self._initialize,
            "chat/prompt": self._prompt,
            "chat/delete": self._delete,
            "chat/queryContext": self._query_context,
            "chat/queryCommands": self._query_commands,
        }
        self.notifications |= {
            "initialized": self._initialized,
            "chat/toolCallApprove": self.approve,
            "chat/toolCallReject": self._reject,
            "chat/promptStop": self._stop,
            "chat/selectedBehaviorChanged": self.selected,
            "mcp/startServer": self._start,
            "mcp/stopServer": lambda params: need(params, name=str),
        }

    # --- queries --------------------------------------------------------------------------------

    def _query_context(self, params: Value) -> None:
        need(params, query=str, contexts=list)
        allow(params, chatId=str)
        file = {"type": "file", "path": f"{self.folder}/src/calc.py"}
        directory = {"type": "directory", "path": f"{self.folder}/src"}
        self.answer(self.answering, {"contexts": [file, directory, RESOURCE]})

    def _query_commands(self, params: Value) -> None:
        need(params, query=str)
        allow(params, chatId=str)
        costs = {"name": "costs", "description": "What it cost", "type": "native", "arguments": []}
        self.answer(self.answering, {"commands": [costs, PROMPT]})

    # --- life -----------------------------------------------------------------------------------

    def _initialize(self, params: Value) -> None:
        need(params, processId=(int, type(None)), capabilities=dict, workspaceFolders=list)
        for folder in params["workspaceFolders"]:
            need(folder, uri=str, name=str)
        self._check_agent(params.get("initializationOptions", {}).get(self.option))
        assistant = params["capabilities"].get("codeAssistant", {})
        self._diagnostics = assistant.get("editor", {}).get("diagnostics", False)
        self._folder = params["workspaceFolders"][0]["uri"]
        self.folder = self._folder.removeprefix("file://")
        self.editor = params["processId"]
        self.answer(self.answering, self.introduction())

    def introduction(self) -> Value:
        """Return the answer to initialize."""
        if "early-result" not in self.words:
            return {}
        return {
            "models": MODELS,
            "chatDefaultModel": MODELS[0],
            "chatBehaviors": self.agents,
            "chatDefaultBehavior": "agent",
            "chatWelcomeMessage": "Welcome of old!",
            "future": {"deeply": ["unknown"]},
        }

    def config(self) -> Value:
        """Return the choices."""
        return {
            "behaviors": self.agents,
            "selectBehavior": "agent",
            "welcomeMessage": "Welcome of old!",
        }

    def _start(self, params: Value) -> None:
        need(params, name=str)
        self._started = True

    def _initialized(self, _params: Value) -> None:
        if "no-config" in self.words:
            return
        if "late-config" in self.words:
            self.wait(lambda: self._started)
        if "early-result" not in self.words:
            models = {"models": MODELS, "selectModel": MODELS[0]}
            self.notify("config/updated", {"chat": {**models, **self.config()}})
        tools = [{"name": "eca_edit_file", "description": "Edits.", "parameters": {}}]
        native = {"type": "native", "name": "ECA", "status": "running", "tools": tools}
        self.notify("tool/serverUpdated", native)

    def _check_agent(self, name: str | None) -> None:
        if name not in (None, *self.agents):
            raise Misused(f"{name} is no {self.agent_name}")

    # --- chats ----------------------------------------------------------------------------------

    def known(self, params: Value) -> str:
        need(params, chatId=str)
        if params["chatId"] not in self.chats:
            raise Misused(f"chat {params['chatId']!r} was never made")
        return str(params["chatId"])

    def chat_of(self, params: Value) -> str:
        if "chatId" in params:
            return self.known(params)
        self.chats.append(f"old-{next(self._numbers)}")
        return self.chats[-1]

    def _delete(self, params: Value) -> None:
        self.chats.remove(self.known(params))
        self.answer(self.answering, {})

    def selected(self, params: Value) -> None:
        need(params, **{self.agent_name: str})
        self._check_agent(params[self.agent_name])

    def _stop(self, params: Value) -> None:
        self._stopped.add(self.known(params))

    def _decide(self, params: Value, *, approved: bool) -> None:
        self.known(params)
        need(params, toolCallId=str)
        call = params["toolCallId"]
        if self._waiting.get(call, True) is not None:
            raise Misused(f"tool call {call!r} does not wait")
        self._waiting[call] = approved

    def approve(self, params: Value) -> None:
        if "save" in params and params["save"] not in self.saves:
            raise Misused(f"save is {params['save']!r}")
        self._decide(params, approved=True)

    def _reject(self, params: Value) -> None:
        self._decide(params, approved=False)

    # --- a turn ---------------------------------------------------------------------------------

    def _prompt(self, params: Value) -> None:
        self.require_initialized()
        need(params, message=str)
        allow(params, model=str, contexts=list)
        if params.get("model", MODELS[0]) not in MODELS:
            raise Misused(f"{params['model']} is no model")
        self._check_agent(params.get(self.agent_name))
        for context in params.get("contexts", []):
            need(context, type=str)
            if context["type"] not in self.contexts:
                raise Misused(f"{context['type']} is no context")
            need(context, **self.contexts[context["type"]])
        request, chat = self.answering, self.chat_of(params)
        self._stopped.discard(chat)
        if "late-words" in self.words:
            self.wait(lambda: self._started)
        if "crossed" in self.words:
            self.wait(lambda: len(self.chats) > 1)
        word = params["message"].split()[0]
        if word in self.rows:
            self.play(chat, params, request, self.rows[word])
            return
        self.begin(chat, params["message"])
        if word == "login":
            self._answer(request, chat, params, "login")
            return
        self._answer(request, chat, params, "prompting")
        self._act(chat, word, params)
        if word == "wait" and "mute-stop" in self.words:
            return
        self.finish(chat)

    def notify(self, method: str, params: Value) -> None:
        super().notify(method, params)
        content = params.get("content", {})
        if content.get("manualApproval"):
            self._waiting.setdefault(content["id"], None)

    def begin(self, chat: str, message: str) -> None:
        self._progress(chat, "running", "Waiting model")
        self.content(chat, {"type": "text", "text": f"{message}\n"}, "user")

    def finish(self, chat: str) -> None:
        usage = {"sessionTokens": 1234, "lastMessageCost": "0.01", "sessionCost": "0.02"}
        limit = {"context": 200_000, "output": 8_000}
        self.content(chat, {"type": "usage", **usage, "limit": limit}, "system")
        self._progress(chat, "finished", "")

    def _answer(self, request: Value, chat: str, params: Value, status: str) -> None:
        model = params.get("model", MODELS[0])
        self.answer(request, {"chatId": chat, "model": model, "status": status})

    def _act(self, chat: str, word: str, params: Value) -> None:
        match word:
            case "edit":
                self._think(chat)
                self._call(chat, f"call-{next(self._numbers)}")
            case "forbidden":
                call = {"origin": "native", "id": "call-0", "name": "eca_edit_file"}
                rejected = {**call, **self.tool_server, "arguments": {}, "reason": "user-config"}
                self.content(chat, {"type": "toolCallRejected", **rejected})
            case "wait":
                self._text(chat, "I wait. ")
                self.wait(lambda: chat in self._stopped)
            case "look":
                self._text(chat, f"I see {self._look()}.")
            case "ask":
                told = {it: params.get(it) for it in ("model", self.agent_name, "contexts")}
                self._text(chat, f"You sent {told}.")
            case _:
                for piece in ("One, ", "two, ", "thr", "ee.\n"):
                    self._text(chat, piece)

    def _think(self, chat: str) -> None:
        self.content(chat, {"type": "reasonStarted", "id": "r-1"})
        self.content(chat, {"type": "reasonText", "id": "r-1", "text": "A name."})
        self.content(chat, {"type": "reasonFinished", "id": "r-1", "totalTimeMs": 1500})

    def _look(self) -> Value:
        """Ask for diagnostics: of all files, of one, of something that is not a file."""
        if not self._diagnostics:
            raise Misused("the editor has no diagnostics")
        wanted: Sequence[Mapping[str, str]] = (
            {},
            {"uri": f"{self._folder}/src/calc.py"},
            {"uri": "untitled:1"},
        )
        answers = [self.ask("editor/getDiagnostics", params) for params in wanted]
        return [
            [it["range"] for it in answer["result"]["diagnostics"]]
            if "result" in answer
            else answer["error"]["code"]
            for answer in answers
        ]

    def _call(self, chat: str, call: str) -> None:
        """Edit a file if the user approves."""
        path = f"{self.folder}/src/calc.py"
        change = {"type": "fileChange", "path": path, "linesAdded": 1, "linesRemoved": 1}
        base: dict[str, Value] = {"origin": "native", "id": call, "name": "eca_edit_file"}
        base |= self.tool_server
        pieces = ('{"path": ', f'"{path}"}}')
        for piece in pieces:
            self.content(chat, {"type": "toolCallPrepare", **base, "argumentsText": piece})
        base |= {"details": {**change, "diff": DIFF}, "summary": "Editing file"}
        asked = {**base, "arguments": {"path": path}}
        asks = not self.is_remembered()
        self._waiting[call] = None if asks else True
        self.content(chat, {"type": "toolCallRun", **asked, "manualApproval": asks})
        self.wait(lambda: self._waiting[call] is not None or chat in self._stopped)
        if not self._waiting[call]:
            rejected = {"type": "toolCallRejected", **asked, "reason": "user-choice"}
            self.content(chat, rejected)
            self._text(chat, "As you wish.")
            return
        self.content(chat, {"type": "toolCallRunning", **asked})
        edited = Path(path).read_text(encoding="utf-8").replace("def add(", "def plus(")
        Path(path).write_text(edited, encoding="utf-8")
        outputs = [{"type": "text", "text": "Edited."}]
        called = {
            "arguments": self.result_arguments(path),
            "error": False,
            "outputs": outputs,
            "totalTimeMs": 40,
        }
        self.content(chat, {"type": "toolCalled", **base, **called})
        self._text(chat, "Renamed.")

    def result_arguments(self, path: str) -> Value:
        """Return a finished call's arguments, a list."""
        return [path]

    def is_remembered(self) -> bool:
        return False

    def _progress(self, chat: str, state: str, text: str) -> None:
        self.content(chat, {"type": "progress", "state": state, "text": text}, "system")

    def _text(self, chat: str, text: str) -> None:
        self.content(chat, {"type": "text", "text": text})

    def content(self, chat: str, content: Value, role: str = "assistant") -> None:
        """Send one chat/contentReceived."""
        params = {"chatId": chat, "role": role, "content": content}
        self.notify("chat/contentReceived", params)


def main() -> None:
    """Serve over standard input and output."""
    run(Behaviors)
