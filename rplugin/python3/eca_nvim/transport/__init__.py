"""A server as a child process, and a JSON-RPC conversation with it over its pipes.

Rule: sending never waits, and the process ends together with all that it has started.
"""

from eca_nvim.spawn import StartError
from eca_nvim.transport.connection import (
    Connection,
    ConnectionClosed,
    Goodbye,
    Guard,
    Handler,
    Incoming,
    PendingRequest,
    RemoteError,
    open_connection,
)
from eca_nvim.transport.process import ChildProcess, Exit, telling_line
from eca_nvim.transport.tape import Tape
