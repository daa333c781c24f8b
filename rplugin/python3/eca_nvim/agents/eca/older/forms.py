"""Forms: JSON of older servers, brought into today's form before it is decoded.

The hot path decodes today's form directly; a message comes here if that fails, or if its method is
one of `ALWAYS`: it would fit with older names, but be empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from eca_nvim.protocol.base.codec import decode_as, decode_result, plain
from eca_nvim.protocol.eca import (
    Request,
    Unknown,
    chat,
    chats,
    content,
    contexts,
)
from eca_nvim.protocol.eca.messages import SERVER_NOTIFICATIONS, ServerNotification

Json = dict[str, Any]
ResultT = TypeVar("ResultT")

_AGENTS: Final = {
    "agents": "behaviors",
    "selectAgent": "selectBehavior",
    "defaultAgent": "defaultBehavior",
}
_STATUSES: Final = {"success": "prompting", "connection-error": "error"}


def read_notification(method: str, params: object) -> ServerNotification | Unknown:
    """Read a server's notification in any form: hot path. Raises DecodeError."""
    if method in ALWAYS:
        params = _todays(method, plain(params, method))
    return cast(
        ServerNotification | Unknown,
        decode_as(SERVER_NOTIFICATIONS.get(method), params, method, _todays),
    )


def read_result(request: type[Request[ResultT]], result: object) -> ResultT:
    """Read the response to a request in any form. Raises DecodeError."""
    method = request.method
    if method in ALWAYS:
        result = _todays(method, plain(result, method))
    return decode_result(request, result, _todays)


def _todays(method: str, value: object) -> object:
    form = _FORMS.get(method)
    return form(value) if form is not None and isinstance(value, dict) else value


def _config(params: Json) -> Json:
    """Call behaviors agents. `ofBehaviors`: the server knows only that name."""
    config = params.get("chat")
    if not isinstance(config, dict):
        return params
    older = not config.keys().isdisjoint(_AGENTS.values())
    newer = not config.keys().isdisjoint(_AGENTS)
    if not older:
        return params
    renamed = {
        new: config.pop(old)
        for new, old in _AGENTS.items()
        if old in config and config.get(new) is None
    }
    return {**params, "chat": {**config, **renamed, "ofBehaviors": not newer}}


def _prompt(result: Json) -> Json:
    status = result.get("status")
    return {**result, "status": _STATUSES.get(str(status), status)}


def _commands(result: Json) -> Json:
    """Spell the kind of a command in camel case."""
    commands = result.get("commands")
    if not isinstance(commands, list):
        return result
    for command in commands:  # just decoded, so it is ours
        if isinstance(command, dict) and command.get("type") == "mcp-prompt":
            command["type"] = "mcpPrompt"
    return result


def _content(params: Json) -> Json:
    """Name arguments without names by their index, and make outputs a list of texts."""
    found = params.get("content")
    if not isinstance(found, dict) or not str(found.get("type")).startswith("toolCall"):
        return params
    call = {**found}
    arguments = call.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        values = arguments if isinstance(arguments, list) else [arguments]
        call["arguments"] = {str(index): value for index, value in enumerate(values)}
    outputs = call.get("outputs")
    if isinstance(outputs, str):
        call["outputs"] = [{"type": "text", "text": outputs}]
    elif isinstance(outputs, list):
        call["outputs"] = [_output(it) if isinstance(it, dict) else it for it in outputs]
        failed = [it["error"] for it in outputs if isinstance(it, dict) and "error" in it]
        if failed and call.get("error") is None:
            call["error"] = any(failed)
    return {**params, "content": call}


def _output(output: Json) -> Json:
    text = output.get("text", output.get("content"))
    return {**output, "text": "" if text is None else text}


def _history(result: Json) -> Json:
    pieces = result.get("contents")
    if not isinstance(pieces, list):
        return result
    return {**result, "contents": [_content(it) if isinstance(it, dict) else it for it in pieces]}


_FORMS: Final[Mapping[str, Callable[[Json], Json]]] = {
    chat.ConfigUpdated.method: _config,
    chat.PromptParams.method: _prompt,
    contexts.QueryCommandsParams.method: _commands,
    content.ContentReceived.method: _content,
    chats.ChatHistoryParams.method: _history,
}
ALWAYS: Final = frozenset(_FORMS) - {content.ContentReceived.method, chats.ChatHistoryParams.method}
