"""What is hidden in a text that is logged, and what is not: for both sides of the plugin."""

from typing import Final

HIDDEN: Final = {
    "sk-ant-api03-AbC_123": "sk-[hidden]",
    "the key sk-proj-Abc123, and more": "the key sk-[hidden], and more",
    r"key:\nsk-ant-SECRET123 end": r"key:\nsk-[hidden] end",
    "\x1b[32msk-ant-SECRET123\x1b[0m": "\x1b[32msk-[hidden]\x1b[0m",
    "ghp_0123456789abcdef": "ghp_[hidden]",
    "https://gho_0123456789abcdef@github.com": "https://gho_[hidden]@github.com",
    "github_pat_11ABCDEF_0123": "github_pat_[hidden]",
    "xoxb-1234-5678-abcd": "xoxb-[hidden]",
    "AKIAIOSFODNN7EXAMPLE": "AKIA[hidden]",
    "Bearer eyJh.bGci-Oi_J9/x==": "Bearer [hidden]",
    "bearer  abc": "bearer  [hidden]",
    "ANTHROPIC_API_KEY=abc PATH=/bin": "ANTHROPIC_API_KEY=[hidden] PATH=/bin",
    "GITHUB_TOKEN=abc;def\nUSER=me": "GITHUB_TOKEN=[hidden]\nUSER=me",
    "client_secret='a b c', x": "client_secret='[hidden]', x",
    "DB_PASSWORD = hunter2 x": "DB_PASSWORD = [hidden] x",
    "DB_PASSWD=hunter2": "DB_PASSWD=[hidden]",
    "PASSWORD=": "PASSWORD=",
    "?access_token=abc&x=1 next": "?access_token=[hidden] next",
    "Authorization: Basic dXNlcjpwYXNz x\nHost: y": "Authorization: [hidden]\nHost: y",
    "x-api-key: abc": "x-api-key: [hidden]",
    '{"apiKey": "a b", "model": "m"}': '{"apiKey": "[hidden]", "model": "m"}',
    '{"api_key":"a\\"b","model":"m"}': '{"api_key":"[hidden]","model":"m"}',
    "{'secretKey': 'abc', 'n': 1}": "{'secretKey': '[hidden]', 'n': 1}",
    r'"{\"apiKey\": \"abc\", \"n\": 1}"': r'"{\"apiKey\": \"[hidden]\", \"n\": 1}"',
    '{"Authorization":"Bearer abc","n":1}': '{"Authorization":"[hidden]","n":1}',
    '{:api-key "abc def" :n 1}': '{:api-key "[hidden]" :n 1}',
    '"token": "never ends\nnext': '"token": "[hidden]\nnext',
    "API_KEY=one SECRET=two ghp_0123456": "API_KEY=[hidden] SECRET=[hidden] ghp_[hidden]",
}
"""Texts, and what is left of them."""

KEPT: Final = (
    "",
    "a plain line of 2 words",
    "task-0123456789-runner and import sk-learn",
    "monkey: banana, key: <C-s>, keyword=x",
    '{"maxTokens": 5, "tokens": [1], "sessionTokens": 3}',
    "KeyError: 'model'",
    "no secret here, nor a bearer",
    "\u017fk-0123456789 \u212aEY=é",
)
"""Texts in which nothing is hidden."""

WORST: Final = (
    "ask-",
    "sk-a ",
    "key",
    "token",
    'token "',
    '"token":"a",',
    "token='\\",
    "\\",
    "bearer ",
    "authorization:",
)
"""What costs most when it is repeated (`tests/worst_cases.py`, `tests/ui/test_linear.py`)."""
