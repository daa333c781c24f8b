"""Every regular expression of the plugin, and why none of them can take for ever.

A pattern is linear when at each place there is one way to go on: repeats that follow each other
begin with different characters, and none holds another. What needs more is read by hand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from tests.worst_cases import WORST

import eca_nvim
from eca_nvim.chat.text.safe_text import ALWAYS, BLANKS, JOINERS, SOMETIMES
from eca_nvim.demo.scenes import SCENES

ROOT = Path(eca_nvim.__path__[0])
NO_REPEAT = "it repeats nothing"
BOUNDED = "its repeats are bounded"
APART = "repeats that follow each other share no character, and each beginning is met once"
AT_ONE_PLACE = "tried at one place only, and its repeats share no character"
DEMO = "eca_nvim.demo.scenes"

ALLOWED: dict[str, dict[str | bytes, str]] = {
    "eca_nvim.agents.acp.requests.acts": {
        r"""(?:[\w@%+=:,./ \t-]|'[^']*'|"[^"$`\\!]*")*""": "its three ways begin apart",
    },
    "eca_nvim.agents.acp.prompt": {
        r"The cursor is in line \d{1,9}, column \d"
        r"|Selected in /[^\n:]{1,4096}: from line \d"
        r"|(?:\A|\n)/[^\n(]{1,4096}\(@[^\n)]{1,4096}\):\n"
        r"|\[@[^]\n]{1,4096}\]\(file://"
        r"|\[Resource link: file://"
        r'|<context ref="file://'
        r"|<conversation-so-far>\n": BOUNDED,
        r"The cursor is in line \d|Selected in /": NO_REPEAT,
    },
    "eca_nvim.agents.eca.contents": {
        r"\(attempt \d+/\d+\)": APART,
    },
    "eca_nvim.agents.eca.older.draft": {
        "`+": APART,
        r"[^\w+#.-]": NO_REPEAT,
    },
    "eca_nvim.agents.eca.replay": {
        r"\s*(?:(?:I|A user hook) rejected one or more tool calls"
        r"|The conversation was compacted/summarized, consider this summary:)": AT_ONE_PLACE,
        r"Background job job-\d{1,9} \(": BOUNDED,
    },
    "eca_nvim.chat.model.hunk_choice": {"~~~+": APART},
    "eca_nvim.chat.vocabulary.completion": {r"\s*/[^\s/]*(?:\s|\Z)": AT_ONE_PLACE},
    "eca_nvim.agents.eca.prompts": {
        r"/[^\s:]+": AT_ONE_PLACE,
        r"@[/~.][^\s:]+(?::L\d+-L\d+)?": APART,
    },
    "eca_nvim.agents.typed_tokens": {
        r"(?<!\S)\(?(?=[@#])": NO_REPEAT,
        r"[\w/\\]": NO_REPEAT,
    },
    "eca_nvim.agents.eca.known_tools": {
        r'"(path|command|pattern|question|source|symbol|agent|url|file|name)"\s*:\s*'
        r'("(?:[^"\\]|\\.)*")': "of so many characters at most, its two ways begin apart",
    },
    "eca_nvim.chat.render.whole_chat": {
        "^ *(`{3,})": APART,
        r"^( {0,3})(#{2} {0,3}(?:User|Assistant)\b)": BOUNDED,
    },
    "eca_nvim.chat.text.output": {r"\\.": NO_REPEAT},
    "eca_nvim.chat.render.title": {r"[\w.$-]+": AT_ONE_PLACE},
    "eca_nvim.chat.text.safe_text": {
        f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{ALWAYS}{SOMETIMES}]": NO_REPEAT,
        r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
        r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
        r"|\x1b(?![\[\]PX^_])[ -/]{0,8}[0-~]"
        r"|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]": "bounded, but for one that ends where any begins",
        "(?:\r|[\ud800-\udbff]"
        "|\x1b(?:\\[[0-?]{0,64}[ -/]{0,8}|[\\]PX^_][^\x07\x1b\x9c]{0,256}|[ -/]{0,8})"
        "|\x9b[0-?]{0,64}[ -/]{0,8})\\Z": BOUNDED,
        "[\ud800-\udbff][\udc00-\udfff]": NO_REPEAT,
        r"[ \t\n\v\f\r]+": "nothing follows its repeat",
        r"\x1b\[(?:([0-9;:]{0,64})m|([02]?)K)|(\r)": BOUNDED,
        f"[{ALWAYS}]": NO_REPEAT,
        f"[{SOMETIMES}]": NO_REPEAT,
        f"[{JOINERS}]": NO_REPEAT,
        f"[{BLANKS}]": NO_REPEAT,
    },
    "eca_nvim.jsonrpc.framing": {
        rb"[ \t]*:[ \t]*(\S*)[ \t]*\r?": "of 128 bytes at most",
        rb"\d{1,18}": BOUNDED,
        rb"content-type[ \t]*:[^\r\n]*?charset=\"?([\w.-]+)": AT_ONE_PLACE,
        rb"Content-Length: (\d{1,18})\r\n\r\n": BOUNDED,
        rb"content-[a-z-]+[ \t]*:": AT_ONE_PLACE,
    },
    "eca_nvim.path_risks": {
        "'|'.join(map(_expression, self._patterns))": "what is between two stars is looked for once"
    },
    "eca_nvim.redaction": {
        r"authorization|cookie|bearer|token|secret|pass(?:word|wd|phrase)?|key"
        r"|sk-|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|xapp-|akia|hooks\.slack\.com/services/"
        r"|[?&]sig=|(?-i:ya29\.|pypi-AgE|ASIA|AIza|SG\.|eyJ|[prs]k_live_|[prs]k_test_|whsec_|npm_|hf_"
        r"|gsk_|xai-|pplx-|dop_v1_|shpat_|PRIVATE KEY-----)|://"
        r"|[\"']name(?=\\*[\"'])": AT_ONE_PLACE,
        r"""\\*["']""": AT_ONE_PLACE,
        r"""\\+["']?|["'\r\n]""": "a run of backslashes is taken whole",
        r"[ \t]*(?:[=:]>?|(?:%22)?%3[ADad])[ \t]*"
        r"|(?:[ \t]+|[ \t]*(?:\n|\\+n)[ \t]+)(?=\\*[\"'])": AT_ONE_PLACE,
        r"[^\r\n]+": AT_ONE_PLACE,
        r"\S+": AT_ONE_PLACE,
        r"[\w.~+/=%-]+": AT_ONE_PLACE,
        r"[a-zA-Z0-9]+": AT_ONE_PLACE,
        r"[^\s/@:\"']*:([^\s/@\"']+)@": AT_ONE_PLACE,
        r"[ \t]+": AT_ONE_PLACE,
        r"(?:^|[\s\"'])--[^\s\"']*\Z": "searched in so many characters at most",
        r"[ \t]*,[ \t]*(?=\\*[\"'])": AT_ONE_PLACE,
        r"""\\*["']\s*:\s*\\*["'][^"'\\]*\\*["']\s*,\s*\\*["']value\\*["']\s*:\s*""": AT_ONE_PLACE,
    },
    "eca_nvim.session.completion.completion": {
        r"[A-Za-z][\w+.-]*://[!-~]*[A-Za-z0-9/]": AT_ONE_PLACE,
    },
    "eca_nvim.session.completion.names": {
        rb"[^\0]+": "its repeat ends at the byte that it excludes",
        rb"[\0-\x1f\x7f]": NO_REPEAT,
        "[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]": NO_REPEAT,
        "_in_order(query)": "its repeats are possessive, and end at the letter they exclude",
    },
    "eca_nvim.transport.process": {
        r"(?i)(?!\s).*?(error|fatal|cannot|unknown|invalid|unexpected"
        r"|unrecogni[sz]ed)": AT_ONE_PLACE,
    },
    "eca_nvim.session.templates.expansion": {"`{3,}": APART, r"[\w+-]{1,30}": BOUNDED},
    "eca_nvim.session.templates.library": {
        r"([A-Za-z_-]{1,40})[ \t]*:(?:[ \t]+(.*))?": "tried at one place; the last takes all",
        r"\w[\w.-]{0,59}": BOUNDED,
    },
    "eca_nvim.session.requests.pattern_process": {
        "pattern": "the user's own, in a process that the system ends"
    },
    DEMO: {
        "[0-9]{1,9}": BOUNDED,
        **dict.fromkeys((pattern.pattern for pattern in SCENES), NO_REPEAT),
    },
}
"""Patterns and why they are linear, by module."""


