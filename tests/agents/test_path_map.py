"""Paths for an agent elsewhere: all of the protocol are mapped both ways, and nothing else is."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import iter_modules
from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect
from tests.support.servers import ACP_RECORDINGS, RECORDINGS

from eca_nvim.agents.path_map import MappedFraming, PathMap, names_paths
from eca_nvim.jsonrpc import LineFraming
from eca_nvim.protocol import acp, eca
from eca_nvim.protocol.base.types import Wire

Value: TypeAlias = Any

PATHS = PathMap(
    "box",
    {"/home/me/src": "/srv/src/", "/home/me/src/deep": "/deep", "/home/me/a b": "/srv/a b"},
)
LOOKS = re.compile(r"(?i)path|uri|cwd|folder|file|dir(?!ect$)|root|location")
"""Names that make one ask whether they are paths."""


def types() -> Iterator[inspect.StructType]:
    """Yield all types of both protocols, also those that only others hold."""
    for package in (acp, eca):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            for _, kind in getmembers(import_module(module.name), isclass):
                if issubclass(kind, Wire) and kind.__module__ == module.name:
                    with suppress(TypeError):  # a base with a type variable
                        told = inspect.type_info(kind)
                        assert isinstance(told, inspect.StructType)
                        yield told


def fields() -> Iterator[tuple[str, str, inspect.Type]]:
    """Yield all fields of both protocols: their types, names on the wire, and what they hold."""
    for kind in types():
        for field in kind.fields:
            yield f"{kind.cls.__name__}.{field.name}", field.encode_name, field.type


def holds_text(kind: inspect.Type) -> bool:
    """Return whether a value is a string, or has some beside each other."""
    match kind:
        case inspect.StrType():
            return True
        case inspect.UnionType(types=types):
            return any(map(holds_text, types))
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return holds_text(item)
    return False


def test_each_field_of_the_protocols_that_is_a_path_is_mapped() -> None:
    """A new field that looks like one fails here until it is mapped."""
    texts = {(owner, name) for owner, name, kind in fields() if holds_text(kind)}
    assert len(texts) > 100
    missed = {name for _, name in texts if LOOKS.search(name) and not names_paths(name)}
    assert missed == set()
    mapped = {owner for owner, name in texts if names_paths(name)}
    assert {"WorkspaceFolder.uri", "ReadTextFile.path", "NewSessionParams.cwd"} <= mapped
    assert {"NewSessionParams.additional_directories", "CallLocation.path"} <= mapped


OURS, THEIRS = "/home/me/src", "/srv/src"
PROSE = f"see {OURS}/io.py"


PLAIN = {inspect.IntType: 1, inspect.FloatType: 1, inspect.BoolType: True}


def sample(kind: inspect.Type, *, is_path: bool = False) -> Value:
    """Return a value of a type, with a path wherever one may stand, and prose in other texts."""
    match kind:
        case inspect.StrType():
            return f"{OURS}/io.py" if is_path else PROSE
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.EnumType(cls=cls):
            return next(iter(cls)).value
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return [sample(item, is_path=is_path)]
        case inspect.DictType() | inspect.AnyType():
            return {"path": f"{OURS}/io.py", "any": PROSE}
        case inspect.UnionType(types=types):
            fitting = [it for it in types if not isinstance(it, inspect.NoneType)]
            lists = [it for it in fitting if isinstance(it, inspect.VarTupleType)]
            return sample((lists or fitting)[0], is_path=is_path)
        case inspect.StructType():
            return message(kind)
    return PLAIN[type(kind)]


def message(kind: inspect.StructType) -> dict[str, Value]:
    """Return a value of each field of a type, as it is on the wire."""
    told = {
        it.encode_name: sample(it.type, is_path=names_paths(it.encode_name)) for it in kind.fields
    }
    return told if kind.tag_field is None else {kind.tag_field: kind.tag, **told}


def test_every_message_of_both_protocols_is_mapped_both_ways_and_its_prose_is_not() -> None:
    count = 0
    for kind in types():
        sent = {"params": message(kind)}
        text = json.dumps(sent)
        mapped = json.dumps(PATHS.to_agent(sent))
        assert mapped == text.replace(f'"{OURS}', f'"{THEIRS}'), kind.cls.__name__
        assert PATHS.from_agent(json.loads(mapped)) == sent, kind.cls.__name__
        count += mapped != text
    assert count > 60


ABSOLUTE = re.compile(r"(?:file://)?/[\w.-]+(?:/[\w. -]+)*/?")
NOT_PATHS = {
    *("message", "text", "description", "args", "command"),  # prose, and command lines
    "proposed_execpolicy_amendment",  # codex: the words of a command
}
PARTS = {"query": "chat/queryFiles", "source": "a move", "destination": "a move"}
"""What is a path only in some messages: those have tests of their own."""


def named_by(value: object, key: str = "") -> Iterator[str]:
    """Yield the names of all that looks like a path, also where one is a name itself."""
    match value:
        case dict():
            for name, item in value.items():
                assert not ABSOLUTE.fullmatch(name), f"a path is the name of a field: {name}"
                yield from named_by(item, name)
        case list():
            for item in value:
                yield from named_by(item, key)
        case str() if ABSOLUTE.fullmatch(value):
            yield key


def test_every_path_that_real_servers_and_agents_sent_has_the_name_of_one() -> None:
    names: set[str] = set()
    for folder in (RECORDINGS, ACP_RECORDINGS):
        for recording in folder.glob("*.jsonl"):
            for line in recording.read_bytes().splitlines():
                names |= {*named_by(json.loads(line))}
    assert {"path", "uri", "cwd"} <= names
    assert {it for it in names if not names_paths(it)} <= NOT_PATHS | PARTS.keys()


@pytest.mark.parametrize(
    "name",
    [
        "path",
        "file_path",
        "filePath",
        "workspaceUri",
        "additionalDirectories",
        "cwd",
        "notebook_path",
    ],
)
def test_names_of_paths(name: str) -> None:
    assert names_paths(name)


@pytest.mark.parametrize(
    "name", ["command", "text", "content", "profile", "xpath", "fileId", "pathology", "", "title"]
)
def test_other_names(name: str) -> None:
    assert not names_paths(name)


BOTH_WAYS = [
    ({"path": "/home/me/src/io.py"}, {"path": "/srv/src/io.py"}),
    ({"path": "/home/me/src"}, {"path": "/srv/src"}),
    ({"path": "/home/me/src/deep/x"}, {"path": "/deep/x"}),
    ({"uri": "file:///home/me/a%20b/%25x"}, {"uri": "file:///srv/a%20b/%25x"}),
    ({"paths": ["/home/me/src/a", "b/c"]}, {"paths": ["/srv/src/a", "b/c"]}),
    ({"locations": [{"path": "/home/me/src/a"}]}, {"locations": [{"path": "/srv/src/a"}]}),
    ({"arguments": {"file_path": "/home/me/src/a"}}, {"arguments": {"file_path": "/srv/src/a"}}),
    (
        {"arguments": {"source": "/home/me/src/a", "destination": "/home/me/src/b"}},
        {"arguments": {"source": "/srv/src/a", "destination": "/srv/src/b"}},
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), BOTH_WAYS)
def test_both_ways(ours: object, theirs: object) -> None:
    assert PATHS.to_agent({"params": ours}) == {"params": theirs}
    assert PATHS.from_agent({"params": theirs}) == {"params": ours}


@pytest.mark.parametrize(
    "message",
    [
        {"text": "look at /home/me/src/io.py"},
        {"command": "/home/me/src/run.sh --all /srv/src"},
        {"content": "/home/me/src"},
        {"uri": "https://x.example.com/srv/src"},
        {"path": "src/io.py"},
        {"path": {"type": "string"}},
        {"path": None, "uri": 3},
        {"source": "// /srv/src"},
        {"source": "/home/me/src", "destination": 3},
    ],
)
def test_what_stays_as_it_is(message: object) -> None:
    assert PATHS.to_agent(message) == message
    assert PATHS.from_agent(message) == message


PLACE = "The cursor is in line 3, column 1 of {}/io.py."


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("see @/home/me/src/io.py:L1-L2 and @/etc/x", "see @/srv/src/io.py:L1-L2 and @/etc/x"),
        ("@/home/me/src", "@/srv/src"),
        ("@/home/me/src-old/x", "@/home/me/src-old/x"),
        ("@/home/me/src/deep/x", "@/deep/x"),
        ("at /home/me/src/io.py", "at /home/me/src/io.py"),
        (PLACE.format("/home/me/src"), PLACE.format("/srv/src")),
    ],
)
def test_a_prompt_names_its_contexts_as_the_agent_finds_them(ours: str, theirs: str) -> None:
    resource = {"type": "resource", "resource": {"text": ours}}
    acp_prompt: Any = {"prompt": [{"type": "text", "text": ours}, resource]}
    sent: Any = PATHS.to_agent({"method": "session/prompt", "params": acp_prompt})
    assert sent["params"]["prompt"] == [{"type": "text", "text": theirs}, resource]
    sent = PATHS.to_agent({"method": "chat/prompt", "params": {"message": ours}})
    assert sent["params"] == {"message": theirs}
    assert PATHS.to_agent({"method": "chat/rename", "params": {"message": ours}}) == {
        "method": "chat/rename",
        "params": {"message": ours},
    }


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("/home/me/src/i", "/srv/src/i"),
        ("/home/me/sr", "/home/me/sr"),
        ("io.py", "io.py"),
        ("/etc/x", "/etc/x"),
    ],
)
def test_a_search_for_files_names_them_as_the_server_finds_them(ours: str, theirs: str) -> None:
    for method in ("chat/queryFiles", "chat/queryContext"):
        sent: Any = PATHS.to_agent({"method": method, "params": {"query": ours}})
        assert sent["params"] == {"query": theirs}
    commands: Any = {"method": "chat/queryCommands", "params": {"query": ours}}
    assert PATHS.to_agent(commands) == commands


def test_what_the_user_types_into_a_form_stays() -> None:
    answer = {"id": 1, "result": {"action": "accept", "content": {"path": "/home/me/src"}}}
    assert PATHS.to_agent(answer) == answer


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/srv/srcs/x", "/srv/src/../../etc/passwd", "//srv/../etc/passwd", "/"],
)
def test_what_is_not_mapped_is_no_path_here(path: str) -> None:
    (told,) = PATHS.from_agent({"path": path}).values()  # type: ignore[attr-defined]
    assert told == f"box:{path} (not in servers.box.paths)"
    uri: Any = PATHS.from_agent({"uri": f"file://{path}"})
    assert uri["uri"].startswith("box:/")
    sent: Any = PATHS.to_agent({"path": path})
    assert sent["path"].startswith("Neovim:/")


def test_a_root_and_the_home_folder() -> None:
    whole = PathMap("box", {"/": "/host"})
    assert whole.to_agent({"path": "/etc/x"}) == {"path": "/host/etc/x"}
    assert whole.from_agent({"path": "/host/etc/x"}) == {"path": "/etc/x"}
    assert whole.from_agent({"path": "/host"}) == {"path": "/"}
    assert not PathMap("box", {"~/src": "/srv"}).covers("/etc")


@pytest.mark.parametrize(
    ("folders", "named"),
    [
        ({"": "/srv"}, "''"),
        ({"src": "/srv"}, "'src'"),
        ({"$HOME/src": "/srv"}, "'$HOME/src'"),
        ({"/home/me": ""}, "''"),
        ({"/home/me": "~/src"}, "'~/src'"),
        ({"/home/me": "/srv", "/home/you": "/srv/"}, "'/srv' for two folders"),
    ],
)
def test_folders_that_are_none(folders: dict[str, str], named: str) -> None:
    fault = PathMap("box", folders).fault
    assert fault
    assert fault.startswith(f"servers.box.paths has {named}")
    assert ":Eca restart" in fault
    assert PATHS.fault is None
    assert PathMap("box", {"/": "/host", "~": "/home", "~/src": "/srv"}).fault is None


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1)
FOLDERS = st.sampled_from(["/home/me/src", "/home/me/src/deep", "/home/me/a b"])
STEPS = NAMES.filter(lambda it: it not in (".", ".."))


@given(FOLDERS, st.lists(STEPS, max_size=3), st.sampled_from(["path", "uri"]))
def test_all_paths_come_back(folder: str, parts: list[str], key: str) -> None:
    from eca_nvim.paths import uri_of

    path = "/".join((folder, *parts))
    message = {"params": {key: uri_of(path) if key == "uri" else path}}
    sent = PATHS.to_agent(message)
    assert sent != message
    assert PATHS.from_agent(sent) == message


def test_messages_are_mapped_as_they_are_framed_whatever_their_bytes() -> None:
    framing = MappedFraming(LineFraming(), PATHS)
    sent = framing.encode(json.dumps({"path": "/home/me/src/\udcff", "x": "é"}).encode())
    assert json.loads(sent) == {"path": "/srv/src/\udcff", "x": "é"}
    (read,) = framing.feed(b'{"path": "/srv/src/\xff", "text": "\xff"}\n')
    assert isinstance(read, bytes)
    assert msgspec.json.decode(read) == {"path": "/home/me/src/\ufffd", "text": "\ufffd"}
    assert framing.feed(b"[1, \n") == LineFraming().feed(b"[1, \n")


@pytest.mark.parametrize("more", ["[" * depth + "]" * depth for depth in (600, 990, 2000)])
def test_what_is_nested_too_deeply_reaches_nobody(more: str) -> None:
    (read,) = MappedFraming(LineFraming(), PATHS).feed(
        b'{"path":"/etc/x","it":%b}\n' % more.encode()
    )
    assert isinstance(read, bytes)
    assert b"/etc/x" not in read or b"box:/etc/x" in read


def test_a_number_that_is_too_long_hides_no_path() -> None:
    """Our codec reads it as text."""
    body = b'{"path":"/etc/x","text":"\xff","it":%b}\n' % (b"1" * 5000)
    (read,) = MappedFraming(LineFraming(), PATHS).feed(body)
    assert isinstance(read, bytes)
    assert b"box:/etc/x" in read
