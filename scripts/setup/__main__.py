"""`python3 -m scripts.setup` installs everything that checks and tests need.

`python3 -m scripts.setup plugin` installs only what the plugin needs in a user's own Neovim: it is
the build step of an installation. With a folder behind it, the environment goes there: for a plugin
in a folder that cannot be written. `python3 -m scripts.setup python` begins with the Python
environment, and `python3 -m scripts.setup agents` adds real agents, the newest of each.
"""

import sys
from pathlib import Path

from scripts.setup.steps import ROOT, for_plugin, for_tests, prepare, prepare_agents

match sys.argv[1:]:
    case []:
        sys.exit(prepare(for_tests(ROOT), ROOT))
    case ["python"]:
        sys.exit(prepare(for_tests(ROOT)[:1], ROOT))
    case ["plugin"]:
        sys.exit(prepare(for_plugin(ROOT), ROOT))
    case ["plugin", folder]:
        place = Path(folder).absolute()
        sys.exit(prepare(for_plugin(ROOT, place), place))
    case ["agents"]:
        sys.exit(prepare_agents(ROOT))
sys.exit("usage: python3 -m scripts.setup [python | plugin [FOLDER] | agents]")
