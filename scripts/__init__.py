"""Commands of the checkout: set-up and `make chat`. Standard library only."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - a clear line instead of a syntax error later
    raise SystemExit("Python 3.11 or newer is needed, python3 is " + sys.version.split()[0])
