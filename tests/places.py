"""Where the checkout is, and the data that stands beside it."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
POLICIES = ROOT / "policies"
SHARED_DATA = ROOT.parent / "shared" / "data"
