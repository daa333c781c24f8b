"""The introduction to an ACP agent: what we announce is what we read."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from msgspec.inspect import StructType
from msgspec.structs import fields
from tests.support.on_the_wire import on_the_wire

from eca_nvim.agents.acp.setup import introduction
from eca_nvim.protocol.acp import AGENT_NOTIFICATIONS, AGENT_REQUESTS
from eca_nvim.protocol.acp.tool_call import CallMeta
from eca_nvim.protocol.acp.updates import SessionUpdate
from eca_nvim.protocol.base.lenient import type_info

IN_TERMINALS = {"a login in a terminal", "a login in a terminal, in its older form"}
"""What `test_acp_login.py` sees kept."""
PROMISED = {
    "_meta.terminal_output": "terminal_output",
    "_meta.terminal-auth": "a login in a terminal, in its older form",
    "auth.terminal": "a login in a terminal",
    "elicitation.form": "elicitation/create",
    "elicitation.url": "elicitation/complete",
    "fs.readTextFile": "fs/read_text_file",
    "fs.writeTextFile": "fs/write_text_file",
    "session.compaction": "compaction_update",
    "session.configOptions.boolean": "config_option_update",
    "session.notices": "notice",
    "terminal": "terminal/create",
}
"""The capabilities of a client, and what it must read for each."""


def test_we_announce_what_we_read_and_nothing_else() -> None:
    sent = on_the_wire(introduction())
    assert sent is not None
    assert sent["protocolVersion"] == 1
    assert sent["clientInfo"]["name"] == "eca-nvim"
    assert sent["clientCapabilities"] == {
        "_meta": {"terminal-auth": True, "terminal_output": True},
        "auth": {"terminal": True},
        "fs": {"readTextFile": True, "writeTextFile": True},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "elicitation": {"form": {}, "url": {}},
        "terminal": True,
    }
    kinds = map(type_info, get_args(SessionUpdate))
    variants = {str(kind.tag) for kind in kinds if isinstance(kind, StructType)}
    meta = {field.encode_name for field in fields(CallMeta)}
    read = variants | AGENT_REQUESTS.keys() | AGENT_NOTIFICATIONS.keys() | IN_TERMINALS | meta
    assert {*PROMISED.values()} <= read
    assert {*_paths(sent["clientCapabilities"])} == PROMISED.keys()


def _paths(told: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the capabilities as paths, such as `session.notices`."""
    for name, more in told.items():
        if more is True or not more:
            yield before + name
        else:
            yield from _paths(more, f"{before}{name}.")
