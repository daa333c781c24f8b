"""Servers of older and newer generations of the protocol, each a process that knows only its own.

Each is built from the protocol's document of that time: its parameters, answers, notifications. It
checks what the client sends: it refuses an unknown request (-32601), and if a request lacks what
that document requires, it ends with a complaint and exit code 3.

The first word of a prompt says what the server does (`stream`, `edit`, `wait` …).
"""
