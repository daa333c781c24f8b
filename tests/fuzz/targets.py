"""Targets: each takes bytes, and raises nothing that its callers do not handle."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.chat.driver import Driver
from tests.fuzz.mutations import Choices, mutated
from tests.worst_cases import WORST, Worst

from eca_nvim.agents.acp.inbox import Inbox as AcpInbox
from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.inbox import Inbox as EcaInbox
from eca_nvim.agents.eca.introduction import Readiness
from eca_nvim.agents.eca.login import ProviderLogins
from eca_nvim.agents.eca.login.providers import EcaProviders
from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.agents.eca.older.dialect import Dialect
from eca_nvim.agents.eca.prompts import Mentions
from eca_nvim.agents.eca.replay import Replays
from eca_nvim.agents.eca.tool_servers import EcaToolServers
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.chat.text import diffs
from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.events import Addressed
from eca_nvim.jsonrpc import framing
from eca_nvim.mcp.tools import ToolFault
from eca_nvim.protocol import acp, eca
from eca_nvim.protocol.acp.tool_call import RequestPermission
from eca_nvim.protocol.acp.updates import SessionUpdated
from eca_nvim.protocol.base.codec import decode_as, decode_body
from eca_nvim.session.templates.expansion import MalformedTemplate
from eca_nvim.store import Store, StoreDamaged

logging.disable(logging.CRITICAL)  # it gets what is left out of messages

Target = Callable[[bytes], object]


def framed(data: bytes) -> None:
    """Cut bytes into messages: as a whole, and in pieces, which must be the same messages."""
    size = 1 + (data[0] % 7 if data else 0)
    for make in (framing.ContentLengthFraming, framing.LineFraming):
        whole, cut = make(), make()
        bodies = [it for it in whole.feed(data) if isinstance(it, bytes)]
        pieces = (data[at : at + size] for at in range(0, len(data), size))
        assert [it for piece in pieces for it in cut.feed(piece) if isinstance(it, bytes)] == bodies


def decoded(data: bytes) -> None:
    """Decode a body as each message of both protocols."""
    try:
        body = decode_body(data)
    except ValueError:
        return
    choice = sum(data) if data else 0
    for kinds in (eca.SERVER_NOTIFICATIONS, eca.SERVER_REQUESTS):
        _decode(kinds, choice, body.params)
    for kinds in (acp.AGENT_NOTIFICATIONS, acp.AGENT_REQUESTS):
        _decode(kinds, choice, body.params)


def _decode(kinds: Mapping[str, Any], choice: int, params: object) -> None:
    method = sorted(kinds)[choice % len(kinds)]
    try:
        decode_as(kinds[method], params, method)
    except acp.DecodeError:
        return


def applied(data: bytes) -> None:
    """Apply a diff to a text, both made up."""
    text = data.decode(errors="replace")
    before, _, diff = text.partition("\0")
    for is_applied in (True, False):
        diffs.versions(before, FileChange("/f", diff, 1, 1), applied=is_applied)


def stored(data: bytes) -> None:
    """Read a file of the store with any content."""
    store = Store(_FOLDER, "project")
    store.path.write_bytes(data)
    try:
        store.read()
    except StoreDamaged:
        return


_FOLDER: Final = Path(tempfile.mkdtemp(prefix="eca-fuzz-"))


def played(data: bytes) -> None:
    """Read changed messages of a recording, and show what they say in chats."""
    protocol, messages = mutated(data)
    (_play_eca if protocol == "eca" else _play_acp)(messages)


def _play_eca(messages: Sequence[Mapping[str, Any]]) -> None:
    ids, turns, nothing = ChatIds(), Turns(), Dialect()
    options, server = ChatOptions(ids, turns, nothing), _Nobody()
    logins = ProviderLogins(EcaProviders(server, _drop))  # type: ignore[arg-type]
    tools = EcaToolServers(server, _drop, (), {})  # type: ignore[arg-type]
    inbox = EcaInbox(turns, options, Mentions(), Replays(), Readiness(), logins, tools)
    driver = Driver(("/workspace",))
    for message in messages:
        body = decode_body(json.dumps(message).encode())
        try:
            read = decode_as(eca.SERVER_NOTIFICATIONS.get(body.method), body.params, body.method)
        except acp.DecodeError:
            continue
        for event in inbox.read(read):
            if isinstance(event, Addressed):
                driver.hear_exactly(event.event, child="child" if event.parent_id else None)


def _play_acp(messages: Sequence[Mapping[str, Any]]) -> None:
    inbox, driver = AcpInbox("/workspace", ""), Driver(("/workspace",))
    for number, message in enumerate(messages):
        body = decode_body(json.dumps(message).encode())
        kinds = acp.AGENT_NOTIFICATIONS if body.id is None else acp.AGENT_REQUESTS
        try:
            read = decode_as(kinds.get(body.method), body.params, body.method)
        except acp.DecodeError:
            continue
        if isinstance(read, SessionUpdated):
            for event in inbox.receive(read.update):
                driver.hear_exactly(event)
        elif isinstance(read, RequestPermission):
            before, asked = inbox.requested(str(number), read)
            for event in (*before, asked):
                driver.hear_exactly(event)


class _Nobody:
    """A server that nothing is asked of."""

    def __getattr__(self, name: str) -> Target:
        return _drop


def _drop(_: object) -> None:
    """Drop an event."""


def _texts(module: str) -> Target:
    """Return a target that gives any text to the functions of a module that read text of others."""
    takes = [it for it in WORST[module] if isinstance(it.make(40), (str, bytes))]
    runs: dict[str, Worst] = {repr(it.run): it for it in takes}
    cases = [*runs.values()]

    def run(data: bytes) -> None:
        case = cases[Choices(data).below(len(cases))]
        text = data[1:]
        is_text = isinstance(case.make(40), str)
        with suppress(ToolFault, MalformedTemplate):  # which are shown as they are
            case.run(text.decode(errors="surrogateescape") if is_text else text)

    return run


def _has_texts(module: str) -> bool:
    return any(isinstance(it.make(40), (str, bytes)) for it in WORST[module])


TARGETS: Final[Mapping[str, Target]] = {
    "framing": framed,
    "decoders": decoded,
    "diffs": applied,
    "store": stored,
    "recordings": played,
    **{module.removeprefix("eca_nvim."): _texts(module) for module in WORST if _has_texts(module)},
}
"""All targets by name: themes of their own, then the modules of `tests/worst_cases.py`."""
