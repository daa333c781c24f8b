"""Server events: turns messages about the server into events: choices, tools, background work.

Rule: updates are partial. None in an event means unchanged; a removed variant is "" (ECA:
`selectVariant` null), and an empty list means that there is nothing to choose from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from msgspec import UNSET, UnsetType

from eca_nvim.agents.eca.selection import Announced
from eca_nvim.chat.vocabulary.agent_events import (
    JobsChanged,
    MessageShown,
    ToolServerChanged,
    WorkChanged,
)
from eca_nvim.chat.vocabulary.received import Job, JobState
from eca_nvim.protocol.eca.chat import ChatConfig, ConfigUpdated
from eca_nvim.protocol.eca.lifecycle import (
    InitializeResult,
    NoticeLevel,
    ProgressKind,
    ShowMessage,
    TaskProgress,
)
from eca_nvim.protocol.eca.tools import JobsUpdated, ToolServerRemoved, ToolServerUpdated

_T = TypeVar("_T")

_JOB_STATES: Final = frozenset(JobState)

_LEVELS: Final[Mapping[NoticeLevel, str]] = {
    NoticeLevel.ERROR: "error",
    NoticeLevel.WARNING: "warn",
    NoticeLevel.INFO: "info",
    NoticeLevel.UNKNOWN: "info",
}


def initial_choices(result: InitializeResult) -> Announced:
    """Read the choices that an older server sends in its response to initialize."""
    return Announced(
        models=result.models,
        agents=result.agents,
        model=result.default_model,
        agent=result.default_agent,
        welcome=result.welcome_message,
        bring_models=not result.agents,
    )


def changed_choices(update: ConfigUpdated, chat_id: str | None) -> Announced:
    """Read config/updated; `chat_id` is our id of the chat it applies to, None for all.

    The trust of a single chat is ignored: it only repeats the user's choice.
    """
    config = update.chat or ChatConfig()
    selected = {"model": config.select_model, "agent": config.select_agent}
    forced = () if chat_id else tuple(what for what, name in selected.items() if _given(name))
    return Announced(
        models=_given(config.models),
        agents=_given(config.agents),
        variants=_given(config.variants),
        model=_given(config.select_model, config.default_model),
        agent=_given(config.select_agent, config.default_agent),
        variant="" if config.select_variant is None else _given(config.select_variant),
        wants_trust=_given(config.select_trust) if chat_id is None else None,
        welcome=_given(config.welcome_message),
        chat_id=chat_id,
        forced=forced,
        bring_models=not config.of_behaviors,
    )


def _given(value: _T | UnsetType | None, otherwise: _T | UnsetType | None = UNSET) -> _T | None:
    if value is UNSET:
        return None if otherwise is UNSET else otherwise
    return value


def tool_server(update: ToolServerUpdated) -> ToolServerChanged:
    """Read tool/serverUpdated; null means the same as a missing value."""
    tools = _given(update.tools)
    return ToolServerChanged(
        name=update.name,
        status=_given(update.status),
        kind=_given(update.type),
        tools=None if tools is None else tuple(tool.name for tool in tools),
    )


def removed_tool_server(removal: ToolServerRemoved) -> ToolServerChanged:
    """Read tool/serverRemoved."""
    return ToolServerChanged(name=removal.name, removed=True)


def work(progress: TaskProgress) -> WorkChanged:
    """Read $/progress."""
    done = progress.type is ProgressKind.FINISH
    return WorkChanged(progress.task_id, progress.title or progress.task_id, done)


def jobs(update: JobsUpdated, ours: Callable[[str], str]) -> JobsChanged:
    """Read jobs/updated; `ours` returns our id of a chat."""
    return JobsChanged(
        tuple(
            Job(
                title=job.label or job.summary or job.id,
                state=JobState(job.status),
                exit_code=job.exit_code,
                chat_id=None if job.chat_id is None else ours(job.chat_id),
                call_id=job.tool_call_id,
            )
            for job in update.jobs
            if job.status in _JOB_STATES
        )
    )


def message(shown: ShowMessage) -> MessageShown:
    """Read $/showMessage."""
    return MessageShown(_LEVELS[shown.type], shown.message)
