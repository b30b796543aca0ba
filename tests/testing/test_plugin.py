import textwrap
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]
PLUGIN = "policy_engine.testing.plugin"
POLICY = (
    "policy: http://ex.com/{}\ntarget: http://ex.com/T\nassignee: http://ex.com/A\naction: read\n"
)


@pytest.fixture
def folder(pytester):
    pytester.makeini("[pytest]\npolicies = policies/*.yaml policies/*more*.yaml\n")
    for name in ("policies/one.yaml", "policies/two-more.policy.yaml"):
        file = pytester.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(POLICY.format(file.name[:3]))
    return pytester


def run(folder, text, *options):
    folder.makepyfile(textwrap.dedent(text))
    # Where the package is installed, pytest loads the plugin by itself.
    is_loaded = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
    plugin = () if is_loaded else ("-p", PLUGIN)
    return folder.runpytest(*plugin, "-p", "no:xdist", *options)


def test_every_policy_has_a_fixture(folder):
    text = """
        def test_one(one_policy, two_more_policy):
            assert one_policy.uid == "http://ex.com/one"
            assert two_more_policy.uid == "http://ex.com/two"
    """
    run(folder, text).assert_outcomes(passed=1)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("pattern", ["/abs/*.yaml", '""', "**.yaml", "none/*.yaml", ".."])
def test_a_pattern_that_is_none_or_matches_nothing_is_an_error_of_use(folder, pattern):
    folder.makeini(f"[pytest]\npolicies = {pattern}\n")
    result = run(folder, "def test_nothing(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: policies: *"])
    assert "Traceback" not in str(result.stderr)


def test_a_test_of_a_policy_runs_for_each(folder):
    text = """
        from policy_engine.testing import assert_valid

        def test_valid(policy):
            assert_valid(policy)
    """
    result = run(folder, text, "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_valid?policies/one.yaml?*"])


def test_a_policy_that_is_not_valid_fails_with_every_problem(folder):
    (folder.path / "policies" / "one.yaml").write_text("policy: http://ex.com/x\ntargte: y\n")
    text = """
        from policy_engine.testing import assert_valid

        def test_valid(policy):
            assert_valid(policy)

        def test_fixture(one_policy):
            pass
    """
    result = run(folder, text)
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*one.yaml:2:*targte*"])


def test_tests_may_have_a_policy_of_their_own(folder):
    text = """
        import pytest

        @pytest.fixture
        def policy():
            return 1

        def test_own(policy):
            assert policy == 1
    """
    run(folder, text).assert_outcomes(passed=1)
    text = """
        import pytest

        @pytest.mark.parametrize("policy, n", [(1, 1)])
        def test_own(policy, n):
            assert policy == n
    """
    run(folder, text).assert_outcomes(passed=1)


def test_two_policies_of_one_name_are_refused(folder):
    folder.makeini("[pytest]\npolicies = policies/*.yaml more/*.yaml\n")
    (folder.path / "more").mkdir()
    (folder.path / "more" / "one.yaml").write_text(POLICY.format("x"))
    result = run(folder, "def test_a(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*Two policies have one name*one.yaml*"])


def test_without_policies_nothing_changes(pytester):
    run(pytester, "def test_a(): pass").assert_outcomes(passed=1)
    result = run(pytester, "def test_a(policy): pass")
    result.stdout.fnmatch_lines(["*fixture 'policy' not found*"])
