"""Texts with what is hidden in the log and what is not, for both halves of the plugin."""

from typing import Final

LETTERS: Final = "0123456789abcdefABCDEF"

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
    f"https://example.com/v1?key={LETTERS} 403": "https://example.com/v1?key=[hidden] 403",
    f"&sig={LETTERS}%2Babc%3D&se=1": "&sig=[hidden]&se=1",
    f"/x?next=api_key%3D{LETTERS} y": "/x?next=api_key%3D[hidden] y",
    f"%22token%22%3A%22{LETTERS}": "%22token%22%3A[hidden]",
    f"AIzaSy{LETTERS}_-1 x": "AIza[hidden] x",
    f"(ASIA{LETTERS})": "(ASIA[hidden])",
    f"ya29.a0_{LETTERS}": "ya29.[hidden]",
    f"sk_live_{LETTERS}, rk_test_{LETTERS}": "sk_live_[hidden], rk_test_[hidden]",
    f"whsec_{LETTERS}": "whsec_[hidden]",
    f"npm_{LETTERS} pypi-AgEI{LETTERS}": "npm_[hidden] pypi-AgE[hidden]",
    f"hf_{LETTERS} gsk_{LETTERS}": "hf_[hidden] gsk_[hidden]",
    f"xai-{LETTERS} pplx-{LETTERS}": "xai-[hidden] pplx-[hidden]",
    f"shpat_{LETTERS} dop_v1_{LETTERS}": "shpat_[hidden] dop_v1_[hidden]",
    f"SG.{LETTERS}.{LETTERS}-_1": "SG.[hidden]",
    f"eyJ{LETTERS}.eyJ{LETTERS}.{LETTERS}-x": "eyJ[hidden]",
    f"xapp-1-A0-{LETTERS}": "xapp-[hidden]",
    f"https://hooks.slack.com/services/T0/B0/{LETTERS}": "https://hooks.slack.com/services/[hidden]",
    "postgres://me:hunter2@host:5432/db": "postgres://me:[hidden]@host:5432/db",
    "redis://:hunter2@host": "redis://:[hidden]@host",
    "tool --api-key abc --token 'a b' -v": "tool --api-key [hidden] --token '[hidden]' -v",
    "api_key => 'abc'": "api_key => '[hidden]'",
    "API key: abc": "API key: [hidden]",
    "passphrase: abc": "passphrase: [hidden]",
    "DB_PASS=abc": "DB_PASS=[hidden]",
    "Set-Cookie: sid=abc; Path=/\nx": "Set-Cookie: [hidden]\nx",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY----- x": (
        "-----BEGIN RSA PRIVATE KEY-----[hidden]-----END RSA PRIVATE KEY----- x"
    ),
    r'"-----BEGIN PRIVATE KEY-----\nMIIE"': '"-----BEGIN PRIVATE KEY-----[hidden]',
    '{"name":"MODE","value":"a b"},{"name":"N","value":"2"}': (
        '{"name":"MODE","value":"[hidden]"},{"name":"N","value":"[hidden]"}'
    ),
    '{"name": "X-Api-Key", "value": "a\\"b", "n": 1}': (
        '{"name": "X-Api-Key", "value": "[hidden]", "n": 1}'
    ),
    "[{'name': 'Authorization', 'value': 'Bearer abc'}]": (
        "[{'name': 'Authorization', 'value': '[hidden]'}]"
    ),
    r'"{\"name\":\"MODE\",\"value\":\"abc\"}"': r'"{\"name\":\"MODE\",\"value\":\"[hidden]\"}"',
    '"name": "MODE",\n  "value": "abc"\n': '"name": "MODE",\n  "value": "[hidden]"\n',
    '["--api-key","a b","-v"]': '["--api-key","[hidden]","-v"]',
    "['tool', '--token', 'abc']": "['tool', '--token', '[hidden]']",
    r'"[\"--password\", \"abc\"]"': r'"[\"--password\", \"[hidden]\"]"',
}
"""Texts, and what is left of them."""

KEPT: Final = (
    "",
    "a plain line of 2 words",
    "task-0123456789-runner and import sk-learn",
    "monkey: banana, key: <C-s>, keyword=x",
    '{"maxTokens": 5, "tokens": [1], "sessionTokens": 3}',
    "KeyError: 'model'",
    "npm_config_cache=/x hf_hub_download(repo) xai-grok-2 pplx-70b-online Asia/Tokyo",
    "https://host:8080/a@b http://user@host mailto:a:b see https://x/y: it is open",
    "a bypass: none, the test will pass: yes, it passed --tokens 5 --help",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "-----END PRIVATE KEY-----\nplain",
    "no secret here, nor a bearer",
    '{"name":"read","arguments":{"value":"x"}}, {"name":1,"value":"x"}, {"value":"x","name":"a"}',
    '["token", "abc"], {"required":["--fast","key"]}',
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
    "://a:",
    "eyJ0",
    "--token ",
    "-----BEGIN PRIVATE KEY-----",
    "PRIVATE KEY-----",
    "_pass",
    '"name',
    '"name":"',
    '"name" : "a" , ',
    '"name":"a","value":"',
    '"--token",',
)
"""What costs most when it is repeated (`tests/worst_cases.py`, `tests/ui/test_linear.py`)."""
