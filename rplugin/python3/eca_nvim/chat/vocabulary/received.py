"""Received: the events about hooks, links, images and commands in the background.

A hook is a program that the agent runs at a fixed point of its work.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class HookStarted(Struct, frozen=True):
    """A hook of the agent began (ECA: hookActionStarted)."""

    id: str
    name: str


class HookFinished(Struct, frozen=True):
    """A hook ended; `status` is its exit code (ECA: hookActionFinished)."""

    id: str
    name: str
    status: int | None = None
    output: str | None = None
    error: str | None = None
    tool_call_id: str | None = None


class LinkReceived(Struct, frozen=True):
    """A titled link (ECA: url)."""

    title: str
    url: str


class ImageReceived(Struct, frozen=True):
    """An image, in base64 (ECA: image)."""

    media_type: str
    base64: str


class JobState(StrEnum):
    """Whether a command runs in the background, and how it ended."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    KILLED = "killed"


class Job(Struct, frozen=True):
    """A command in the background, as it is now; `call_id` started it in a chat (our id)."""

    title: str
    state: JobState = JobState.RUNNING
    exit_code: int | None = None
    chat_id: str | None = None
    call_id: str | None = None
