"""Steps of an agent that opens sessions again, and what its client makes of them."""

from tests.agents.acp.acp_client import (
    CHAT,
    AcpClient,
)
from tests.support import script
from tests.support.script import Steps, Value
from tests.support.servers import ScriptedServer

from eca_nvim.agents.abilities import OpenedChat
from eca_nvim.chat.vocabulary.events import (
    NoticeReceived,
    TextReceived,
)

OLD = "session-of-before"
BOUND = {CHAT: OLD}


def opens(method: str, *replayed: Steps, **result: Value) -> Steps:
    """Answer the request that opens a session, after a replay."""
    return [
        *script.expect(method),
        *(step for steps in replayed for step in steps),
        *script.reply(method, result),
    ]


def refuses(method: str, code: int = -32601, message: str = "Method not found") -> Steps:
    return [*script.expect(method), *script.fail(method, code, message)]


def sent(server: ScriptedServer) -> list[str]:
    """Return the methods with which sessions were opened, in order, and the prompts."""
    wanted = ("session/new", "session/resume", "session/load", "session/fork", "session/prompt")
    return [it["method"][8:] for it in server.received() if it.get("method") in wanted]


def texts(opened: OpenedChat) -> list[str]:
    found = (it.event for it in opened.page.events)
    return [it.text for it in found if isinstance(it, (TextReceived, NoticeReceived))]


def notices(client: AcpClient) -> list[str]:
    return [it.text for it in client.all(NoticeReceived)]
