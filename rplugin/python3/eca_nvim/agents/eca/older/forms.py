"""Forms of older servers: their JSON is read as today's, and prompts are written in theirs."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from eca_nvim.agents.eca.older.dialect import Dialect, Generation, Lack
from eca_nvim.agents.eca.prompts import SelectedPrompt, wire_contexts, with_recap
from eca_nvim.chat.vocabulary import contexts as ours
from eca_nvim.protocol.base.codec import decode_as, decode_result, plain
from eca_nvim.protocol.eca import (
    SERVER_NOTIFICATIONS,
    Request,
    ServerNotification,
    Unknown,
    chat,
    chats,
    content,
    contexts,
    draft,
)
from eca_nvim.protocol.eca.contexts import McpResourceContext, RepoMapContext
from eca_nvim.protocol.eca.editor import Position
from eca_nvim.protocol.eca.tool_call import ToolCall

Json = dict[str, Any]
Message: TypeAlias = ServerNotification | Unknown
ResultT = TypeVar("ResultT")

_AGENTS: Final = {
    "agents": "behaviors",
    "selectAgent": "selectBehavior",
    "defaultAgent": "defaultBehavior",
}

_PREFIX: Final = "eca_"


def read_notification(method: str, params: object = None) -> Message:
    """Read a server's notification in any form: hot path. Raises DecodeError."""
    if method in ALWAYS:
        params = _todays(method, plain(params, method))
    return cast(
        Message,
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
    config = {**config}
    renamed = {
        new: config.pop(old)
        for new, old in _AGENTS.items()
        if old in config and config.get(new) is None
    }
    return {**params, "chat": {**config, **renamed, "ofBehaviors": not newer}}


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


def with_plain_name(received: content.ContentReceived, call: ToolCall) -> content.ContentReceived:
    """Name a tool of the server's own without the prefix that they had."""
    if call.origin != "native" or not (call.name or "").startswith(_PREFIX):
        return received
    plain_name = (call.name or "").removeprefix(_PREFIX) or call.name
    return replace(received, content=replace(call, name=plain_name))


_FORMS: Final[Mapping[str, Callable[[Json], Json]]] = {
    chat.ConfigUpdated.method: _config,
    contexts.QueryCommandsParams.method: _commands,
    content.ContentReceived.method: _content,
    chats.ChatHistoryParams.method: _history,
}
# Brought into form first: with older names they would fit, but be empty. Others if they do not fit.
ALWAYS: Final = frozenset(_FORMS) - {content.ContentReceived.method, chats.ChatHistoryParams.method}


# --- prompts ------------------------------------------------------------------------------------

Resources = Mapping[str, McpResourceContext]
"""What a server has said of its resources, by their addresses."""

_NOT_EVERYWHERE: Final[Mapping[type, Lack]] = {
    ours.TextContext: Lack.TEXTS,
    ours.DirectoryContext: Lack.FOLDERS,
    ours.ResourceContext: Lack.RESOURCES,
}


def needs(prompt: SelectedPrompt, resources: Resources) -> Iterator[Lack]:
    """Yield what a prompt's contexts need that some servers lack."""
    for context in prompt.contexts:
        is_listed = isinstance(context, ours.ResourceContext) and context.uri in resources
        if not is_listed and (lack := _NOT_EVERYWHERE.get(type(context))):
            yield lack


def older_prompt(
    prompt: SelectedPrompt, theirs: str | None, dialect: Dialect, resources: Resources
) -> chat.PromptParams:
    """Build chat/prompt; `theirs` is the server's id of the chat, None to begin one.

    They read contexts with every prompt, so none is left out because an earlier prompt had it. A
    server that has shown nothing yet gets each form; it ignores the one that it does not know.
    """
    chosen, generation = prompt.selection, dialect.generation
    others = ours.TextContext | ours.ResourceContext
    taken = [it for it in prompt.contexts if not isinstance(it, others)]
    named = [it.uri for it in prompt.contexts if isinstance(it, ours.ResourceContext)]
    today = (
        *wire_contexts(taken),
        # They want all that they have said of a resource: one they have not listed is left out.
        *(resources[uri] for uri in named if uri in resources),
        # Those before tool servers make a map of the project for each prompt that asks for it.
        *((RepoMapContext(),) if dialect.wants_repo_map else ()),
    )
    drafted = [it for it in map(draft_context, prompt.contexts) if it is not None]
    return chat.PromptParams(
        chat_id=theirs,
        message=with_recap(prompt, prompt.text) if prompt.recap else prompt.text,
        model=chosen.model or None,
        agent=None if dialect.lacks(Lack.AGENT) else chosen.agent or None,
        variant=chosen.variant or None,
        contexts=today if generation is not Generation.DRAFT else (),
        context=tuple(drafted) if generation <= Generation.DRAFT else (),
        trust=False,  # it may be one of today's that is slow to show itself, and assume trust
    )


def draft_context(context: ours.Context) -> draft.DraftContext | None:
    """Turn a context into the first draft's; None for one that the draft does not have."""
    match context:
        case ours.FileContext(path, int(first), int(last), _):
            span = draft.LineSpan(start_line=first, end_line=last)
            return draft.DraftFile(path=path, selection=span)
        case ours.FileContext(path=path) | ours.ImageContext(path=path):
            return draft.DraftFile(path=path)
        case ours.CursorContext(path, start, end):
            span = draft.LineSpan(start_line=start.line, end_line=end.line)
            cursor = Position(line=start.line, character=start.column)
            selection = None if start == end else span
            return draft.DraftFile(path=path, selection=selection, cursor=cursor)
        case ours.WebContext(url=url):
            return draft.DraftWeb(url=url)
        case ours.TextContext(label=label, content=content):
            return draft.DraftCode(content=content, language="text", description=label)
        case _:
            return None
