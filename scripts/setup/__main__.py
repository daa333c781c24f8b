"""`python3 -m scripts.setup`: prepares everything that checks and tests need."""

import sys

from scripts.setup.steps import ROOT, for_tests, prepare

sys.exit(prepare(for_tests(ROOT), ROOT))
