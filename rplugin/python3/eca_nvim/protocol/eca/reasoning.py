"""What a model thinks before and while it answers, as contents of a chat."""

from eca_nvim.protocol.eca.base import Int, Wire


class ReasonStarted(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonStarted"):
    """The model begins to reason."""

    id: str


class ReasonText(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonText"):
    """A piece of reasoning, cut anywhere."""

    id: str
    text: str = ""


class ReasonFinished(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonFinished"):
    """The reasoning ended, which can be told after the answer began; time in milliseconds."""

    id: str
    total_time_ms: Int | None = None
