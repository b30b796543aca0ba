"""A first policy is one that can be carried out, with its files and its tests."""

import pytest

from policy_engine import apply_policy, draft_policy, run_policy_tests
from policy_engine.api.drafting import DraftedPolicy
from policy_engine.errors import PolicyEngineError

ROWS = "name,zip,age,city,status\n" + "".join(
    f"Person {n},{20_100 + n % 70},{20 + n % 50},City {n % 60},{'paid' if n % 3 else 'due'}\n"
    for n in range(240)
)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "clients 2026.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def drafted(data):
    return draft_policy(data)


def test_a_first_policy_is_carried_out_and_tested(drafted, data, tmp_path):
    written = drafted.write(tmp_path / "clients.yaml")
    assert [path.name for path in written] == [
        "clients.yaml",
        "clients-2026-tests.yaml",
        "clients-2026-city.csv",
    ]
    release = apply_policy(written[0], {"": data})
    assert "target: clients-2026\n" in written[0].read_text()
    assert set(release.table.column_names) == {"zip", "age", "city", "status"}
    assert run_policy_tests(written[1]).passed


def test_settings_are_tried_and_one_is_chosen(drafted):
    assert isinstance(drafted, DraftedPolicy)
    assert [run.setting["k"] for run in drafted.runs] == [5, 10, 25]
    assert f"k: {drafted.chosen_k}\n" in drafted.policy.text


def test_a_first_policy_is_written_in_odrl_by_its_ending(drafted, tmp_path):
    written = drafted.write(tmp_path / "clients.jsonld")
    assert '"odrl:anonymize"' in written[0].read_text()
    assert run_policy_tests(written[1]).passed


def test_nothing_is_written_over(drafted, tmp_path):
    (tmp_path / "clients-2026-city.csv").write_text("mine")
    with pytest.raises(PolicyEngineError, match="O001"):
        drafted.write(tmp_path / "clients.yaml")
    assert not (tmp_path / "clients.yaml").exists()


@pytest.mark.parametrize(
    ("text", "parts", "code"),
    [(ROWS, {"zap": "sensitive"}, "C005"), ("a\n1\n1\n1\n", {}, "C010")],
)
def test_a_table_without_a_policy_is_refused(text, parts, code, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(PolicyEngineError) as error:
        draft_policy(path, parts=parts)
    assert error.value.code == code


def test_an_unnamed_column_is_left_out_of_a_policy_that_is_carried_out(tmp_path):
    rows = ROWS.splitlines()
    path = tmp_path / "index.csv"
    path.write_text("\n".join([f",{rows[0]}", *(f"{n},{row}" for n, row in enumerate(rows[1:]))]))
    drafted = draft_policy(path, k=5)
    assert "#   (no name): It has no name" in drafted.policy.text
    written = drafted.write(tmp_path / "index.yaml")
    assert "zip" in apply_policy(written[0], {"": path}).table.column_names
    with pytest.raises(PolicyEngineError, match="has no name"):
        draft_policy(path, parts={"": "sensitive"})


def test_rows_of_one_person_are_not_counted_as_several(tmp_path):
    lines = [f"{n % 40 + 500},{20 + n % 40},{20_100 + n % 40},{n % 3}" for n in range(400)]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["mrn,age,zip,outcome", *lines]))
    drafted = draft_policy(path, k=5)
    assert "privacyUnit: mrn\n" in drafted.policy.text
    assert (drafted.unique_kept, drafted.warnings) == (0, ())
    path.write_text("\n".join(line.partition(",")[2] for line in ["mrn,age,zip,outcome", *lines]))
    [warning] = draft_policy(path, k=5).warnings
    assert "privacyUnit" in warning
