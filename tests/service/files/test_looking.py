import json

from policy_engine.service.files.looking import look

ZIP = {"name": "zip", "generalization": "prefix"}


def test_a_file_is_profiled_and_its_columns_are_generalised(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("zip\n12345\n12346\n")
    [column] = look(path, "{}")["columns"]
    assert (column["name"], column["role"]) == ("zip", "quasi-identifier")
    asked = {"column": ZIP, "taxonomy": "", "name": "t.csv"}
    levels = look(path, json.dumps(asked))["levels"]
    assert [one["group_count"] for one in levels] == [2, 1, 1, 1, 1, 1]
