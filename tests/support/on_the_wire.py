"""A message of a protocol as its peer reads it."""

import json

from tests.support.screen import Value

from eca_nvim.protocol.base.codec import encode
from eca_nvim.protocol.base.types import Wire


def on_the_wire(message: Wire) -> Value:
    """Return params or a result as JSON values."""
    return json.loads(json.dumps(encode(message)))
