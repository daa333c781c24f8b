"""The view without a host: the test draws ops, and the intents of the view are recorded."""

from collections.abc import Mapping, Sequence

from tests.support.editor import Neovim
from tests.support.messages import kinds
from tests.support.screen import Value

from eca_nvim.chat.vocabulary.ops import ViewOp

WITHOUT_HOST = """
local host = { sent = {}, logged = {} }
function host.send(name, payload)
  table.insert(host.sent, { name, payload or vim.empty_dict() })
end
function host.ask(name, payload, callback)
  payload.request = require('eca.host.held_intents').expect(vim.schedule_wrap(callback))
  host.send(name, payload)
end
function host.ask_if_running(...)
  host.ask(...)
  return true
end
function host.send_if_running(name, payload)
  host.send(name, payload)
  return true
end
function host.folders()
  return { vim.fn.getcwd() }
end
local function nothing() end
local log = require('eca.host.log')
local write = log.write
function log.write(text, level)
  table.insert(host.logged, text)
  write(text, level)
end
package.loaded['eca.host'] = setmetatable(host, { __index = function() return nothing end })
require('eca.view')
"""
"""Lua code for the start: intents go into a list, and no process starts."""

CHAT = "c1"
BLOCK = 900
"""The default block of requests, which is not drawn."""


FIELDS = {kind.__struct_config__.tag: kind.__struct_fields__ for kind in kinds(ViewOp)}


def wired(op: Sequence[Value]) -> Mapping[str, Value]:
    """Return the form in a frame of an op that is written as its name and fields, in order."""
    name, *values = op
    fields = zip(FIELDS[name], values, strict=False)
    return {"op": name, **{field: value for field, value in fields if value is not None}}


def draw(nvim: Neovim, *ops: Sequence[Value]) -> None:
    """Draw ops in a frame, as the host does."""
    code = "local ops = ... vim.schedule(function() require('eca.view.frames').apply(1, ops) end)"
    nvim.lua(code, [wired(op) for op in ops])


def sent(nvim: Neovim, name: str) -> list[Mapping[str, Value]]:
    """Return the payloads of the intents with a name that the view has sent."""
    every: list[tuple[str, Mapping[str, Value]]] = nvim.lua("return require('eca.host').sent")
    return [payload for intent, payload in every if intent == name]


def wait_sent(nvim: Neovim, name: str, count: int = 1) -> list[Mapping[str, Value]]:
    """Wait until `count` intents with a name were sent, and return their payloads."""
    code = (
        f"#vim.tbl_filter(function(it) return it[1] == '{name}' end, "
        f"require('eca.host').sent) >= {count}"
    )
    nvim.wait_until(code)
    return sent(nvim, name)


def chat_text(text: str, block: int = 1, *, close: bool = True) -> list[list[Value]]:
    """Return the ops of a block of the assistant with a text."""
    ops: list[list[Value]] = [
        ["open", CHAT, block, "assistant", [], 0, None],
        ["append", CHAT, block, text],
    ]
    return [*ops, ["close", CHAT, block]] if close else ops


def answer_to(digest: str, **fields: Value) -> Mapping[str, Value]:
    """Return what the view sends as an answer to a request."""
    return {"chat": CHAT, "block": BLOCK, "digest": digest, **fields}


def request(call: str = "t1") -> Mapping[str, Value]:
    """Return what a diff says about its request."""
    return {"id": call, "block": BLOCK, "digest": call}


def offered(*remembers: str) -> list[Mapping[str, Value]]:
    """Return the choices of ECA: with something to remember there are three."""
    allow = {"id": "allow", "name": "allow", "kind": "allow_once"}
    always = {"id": "always", "name": "always allow", "kind": "allow_always"}
    reject = {"id": "reject", "name": "reject", "kind": "reject_once"}
    return [allow, {**always, "remembers": [*remembers]}, reject] if remembers else [allow, reject]


def approval(
    call: str = "t1", *, remember: Sequence[str] = (), **fields: Value
) -> Mapping[str, Value]:
    """Return a request: a shell command with nothing to remember, changed by `fields`."""
    item = {"chat": CHAT, "id": call, "call": call, "block": BLOCK, "digest": call}
    item |= {"choices": offered(*remember)}
    item |= {"kind": "approval", "title": f"run ls {call}", "lines": [f"$ ls {call}"]}
    return {**item, "marks": [], **fields}


def question(call: str = "q1", **fields: Value) -> Mapping[str, Value]:
    """Return a question with two options and free text, changed by `fields`."""
    options = [["red", "warm"], ["blue", ""]]
    item = {"chat": CHAT, "id": call, "call": call, "block": BLOCK, "digest": call}
    item |= {"kind": "question", "title": "Which colour?"}
    return {**item, "detail": "Which colour?", "options": options, "freeform": True, **fields}
