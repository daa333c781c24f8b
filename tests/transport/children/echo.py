"""Answers each request with its parameters, and sends each notification back.

Some methods do otherwise, see the match. `seen` answers with the methods so far, in order.
"""

import sys

from tests.transport.children.frames import frame, receive, send

seen: list[str] = []
while message := receive():
    seen.append(message.get("method", "answer"))
    match message:
        case {"method": "silent"}:
            pass
        case {"method": "fail", "id": message_id}:
            send({"id": message_id, "error": {"code": "chat_not_found", "message": "no chat"}})
        case {"method": "ask", "id": message_id}:
            send({"id": "q1", "method": "editor/getDiagnostics", "params": {}})
            send({"id": message_id, "result": None})
        case {"method": "burst", "id": message_id, "params": count}:
            news = b"".join(frame({"method": f"n{number}"}) for number in range(count))
            sys.stdout.buffer.write(news + frame({"id": message_id, "result": None}))
            sys.stdout.buffer.flush()
        case {"method": "seen", "id": message_id}:
            send({"id": message_id, "result": seen})
        case {"method": "$/cancelRequest", "params": {"id": cancelled}}:
            send({"id": cancelled, "error": {"code": -32800, "message": "cancelled"}})
        case {"method": _, "id": message_id}:
            send({"id": message_id, "result": message.get("params")})
        case {"method": method}:
            send({"method": method, "params": message.get("params")})
        case {"id": _}:
            send({"method": "answered", "params": message})
