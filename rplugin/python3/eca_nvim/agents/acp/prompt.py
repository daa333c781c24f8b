"""Prompt: a prompt and its contexts as content blocks."""

from __future__ import annotations

from eca_nvim.agents.base import Prompt
from eca_nvim.protocol.acp.content import ContentBlock, TextBlock


def blocks(prompt: Prompt) -> tuple[ContentBlock, ...]:
    """Return the blocks of a prompt: its text as typed."""
    return (TextBlock(prompt.text),)
