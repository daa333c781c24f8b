"""Answers each request with its parameters, and sends each notification back.

The method `fail` gets an error, `ask` a request in return, `silent` nothing at all.
"""

from frames import receive, send

while message := receive():
    match message:
        case {"method": "silent"}:
            pass
        case {"method": "fail", "id": message_id}:
            send({"id": message_id, "error": {"code": "chat_not_found", "message": "no chat"}})
        case {"method": "ask", "id": message_id}:
            send({"id": "q1", "method": "editor/getDiagnostics", "params": {}})
            send({"id": message_id, "result": None})
        case {"method": _, "id": message_id}:
            send({"id": message_id, "result": message.get("params")})
        case {"method": method}:
            send({"method": method, "params": message.get("params")})
        case {"id": "q1"}:
            send({"method": "answered", "params": message})
