"""Checks what a client of the Agent Client Protocol has sent by the models of the official SDK.

Functions import this module, and the SDK: that takes 0.7 s, and each worker imports all tests.
"""

from collections.abc import Iterable, Iterator, Mapping

from acp import schema
from pydantic import BaseModel, RootModel, ValidationError
from tests.support.acp_link import Value


class SetConfigOption(
    RootModel[
        schema.SetSessionConfigOptionBooleanRequest | schema.SetSessionConfigOptionSelectRequest
    ]
):
    """Either form of the request; the SDK has no name for both."""


class ElicitationAnswer(
    RootModel[
        schema.AcceptElicitationResponse
        | schema.DeclineElicitationResponse
        | schema.CancelElicitationResponse
    ]
):
    """The answers that a client may give; the SDK's own type takes any other one, too."""


MODELS: Mapping[str, type[BaseModel]] = {
    "initialize": schema.InitializeRequest,
    "authenticate": schema.AuthenticateRequest,
    "logout": schema.LogoutRequest,
    "session/new": schema.NewSessionRequest,
    "session/load": schema.LoadSessionRequest,
    "session/resume": schema.ResumeSessionRequest,
    "session/fork": schema.ForkSessionRequest,
    "session/list": schema.ListSessionsRequest,
    "session/delete": schema.DeleteSessionRequest,
    "session/close": schema.CloseSessionRequest,
    "session/prompt": schema.PromptRequest,
    "session/cancel": schema.CancelNotification,
    "session/set_mode": schema.SetSessionModeRequest,
    "session/set_config_option": SetConfigOption,
    "$/cancel_request": schema.CancelRequestNotification,
}
ANSWERS: Mapping[str, type[BaseModel]] = {
    "session/request_permission": schema.RequestPermissionResponse,
    "fs/read_text_file": schema.ReadTextFileResponse,
    "fs/write_text_file": schema.WriteTextFileResponse,
    "terminal/create": schema.CreateTerminalResponse,
    "terminal/output": schema.TerminalOutputResponse,
    "terminal/wait_for_exit": schema.WaitForTerminalExitResponse,
    "terminal/kill": schema.KillTerminalResponse,
    "terminal/release": schema.ReleaseTerminalResponse,
    "elicitation/create": ElicitationAnswer,
}


def faults(report: Iterable[Mapping[str, Value]]) -> Iterator[str]:
    """Return what is not valid in an agent's report (`acp_agent.py`)."""
    for entry in report:
        if "method" in entry:
            models, method, message = MODELS, entry["method"], entry["params"]
        elif "code" in entry["answer"]:
            continue
        else:
            models, method, message = ANSWERS, entry["to"], entry["answer"]
        if method in models:
            try:
                models[method].model_validate(message)
            except ValidationError as fault:
                yield str(fault)
