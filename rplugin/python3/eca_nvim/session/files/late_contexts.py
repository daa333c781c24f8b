"""Late contexts: those that take a while to read, so they are read when their prompt is sent."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from eca_nvim.chat.vocabulary.contexts import Context, DiffContext, TextContext
from eca_nvim.chat.vocabulary.effects import TellPrompt


class LateContexts(Struct, frozen=True):
    """The contexts of a prompt after reading, and lines about those that failed or were cut."""

    contexts: tuple[Context, ...] = ()
    notices: tuple[str, ...] = ()


def is_late(prompt: TellPrompt) -> bool:
    """Return whether a prompt has contexts that are still to be read."""
    return any(isinstance(context, DiffContext) for context in prompt.contexts)


def without_late(prompt: TellPrompt) -> LateContexts:
    """Return the contexts of a prompt that need no reading."""
    return LateContexts(tuple(it for it in prompt.contexts if not isinstance(it, DiffContext)))


async def read_late(contexts: Sequence[Context]) -> LateContexts:
    """Read contexts that are still to be read; the others stay as they are, in their order."""
    from eca_nvim.session.files.git_diff import NoDiff, read_diff  # noqa: PLC0415 - rarely needed

    read: list[Context] = []
    notices: list[str] = []
    for context in contexts:
        if not isinstance(context, DiffContext):
            read.append(context)
            continue
        name = context.token or "@diff"
        try:
            diff = await read_diff(context.folder)
        except NoDiff as fault:
            notices.append(f"context not sent: {name}: {fault}")
            continue
        read.append(TextContext(f"{diff.label} ({name})", diff.content, context.token))
        if diff.cut is not None:
            notices.append(f"context cut: {name}: {diff.cut}")
    return LateContexts(tuple(read), tuple(notices))
