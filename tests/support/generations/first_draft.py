"""A server of the protocol's first draft.

It knows initialize, initialized, shutdown, exit and chat/prompt, and sends chat/contentReceived:
text, and proposed changes that the client makes. It cannot be stopped and sends no requests.
"""

from typing import Any, TextIO, TypeAlias

from tests.support.generations.peer import Misused, Server, allow, need, run

Value: TypeAlias = Any

CONTEXTS: dict[str, dict[str, type]] = {
    "file": {"path": str},
    "web": {"url": str},
    "code": {"content": str, "language": str},
}
RENAME = {
    "kind": "change",
    "content": "def plus(a, b):\n    return a + b\n",
    "range": {"startLine": 1, "endLine": 2},
}
NEW_FILE = {"kind": "create", "content": "one\ntwo\n"}
SECRET = {"kind": "create", "content": "x\n"}


class FirstDraft(Server):
    """Answers prompts by their first word; with `early` it sends content before the answer."""

    def __init__(self, journal: TextIO, words: list[str]) -> None:
        super().__init__(journal, words)
        self._early = "early" in words
        self._chats: list[str] = []
        self.requests |= {"initialize": self._initialize, "chat/prompt": self._prompt}
        self.notifications |= {"initialized": lambda _: None}

    def _initialize(self, params: Value) -> None:
        need(params, processId=(int, type(None)), capabilities=dict, workspaceFolders=list)
        allow(params, clientInfo=dict)
        self.folder = params["workspaceFolders"][0]["uri"].removeprefix("file://")
        self.answer(self.answering, {})

    def _prompt(self, params: Value) -> None:
        self.require_initialized()
        need(params, message=str)
        allow(params, model=str, context=list)
        contexts = params.get("context", [])
        for context in contexts:
            need(context, type=str)
            if context["type"] not in CONTEXTS:
                raise Misused(f"{context['type']} is no context")
            need(context, **CONTEXTS[context["type"]])
        request, chat = self.answering, self._chat(params)
        word, _, rest = params["message"].partition(" ")
        if word in self.rows:
            self.play(chat, params, request, self.rows[word])
            return
        if word == "fail":
            self._answer(request, chat, "connection-error", "No route to gpt-4")
            return
        if self._early:
            self._text(chat, "Early. ")
        self._answer(request, chat, "success", "Prompt sent")
        self._act(chat, word, rest, params)

    def _chat(self, params: Value) -> str:
        chat = params.get("chatId")
        if chat is None:
            chat = f"draft-{len(self._chats) + 1}"
            self._chats.append(chat)
        if chat not in self._chats:
            raise Misused(f"chat {chat!r} was never made")
        return str(chat)

    def _answer(self, request: Value, chat: str, status: str, words: str) -> None:
        self.answer(request, {"chatId": chat, "status": status, "resultMessage": words})

    def _act(self, chat: str, word: str, rest: str, params: Value) -> None:
        match word:
            case "edit":
                self._text(chat, "I will rename it.")
                self._propose(chat, "src/calc.py", RENAME, asks=True)
                self._text(chat, "Proposed.", last=True)
            case "write":
                self._propose(chat, "new/notes.txt", NEW_FILE, asks=False, last=True)
            case "delete":
                self._propose(chat, "src/calc.py", {"kind": "delete"}, asks=True, last=True)
            case "outside":
                self._propose(chat, rest, SECRET, asks=False, last=True)
            case "ask":
                told = {it: params.get(it) for it in ("model", "context")}
                self._text(chat, f"You sent {told}.", last=True)
            case "two":
                self._propose(chat, "src/calc.py", RENAME, asks=True)
                self._propose(chat, "two.txt", NEW_FILE, asks=True, last=True)
            case _:
                for piece in ("One, ", "two, ", "thr"):
                    self._text(chat, piece)
                self._text(chat, "ee.\n", last=True)

    def _text(self, chat: str, text: str, *, last: bool = False) -> None:
        self._content(chat, {"type": "text", "text": text}, last=last)

    def _propose(
        self, chat: str, file: str, change: Value, *, asks: bool, last: bool = False
    ) -> None:
        proposal = {"type": "fileChange", "description": f"Change {file}", "manualApproval": asks}
        self._content(chat, {**proposal, "file": file, "changes": [change]}, last=last)

    def _content(self, chat: str, content: Value, *, last: bool) -> None:
        params = {"chatId": chat, "content": content, "isComplete": last}
        if last:
            params["metadata"] = {"tokensUsed": 120}
        self.notify("chat/contentReceived", params)


def main() -> None:
    """Serve over standard input and output."""
    run(FirstDraft)
