"""Introduction: the `initialize` request, and when the server is ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Final

import anyio
from msgspec import UnsetType

from eca_nvim.agents.base import Workspace
from eca_nvim.paths import uri_of
from eca_nvim.protocol.eca import lifecycle

# Only what this client really has: for any other the model would call a tool that waits for an
# answer forever.
_CAPABILITIES: Final = lifecycle.ClientCapabilities(
    code_assistant=lifecycle.CodeAssistantCapabilities(
        chat=True,
        editor=lifecycle.EditorCapabilities(diagnostics=True, definition=True, references=True),
        chat_capabilities=lifecycle.ChatCapabilities(ask_question=True),
    )
)


def introduction(workspace: Workspace, agent: str | None = None) -> lifecycle.InitializeParams:
    """Build the initialize request; `agent` is the agent to select at the start.

    The server watches `process_id` and exits with it. It is the editor's, because our host may be
    restarted while the editor lives. Folders that the user adds are not in it: chats are kept for
    the folders named here.
    """
    return lifecycle.InitializeParams(
        process_id=workspace.process_id,
        client_info=_client(workspace.editor),
        initialization_options=lifecycle.InitializationOptions(chat_agent=agent) if agent else None,
        capabilities=_CAPABILITIES,
        workspace_folders=tuple(map(workspace_folder, workspace.folders.first)),
    )


def _client(editor: str) -> lifecycle.ClientInfo:
    """Split "Neovim 0.12.4" into name and version."""
    name, _, version = editor.partition(" ")
    return lifecycle.ClientInfo(name=name, version=version or None)


def workspace_folder(path: str) -> lifecycle.WorkspaceFolder:
    """Return how a folder is named on the wire."""
    return lifecycle.WorkspaceFolder(uri=uri_of(path), name=PurePath(path).name or path)


SILENCE_SECONDS: Final = 1.0
"""Time to wait for a first message about models; a busy JVM needs a tenth of that."""

LOADING_SECONDS: Final = 20.0
"""Time for models to load: the server requests them over the network."""

_MODELS_TASK: Final = "models"


class Readiness:
    """Waits for a server's models, and announces once that it is ready.

    Today's server loads its models after `initialized`, and until then refuses a prompt without a
    model. An older one knows them from the start and reports no more. So a server is ready when it
    has named models, when loading them has ended, or when it is silent about them for a while.
    """

    def __init__(self) -> None:
        self.is_due = False
        """Whether the server can accept a prompt, and this was not announced yet."""
        self._loading = anyio.Event()
        self._settled = anyio.Event()
        self._ready: Callable[[], None] | None = None  # from the introduction until it is called

    def introduced(self, ready: Callable[[], None]) -> None:
        """Note that initialize is done; `ready` is called once the server can accept a prompt."""
        self._ready = ready
        self.is_due = self._settled.is_set()

    def models_known(self, models: Sequence[str] | UnsetType | None) -> None:
        """Note the models that the server has named, if any."""
        if models:
            self._settle()

    def progressed(self, progress: lifecycle.TaskProgress) -> None:
        """Note the start or end of a start-up task."""
        if progress.task_id != _MODELS_TASK:
            return
        if progress.type is lifecycle.ProgressKind.FINISH:
            self._settle()
        else:
            self._loading.set()

    def announce(self) -> None:
        """Announce that the server is ready, unless it was done."""
        ready, self._ready, self.is_due = self._ready, None, False
        if ready is not None:
            ready()

    async def wait(self) -> None:
        """Announce the server as soon as it is ready, or after a timeout."""
        with anyio.move_on_after(SILENCE_SECONDS):
            await self._loading.wait()
        if self._loading.is_set():
            with anyio.move_on_after(LOADING_SECONDS):
                await self._settled.wait()
        self.announce()

    def _settle(self) -> None:
        self._loading.set()
        self._settled.set()
        self.is_due = self._ready is not None
