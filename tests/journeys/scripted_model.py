"""A model that follows a script: an HTTP server on loopback, as real agents call models.

`script.py` says what a script holds. It speaks four protocols: chat completions, responses,
messages, and contents that are generated; each path is looked for at the end of what is asked.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

from tests.journeys import anthropic, google, openai
from tests.journeys.script import Answer, Table, answer_to

Take: TypeAlias = Callable[[Table], None]


class Model(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing on standard error."""

    def do_HEAD(self) -> None:
        """Report that there is something."""
        self._whole(200, {})

    def do_GET(self) -> None:
        """List the models."""
        model = {"id": "scripted", "object": "model", "owned_by": "test"}
        self._whole(200, {"object": "list", "data": [model], "models": []})

    def do_POST(self) -> None:
        """Answer a call of the model."""
        body = json.loads(self._content())
        answers: Mapping[str, Take] = {
            "/chat/completions": self._completions,
            "/responses": self._responses,
            "/messages": self._messages,
            "/count_tokens": lambda _: self._whole(200, {"input_tokens": 100}),
            ":countTokens": lambda _: self._whole(200, {"totalTokens": 100}),
            ":generateContent": self._generate,
            ":streamGenerateContent": self._generate,
        }
        for path, answer in answers.items():
            if self.path.partition("?")[0].endswith(path):
                answer(body)
                return
        self._whole(404, {"error": {"message": f"no {self.path}"}})

    def _content(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            content = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            content = self.rfile.read(int(self.headers["content-length"]))
        is_packed = self.headers.get("content-encoding", "").lower() == "gzip"
        return gzip.decompress(content) if is_packed else content

    def _whole(self, status: int, body: Table) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.send_header("x-should-retry", "false")
        self.end_headers()
        self.wfile.write(content)

    def _fail(self, status: int) -> None:
        said = f"the scripted model failed with {status}"
        fault = {"message": said, "type": "invalid_request_error", "code": status}
        self._whole(status, {"type": "error", "error": fault | {"status": "INVALID_ARGUMENT"}})

    def _give(self, answer: Answer, events: Iterator[Table | str], whole: Table | None) -> None:
        """Give an answer: an error, a stream of events, or whole."""
        if answer.status != 200:
            self._fail(answer.status)
        elif whole is None:
            self._stream(events)
        else:
            self._whole(200, whole)

    def _stream(self, events: Iterator[Table | str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        with suppress(BrokenPipeError, ConnectionResetError):  # the turn was stopped
            self._write(events)

    def _write(self, events: Iterator[Table | str]) -> None:
        for event in events:
            kind = (
                f"event: {event['type']}\n"
                if isinstance(event, Mapping) and "type" in event
                else ""
            )
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{kind}data: {data}\n\n".encode())
            self.wfile.flush()

    def _completions(self, body: Table) -> None:
        answer = answer_to(openai.messages_of(body), openai.offered_by(body))
        whole = None if body.get("stream") else openai.whole(answer)
        self._give(answer, openai.chunks(answer), whole)

    def _responses(self, body: Table) -> None:
        offered = openai.offered_by(body)
        answer = answer_to(openai.messages_of(body), offered)
        self._give(answer, openai.events(answer, offered), None)

    def _messages(self, body: Table) -> None:
        answer = answer_to(anthropic.messages_of(body), anthropic.offered_by(body))
        whole = None if body.get("stream") else anthropic.whole(answer)
        self._give(answer, anthropic.events(answer), whole)

    def _generate(self, body: Table) -> None:
        answer = answer_to(google.messages_of(body), google.offered_by(body))
        form = google.form_of(body)
        is_whole = form is not None or ":stream" not in self.path
        whole = google.whole(form or answer.text) if is_whole else None
        self._give(answer, google.chunks(answer), whole)


def main() -> None:
    """Serve until ended; the first line on standard output is the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