NAMED = re.compile(r"\b(?:re|regex)\b")
"""Names that a file has if it makes patterns."""


def compiled() -> Iterator[tuple[str, ast.Call]]:
    """Find the calls of functions of `re`, by module."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        if not NAMED.search(text):  # each worker looks: to parse all takes it a second
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"))):
                    yield module, node
                case ast.ImportFrom(module="re") | ast.Import(names=[ast.alias(name="regex")]):
                    pytest.fail(f"{path}: patterns are made with `re.compile`")


def pattern_of(module: str, call: ast.Call) -> str | bytes:
    """Return the pattern that a call compiles, or the name of what only the call knows."""
    argument = call.args[0]
    try:
        value = eval(
            compile(ast.Expression(argument), "pattern", "eval"), vars(import_module(module))
        )
    except NameError:
        return ast.unparse(argument)
    assert isinstance(value, str | bytes)
    return value


CALLS = list(compiled())


def test_patterns_are_compiled_and_nothing_else() -> None:
    """What is compiled is found by this test; `re.search` and its kin take a pattern unseen."""
    inline = [
        f"{module}:{call.lineno}"
        for module, call in CALLS
        if isinstance(call.func, ast.Attribute) and call.func.attr != "compile"
    ]
    assert not inline


def test_each_pattern_is_allowed_for_a_reason() -> None:
    found: dict[str, set[str | bytes]] = {}
    for module, call in CALLS:
        found.setdefault(module, set()).add(pattern_of(module, call))
    assert found == {module: set(reasons) for module, reasons in ALLOWED.items()}


def test_what_reads_by_a_pattern_is_measured_at_its_worst() -> None:
    ours = set(ALLOWED) - {DEMO, "eca_nvim.session.requests.pattern_process"}
    assert ours <= set(WORST)
