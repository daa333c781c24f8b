"""Received: the events about hooks, links and images.

A hook is a program that the agent runs at a fixed point of its work.
"""

from __future__ import annotations

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
