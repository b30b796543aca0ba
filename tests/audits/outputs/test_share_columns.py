"""Percentages beside counts: they leave with the counts that they are of, or not at all."""

import pytest

from policy_engine.api.checking_outputs import check_tables
from policy_engine.audits.outputs.reading_tables import read_finished

WHOLE = "region,n,%\nnorth,60,50.0\nsouth,36,30.0\nwest,24,20.0\nTotal,120,100.0\n"
FEW = "region,n,%\nnorth,75,62.5\nsouth,36,30.0\nwest,9,7.5\nTotal,120,100.0\n"


def shares_of(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    return [one.name for one in read_finished(tmp_path / "t.csv").shares]


def checked(tmp_path, text, **options):
    """Return the rows of what may leave of a table, and the reasons against the rest."""
    (tmp_path / "t.csv").write_text(text)
    result = check_tables(tmp_path / "t.csv", profile="sacro", kind="counts", **options)
    [output] = result.outputs
    return result.is_released, output.reasons, str(output).splitlines()[1:]


def test_shares_of_counts_that_are_all_shown_leave_with_them(tmp_path):
    released, reasons, lines = checked(tmp_path, WHOLE)
    assert (released, reasons) == (True, {})
    assert [line.split() for line in lines][:2] == [["region", "n", "%"], ["north", "60", "50.0"]]


def test_shares_of_withheld_counts_are_withheld_and_those_of_withheld_wholes(tmp_path):
    released, reasons, lines = checked(tmp_path, FEW)
    assert not released
    assert reasons.keys() == {"K049"}
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:5]}
    assert rows["west"] == [".", "."]
    # Besides, one count is withheld that the total and the other would tell it by.
    blank = [name for name in ("north", "south") if rows[name] == [".", "."]]
    assert len(blank) == 1 or rows["Total"] == [".", "."]
    has_whole = rows["Total"][0] != "."
    assert all((share != ".") == (n != "." and has_whole) for n, share in rows.values())


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        (WHOLE.replace("Total,120,100.0\n", ""), ["%"]),
        (WHOLE.replace("50.0", "0.5").replace("30.0", "0.3").replace("20.0", "0.2")
         .replace("100.0", "1.0"), ["%"]),
        (WHOLE.replace("50.0", "50.0%").replace("30.0", "30.0 %"), ["%"]),
        ("region,men,women,all,share\nA,20,60,80,0.25\nB,30,30,60,0.5\n", ["share"]),
        (WHOLE.replace("50.0", "50.2"), []),
        (WHOLE.replace("36,30.0", ",30.0"), []),
        (WHOLE.replace("Total,120", "Total,"), []),
        ("region,n,m\nnorth,60,50\nsouth,60,50\n", []),
        ("region,pct\nnorth,50.5\nsouth,49.5\n", []),
    ],
)  # fmt: skip
def test_shares_are_those_of_shown_counts_and_wholes(tmp_path, text, shares):
    assert shares_of(tmp_path, text) == shares


def test_shares_of_what_is_not_shown_are_for_review(tmp_path):
    released, reasons, _ = checked(tmp_path, WHOLE.replace("36,30.0", ",30.0"))
    assert not released
    assert "K021" in reasons


def test_shares_of_rows_are_withheld_with_the_whole_of_their_row(tmp_path):
    text = "region,men,women,all,share\nA,20,60,80,0.25\nB,30,30,60,0.5\nC,40,3,43,0.930\n"
    *_, lines = checked(tmp_path, text)
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:4]}
    assert rows["A"][-1] == "0.25"
    assert rows["C"][1] == "."
    assert (rows["C"][-1] == ".") == ("." in (rows["C"][0], rows["C"][2]))
