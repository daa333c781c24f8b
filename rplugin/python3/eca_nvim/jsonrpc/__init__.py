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
from eca_nvim.jsonrpc.peer import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LANGUAGE_SERVER_CANCEL,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    CancelForm,
    Decode,
    Envelope,
    ErrorResponse,
    Event,
    MalformedMessage,
    Message,
    MessageId,
    NotAMessage,
    Notification,
    NotOpen,
    Peer,
    Request,
    Response,
    UnexpectedAnswer,
    decode_json,
    read_message,
)
