"""Servers of the protocol's generations, each a process of its own that knows its own time only.

Each is built from the protocol's document of that time: the names of its parameters, what it
answers, what it tells. What a client says is held against it: a request it does not know is refused
(-32601), and one that leaves out what its time required ends it with a complaint and exit code 3.
A prompt's first word says what is to happen (`stream`, `edit`, `wait` …).
"""
