"""Introduction: the `initialize` request, and when the server is ready."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

import anyio
from msgspec import UnsetType

from eca_nvim.agents.base import Workspace
from eca_nvim.paths import uri_of
from eca_nvim.protocol.eca import lifecycle

# Only what this client really has: for any other the model would call a tool that waits for an
# answer forever.
_CAPABILITIES: Final = {
    "codeAssistant": {
        "chat": True,
        "rewrite": True,
        "editor": {"diagnostics": True, "definition": True, "references": True},
        "chatCapabilities": {"askQuestion": True},
    }
}


def introduction(workspace: Workspace, agent: str | None = None) -> lifecycle.InitializeParams:
    """Build the initialize request; `agent` is the agent to select at the start.

    The server watches `process_id` and exits with it. It is the editor's, because our host may be
    restarted while the editor lives. Folders that the user adds are not in it: chats are kept for
    the folders named here.
    """
    name, _, version = workspace.editor.partition(" ")  # "Neovim 0.12.4"
    return lifecycle.InitializeParams(
        process_id=workspace.process_id,
        client_info=lifecycle.ClientInfo(name=name, version=version or None),
        initialization_options=lifecycle.InitializationOptions(chat_agent=agent) if agent else None,
        capabilities=_CAPABILITIES,
        workspace_folders=tuple(map(workspace_folder, workspace.folders.first)),
    )


def workspace_folder(path: str) -> lifecycle.WorkspaceFolder:
    """Return how a folder is named on the wire."""
    return lifecycle.WorkspaceFolder(uri=uri_of(path), name=PurePath(path).name or path)


def folders_changed(
    folders: Sequence[str], *, removed: bool = False
) -> lifecycle.DidChangeWorkspaceFolders:
    """Return the message that folders were added to the workspace, or removed."""
    named = tuple(map(workspace_folder, folders))
    event = lifecycle.FoldersEvent(added=() if removed else named, removed=named if removed else ())
    return lifecycle.DidChangeWorkspaceFolders(event=event)


SILENCE_SECONDS: Final = 1.0
"""Time to wait for a first message about models; a busy JVM needs a tenth of that."""

LOADING_SECONDS: Final = 20.0
"""Time for models to load: the server requests them over the network."""

_MODELS_TASK: Final = "models"


class Readiness:
    """Knows when a server can accept a prompt.

    Today's server loads its models after `initialized`, and until then refuses a prompt without a
    model. An older one knows them from the start and reports no more. So a server is ready when it
    has named models, when loading them has ended, or when it is silent about them for a while.
    """

    def __init__(self) -> None:
        self._loading = anyio.Event()
        self._settled = anyio.Event()

    def models_known(self, models: Sequence[str] | UnsetType | None) -> None:
        """Note the models that the server has named, if any."""
        if models:
            self._loading.set()
            self._settled.set()

    def progressed(self, progress: lifecycle.TaskProgress) -> None:
        """Note the start or end of a start-up task."""
        if progress.task_id == _MODELS_TASK:
            self._loading.set()
            if progress.type is lifecycle.ProgressKind.FINISH:
                self._settled.set()

    async def wait(self) -> None:
        """Wait until the server can accept a prompt."""
        with anyio.move_on_after(SILENCE_SECONDS):
            await self._loading.wait()
        if self._loading.is_set():
            with anyio.move_on_after(LOADING_SECONDS):
                await self._settled.wait()
