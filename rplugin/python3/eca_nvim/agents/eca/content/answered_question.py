"""Answered question: reads question and answer from the call; a replay has nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eca_nvim.chat.vocabulary.events import Dialogue, QuestionAsked
from eca_nvim.protocol.eca.tool_call import ToolCalled

_TOOL: Final = "ask_user"
_ANSWERED: Final = "User answered: "
"""How the server words the user's answer for its model."""


def dialogue(content: ToolCalled) -> Dialogue | None:
    """Return the dialogue of a call; None if it asks nothing, or is malformed."""
    question = content.arguments.get("question")
    if content.name != _TOOL or not isinstance(question, str):
        return None
    answer = "\n".join(output.text for output in content.outputs)
    if not content.error and not answer.startswith(_ANSWERED):
        return None
    asked = QuestionAsked(
        id=content.id or "",
        question=question,
        options=tuple(_options(content.arguments.get("options"))),
        tool_call_id=content.id,
    )
    return Dialogue(asked, None if content.error else answer.removeprefix(_ANSWERED))


def _options(options: object) -> Iterator[tuple[str, str]]:
    """Yield label and description of options, which a model wrote in any form."""
    for option in options if isinstance(options, list) else ():
        match option:
            case {"label": str(label), "description": str(description)}:
                yield label, description
            case {"label": str(label)} | str(label):
                yield label, ""
