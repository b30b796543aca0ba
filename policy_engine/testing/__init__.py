"""For the tests of those who release data: `assert_release_holds`, and a plugin of pytest."""

from policy_engine.testing.assertions import assert_release_holds, assert_valid

__all__ = ["assert_release_holds", "assert_valid"]
