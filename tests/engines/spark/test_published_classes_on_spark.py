"""Spark, as the local engine, holds bounds on the classes as they are published."""

import pytest
from both import both, check_same
from building import column

pytestmark = pytest.mark.usefixtures("few_rows")
TREE = {"http://x.org/t": "250.1;A;*\n250.10;B;*\n3;A;*\n4;B;*\n"}


@pytest.mark.nightly
def test_persons_in_two_classes_of_equal_cells_are_diverse_there_together(cluster):
    table = {
        "q": [1, 1, 1, 1, 1, 2],
        "s": ["u", "u", "v", "v", "w", "w"],
        "who": ["2", "3", "2", "2", "3", "0"],
    }
    asked = {"method": "l-diversity", "k": 2, "l": 2, "privacyUnit": "who"}
    asked |= {"quasi": ["q"], "sensitive": ["s"], "partitioning": "relaxed"}
    check_same(both(cluster, table, **asked))


@pytest.mark.nightly
def test_equal_numbers_written_differently_stand_under_nodes_of_their_own(cluster, tmp_path):
    rows = [("250.1", "3"), ("250.10", "4")] * 3
    text = "q,row\n" + "".join(f"{q},{n}\n" for n, q in enumerate(q for pair in rows for q in pair))
    (tmp_path / "in.csv").write_text(text)
    (tmp_path / "t.csv").write_text(TREE["http://x.org/t"])
    quasi = column("q", generalization="taxonomy", taxonomy={"@id": "http://x.org/t"})
    asked = {"method": "k-anonymity", "k": 4, "quasi": [quasi], "insensitive": ["row"]}
    taxonomies = {"http://x.org/t": tmp_path / "t.csv"}
    runs = both(cluster, tmp_path / "in.csv", taxonomies=taxonomies, **asked)
    check_same(runs)
    cells = dict(zip(*(runs.local.table[name].to_pylist() for name in ("row", "q")), strict=True))
    assert [cells[row] for row in (0, 2)] == ["A", "B"]
