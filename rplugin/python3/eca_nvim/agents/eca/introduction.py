"""How we introduce ourselves to an ECA server: who speaks, where, and what we can do.

Only what this client really answers is declared: a capability that is not kept makes the model
call a tool that then waits for an answer forever.
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
    """Build the first request; `agent` is the one the user wants from the start.

    The server watches `process_id` and ends with it: that is the editor's, since our own host may
    be started again while the editor lives.
    """
    return InitializeParams(
        process_id=workspace.process_id,
        client_info=_client(workspace.editor),
        initialization_options=InitializationOptions(chat_agent=agent) if agent else None,
        capabilities=_CAPABILITIES,
        workspace_folders=tuple(map(_folder, workspace.folders)),
    )


def _client(editor: str) -> ClientInfo:
    """Take "Neovim 0.12.4" apart."""
    name, _, version = editor.partition(" ")
    return ClientInfo(name=name, version=version or None)


def _folder(path: str) -> WorkspaceFolder:
    return WorkspaceFolder(uri=uri_of(path), name=PurePath(path).name or path)
