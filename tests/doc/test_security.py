"""Every claim of the page on security names tests that exist."""

import ast
import re
from pathlib import Path

import pytest
from tests.doc import documents
from tests.support.launch import REPOSITORY

PAGE = (REPOSITORY / "doc" / "security.md").read_text(encoding="utf-8")
CLAIMS = [" ".join(claim.split()) for claim in re.findall(r"(?ms)^- (.*?)(?=^- |^#|\n\n|\Z)", PAGE)]
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_claim_names_tests_that_exist(claim: str) -> None:
    named = TEST.findall(claim)
    assert named, f"no test is named: {claim}"
    for path, function in named:
        assert function in functions_of(REPOSITORY / path)


def test_no_page_promises_what_an_agent_does_without_asking() -> None:
    for page in (documents.README, documents.SMALL[1]):
        text = " ".join(page.read_text(encoding="utf-8").split())
        assert re.search(r"agent (runs|does) without asking is its own choice", text), page
