"""`python3 -m scripts.setup` installs everything that checks and tests need.

`python3 -m scripts.setup plugin` installs only what the plugin needs in a user's own Neovim: it is
the build step of an installation. `python3 -m scripts.setup python` begins with the Python
environment, and `python3 -m scripts.setup agents` adds real agents, the newest of each.
"""

import sys

from scripts.setup.steps import ROOT, for_plugin, for_tests, prepare, prepare_agents

WANTED = {
    (): lambda: prepare(for_tests(ROOT), ROOT),
    ("python",): lambda: prepare(for_tests(ROOT)[:1], ROOT),
    ("plugin",): lambda: prepare(for_plugin(ROOT), ROOT),
    ("agents",): lambda: prepare_agents(ROOT),
}

wanted = WANTED.get(tuple(sys.argv[1:]))
if wanted is None:
    sys.exit("usage: python3 -m scripts.setup [python | plugin | agents]")
sys.exit(wanted())
