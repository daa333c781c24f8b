"""Introduction: the `initialize` request: which editor, which folders, which capabilities.

Only capabilities that this client really has are declared. For any other the model would call a
tool that waits for an answer forever.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from eca_nvim.agents.base import Workspace
from eca_nvim.paths import uri_of
from eca_nvim.protocol.eca.lifecycle import (
    ChatCapabilities,
    ClientCapabilities,
    ClientInfo,
    CodeAssistantCapabilities,
    EditorCapabilities,
    InitializationOptions,
    InitializeParams,
    WorkspaceFolder,
)

_CAPABILITIES: Final = ClientCapabilities(
    code_assistant=CodeAssistantCapabilities(
        chat=True,
        editor=EditorCapabilities(diagnostics=True, definition=True, references=True),
        chat_capabilities=ChatCapabilities(ask_question=True),
    )
)


def introduction(workspace: Workspace, agent: str | None = None) -> InitializeParams:
    """Build the initialize request; `agent` is the agent to select at the start.

    The server watches `process_id` and exits with it. It is the editor's, because our host may be
    restarted while the editor lives. Folders that the user adds are not in it: chats are kept for
    the folders named here.
    """
    return InitializeParams(
        process_id=workspace.process_id,
        client_info=_client(workspace.editor),
        initialization_options=InitializationOptions(chat_agent=agent) if agent else None,
        capabilities=_CAPABILITIES,
        workspace_folders=tuple(map(workspace_folder, workspace.folders.first)),
    )


def _client(editor: str) -> ClientInfo:
    """Split "Neovim 0.12.4" into name and version."""
    name, _, version = editor.partition(" ")
    return ClientInfo(name=name, version=version or None)


def workspace_folder(path: str) -> WorkspaceFolder:
    """Return how a folder is named on the wire."""
    return WorkspaceFolder(uri=uri_of(path), name=PurePath(path).name or path)
