"""A session of an agent, and what the user is asked in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio
from tests.agents.acp.no_process import NoProcess
from tests.agents.acp.wire import NO, YES, raw
from tests.agents.client import Projects
from tests.support.drawn import drawn

from eca_nvim.agents.acp.requests.acts import Act
from eca_nvim.agents.acp.requests.grants import Granted
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.session import Session
from eca_nvim.chat.vocabulary.events import ToolRequested
from eca_nvim.path_risks import Folders
from eca_nvim.protocol.acp import decode_agent_request, decode_notification
from eca_nvim.protocol.acp.tool_call import RequestPermission
from eca_nvim.protocol.acp.updates import SessionUpdated

ALWAYS: Final = {"optionId": "a", "name": "Always", "kind": "allow_always"}


class Asking:
    """A session in a workspace, and what the user is asked in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folders = Folders((str(folder),))
        self.projects = Projects()
        self.granted = Granted(self.projects)
        self.begin()

    def begin(self) -> None:
        """Begin a session, as another process of the agent does for the same chat."""
        self.link = NoProcess()
        self.session = Session("chat", str(self.folder), self.link)
        self.session.id = "s"
        self.permissions = Permissions(self.link, self.granted, self.folders)
        self.numbers = iter(range(1000))
        self._was_asked = False

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def update(self, variant: str, call: str = "t1", /, **fields: object) -> None:
        """Send an update of a call."""
        told = {"sessionUpdate": variant, "toolCallId": call, **fields}
        message = decode_notification("session/update", raw({"sessionId": "s", "update": told}))
        assert isinstance(message, SessionUpdated)
        self.session.inbox.receive(message.update)

    def permit(self, option: Mapping[str, str], call: str = "t1", /, **fields: object) -> None:
        """Let the agent ask about a call, and answer."""
        params = {
            "sessionId": "s",
            "toolCall": {"toolCallId": call, **fields},
            "options": [YES, ALWAYS, NO],
        }
        asked = decode_agent_request("session/request_permission", raw(params))
        assert isinstance(asked, RequestPermission)
        self.permissions.start(next(self.numbers), self.session, asked)
        last = self.link.events[-1]
        assert isinstance(last, ToolRequested)
        shown = drawn(last)
        self.permissions.decide(self.session, shown.id, option["optionId"], shown)

    def permit_edit(self, name: str, option: Mapping[str, str] = YES, call: str = "t1") -> None:
        """Let the agent ask about an edit of a file, and answer."""
        (self.folder / name).write_text("1\na\n")
        diff = {"type": "diff", "path": self.path(name), "oldText": "a", "newText": "b"}
        self.permit(option, call, kind="edit", content=[diff])

    @property
    def asked(self) -> list[ToolRequested]:
        own = (it for it in self.link.events if isinstance(it, ToolRequested))
        return [it for it in own if it.choices and it.choices[0].id == "once"]

    def was_asked(self) -> bool:
        """Return whether the last act was asked about."""
        return self._was_asked

    async def allows(self, act: Act, answer: str | None = "reject") -> bool:
        """Ask whether an act is allowed; a question gets an answer, None leaves it open."""
        before = len(self.asked)
        allowed: list[bool] = []
        call_id = self.permissions.call_of(self.session, act) or "ours"

        async def ask() -> None:
            allowed.append(await self.permissions.allows(self.session, act, call_id))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            if not allowed and answer is not None:
                call = drawn(self.asked[-1])
                self.permissions.decide(self.session, call.id, answer, call)
            elif not allowed:
                tasks.cancel_scope.cancel()
        self._was_asked = len(self.asked) > before
        return allowed == [True]
