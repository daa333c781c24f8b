"""Encoding: no empty fields."""

from typing import Any

import pytest
from msgspec import UNSET
from tests.support.on_the_wire import on_the_wire

from eca_nvim.protocol.base.types import Wire
from eca_nvim.protocol.eca import lifecycle
from eca_nvim.protocol.eca.chat import (
    ChatConfig,
    ConfigUpdated,
    PromptParams,
    SelectedAgentChanged,
    ToolCallApprove,
)
from eca_nvim.protocol.eca.code import InlinePromptParams
from eca_nvim.protocol.eca.content import AnswerResult
from eca_nvim.protocol.eca.contexts import FileContext
from eca_nvim.protocol.eca.editor import (
    Diagnostic,
    DiagnosticsResult,
    NavigationResult,
    Position,
    Range,
)
from eca_nvim.protocol.eca.lifecycle import NoticeLevel, ShowMessage
from eca_nvim.protocol.eca.providers import ProvidersLoginParams

CAPABILITIES = {
    "codeAssistant": {
        "chat": True,
        "rewrite": False,
        "editor": {"diagnostics": True, "definition": True, "references": True},
        "chatCapabilities": {"askQuestion": True},
    }
}
INITIALIZE = lifecycle.InitializeParams(
    process_id=7,
    client_info=lifecycle.ClientInfo(name="Neovim", version="1"),
    initialization_options=lifecycle.InitializationOptions(chat_agent="plan"),
    capabilities=CAPABILITIES,
    workspace_folders=(lifecycle.WorkspaceFolder(uri="file:///a%20b", name="a b"),),
)
PLACE = Range(start=Position(line=1, character=1), end=Position(line=1, character=3))


@pytest.mark.parametrize(
    ("message", "wire"),
    [
        (
            INITIALIZE,
            {
                "processId": 7,
                "clientInfo": {"name": "Neovim", "version": "1"},
                "initializationOptions": {"chatAgent": "plan"},
                "capabilities": CAPABILITIES,
                "workspaceFolders": [{"uri": "file:///a%20b", "name": "a b"}],
            },
        ),
        (lifecycle.Initialized(), {}),
        (lifecycle.Shutdown(), {}),
        (lifecycle.Exit(), {}),
        (
            PromptParams(
                chat_id="c",
                message="hi",
                agent="plan",
                contexts=(FileContext(path="a"),),
                trust=False,
            ),
            {
                "chatId": "c",
                "message": "hi",
                "agent": "plan",
                "contexts": [{"type": "file", "path": "a"}],
                "trust": False,
            },
        ),
        (PromptParams(message=""), {"message": ""}),
        (InlinePromptParams(chat_id="c", message="m"), {"chatId": "c", "message": "m"}),
        (ToolCallApprove(chat_id="c", tool_call_id="t"), {"chatId": "c", "toolCallId": "t"}),
        (SelectedAgentChanged(agent="plan"), {"agent": "plan"}),
        (
            ProvidersLoginParams(provider="p", login_method="api-key"),
            {"provider": "p", "method": "api-key"},
        ),
        (AnswerResult(answer=None, cancelled=True), {"answer": None, "cancelled": True}),
        (NavigationResult(status="success", locations=()), {"status": "success", "locations": []}),
        (
            DiagnosticsResult(
                diagnostics=(
                    Diagnostic(uri="file:///a", severity="hint", range=PLACE, message="m"),
                )
            ),
            {
                "diagnostics": [
                    {
                        "uri": "file:///a",
                        "severity": "hint",
                        "range": {
                            "start": {"line": 1, "character": 1},
                            "end": {"line": 1, "character": 3},
                        },
                        "message": "m",
                    }
                ]
            },
        ),
        (
            ConfigUpdated(chat=ChatConfig(agents=("a",), select_model=None, models=UNSET)),
            {"chat": {"agents": ["a"], "selectModel": None}},
        ),
        (ShowMessage(type=NoticeLevel.INFO, message="m"), {"type": "info", "message": "m"}),
    ],
)
def test_what_a_message_is_on_the_wire(message: Wire, wire: dict[str, Any]) -> None:
    assert on_the_wire(message) == wire
