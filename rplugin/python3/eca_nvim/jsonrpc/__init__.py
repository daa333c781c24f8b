"""JSON-RPC 2.0 without I/O: bytes in, events out; messages in, bytes out.

Rule: imports only the standard library, and knows no method of any protocol.
"""

from eca_nvim.jsonrpc.framing import (
    MAX_MESSAGE_BYTES,
    ContentLengthFraming,
    FaultReason,
    Framed,
    Framing,
    FramingFault,
    LineFraming,
)
from eca_nvim.jsonrpc.messages import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    Decode,
    Envelope,
    ErrorResponse,
    MalformedMessage,
    Message,
    MessageId,
    NotAMessage,
    Notification,
    Request,
    Response,
    decode_json,
)
from eca_nvim.jsonrpc.peer import (
    LANGUAGE_SERVER_CANCEL,
    CancelForm,
    Event,
    NotOpen,
    Peer,
    UnexpectedAnswer,
)
