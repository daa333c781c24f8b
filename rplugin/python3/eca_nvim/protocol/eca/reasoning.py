"""Contents with a model's reasoning, before and while it answers."""

from eca_nvim.protocol.base.types import Int, Wire


class ReasonStarted(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonStarted"):
    """The model has begun to reason."""

    id: str


class ReasonText(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonText"):
    """A piece of reasoning, cut anywhere."""

    id: str
    text: str = ""


class ReasonFinished(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonFinished"):
    """The reasoning ended; may arrive after the answer has begun. Time in milliseconds."""

    id: str
    total_time_ms: Int | None = None
