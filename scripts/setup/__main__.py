"""`python3 -m scripts.setup` installs everything that checks and tests need.

`python3 -m scripts.setup plugin` installs only what the plugin needs in a user's own Neovim: it is
the build step of an installation. `python3 -m scripts.setup agents` adds real agents.
"""

import sys

from scripts.setup.steps import ROOT, for_agents, for_plugin, for_tests, prepare

WANTED = {(): for_tests, ("plugin",): for_plugin, ("agents",): for_agents}

wanted = WANTED.get(tuple(sys.argv[1:]))
if wanted is None:
    sys.exit("usage: python3 -m scripts.setup [plugin | agents]")
sys.exit(prepare(wanted(ROOT), ROOT))
