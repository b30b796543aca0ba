"""Which tables may be given to be checked, and what leaves of them."""

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from output_checked import TABLE, policy_with

from policy_engine.api.checking_outputs import TableRecipe, check_tables
from policy_engine.errors import PolicyEngineError


def test_one_table_is_given_by_its_path_and_none_is_refused(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("region,n\nA,30\nB,40\n")
    assert check_tables(path, profile="sacro", kind="counts").is_released
    assert check_tables(str(path), profile="sacro", kind="counts").is_released
    for tables in ([], None, 5):
        with pytest.raises(PolicyEngineError, match=r"K025|U002"):
            check_tables(tables, profile="sacro")


def crossed(margins):
    """Return a crossing of regions and sectors as pandas makes it, of which one cell is small."""
    frame = pd.DataFrame(ROWS, columns=["region", "sector", "pay"])
    return pd.crosstab(frame.region, frame.sector, margins=margins)


FRAMES = {
    "index of pandas": crossed,
    "index of categories": lambda margins: crossed(margins).set_axis(
        pd.CategoricalIndex(crossed(margins).columns), axis=1
    ),
    "columns of pandas": lambda margins: crossed(margins).reset_index(),
    "polars": lambda margins: pl.from_pandas(crossed(margins).reset_index()),
    "arrow": lambda margins: pa.Table.from_pandas(
        crossed(margins).reset_index(), preserve_index=False
    ),
}


@pytest.mark.parametrize("margins", [False, True])
@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_judged_as_its_file_is(name, margins, tmp_path):
    crossed(margins).to_csv(tmp_path / "table.csv")
    [by_file] = check_tables(tmp_path / "table.csv", profile="sacro", kind="counts").outputs
    [output] = check_tables(FRAMES[name](margins), profile="sacro", kind="counts").outputs
    assert (output.name, str(output)) == ("table", str(by_file))
    # Without margins, nothing adds up; with them, a line of cells and totals would tell the six.
    assert len(output.suppressed) == (4 if margins else 1)


def test_a_series_is_a_table_and_frames_are_judged_together():
    frame = pd.DataFrame(ROWS, columns=["region", "sector", "pay"])
    sizes = frame.groupby(["region", "sector"]).size()
    alone, total = check_tables(
        [sizes, frame.region.value_counts()], profile="sacro", kind="counts", keys=0
    ).outputs
    assert (alone.name, total.name) == ("table", "table 2")
    assert [one["keys"] for one in alone.suppressed] == [{"region": "south", "sector": "farm"}]
    assert [one["keys"] for one in total.suppressed] == [{"region": "south"}]
    means = frame.groupby("region").pay.mean()
    counts = frame.groupby("region").pay.count()
    [judged] = check_tables(means, profile="sacro", kind="means", counts=counts).outputs
    assert judged.status == "review"


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"region": ["A", "B"], "n": [[30], [40]]}),
        pl.DataFrame({"region": ["A", "B"], "n": [[30], [40]]}),
        pd.DataFrame({"region": [30, 40]}, index=pd.Index(["A", "B"], name="region")),
    ],
    ids=["lists of Arrow", "lists of polars", "a name twice"],
)
def test_a_frame_that_is_no_table_of_texts_and_figures_is_refused(frame):
    with pytest.raises(PolicyEngineError, match=r"K025 .* cannot be written as a table"):
        check_tables(frame, profile="sacro", kind="counts")


def test_a_frame_with_columns_of_two_levels_is_refused():
    frame = pd.DataFrame(ROWS, columns=["region", "sector", "pay"])
    two = frame.groupby("region").agg({"pay": ["mean", "count"]})
    with pytest.raises(PolicyEngineError, match="This one has 2"):
        check_tables(two, profile="sacro")


def test_a_table_that_may_have_totals_by_which_blanks_follow_is_for_a_person(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("region,men,women,persons\nnorth,.,40,46\nsouth,30,.,37\nwest,20,.,28\n")
    [output] = check_tables(path, profile="dwb-2015", kind="counts").outputs
    assert output.status != "released"
    assert "K021" in output.reasons
    path.write_text("region,men,women,old\nnorth,.,40,16\nsouth,30,.,37\nwest,20,.,28\n")
    [output] = check_tables(path, profile="dwb-2015", kind="counts").outputs
    assert output.status == "released"


ROWS = [
    *(("north", "farm", 20 + n / 3) for n in range(30)),
    *(("north", "shop", 30 + n / 7) for n in range(40)),
    *(("south", "farm", 40 + n / 9) for n in range(6)),
    *(("south", "shop", 50 + n / 11) for n in range(38)),
]


def test_sheets_of_a_workbook_are_judged_together_as_files_are(tmp_path):
    sheets = {
        "both": [["region", "farm", "shop"], ["north", 30, 40], ["south", 6, 38]],
        "one": [["region", "n"], ["north", 70], ["south", 44]],
    }
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        text = "\n".join(",".join(map(str, row)) for row in rows)
        (tmp_path / f"t {name}.csv").write_text(text)
    book.save(tmp_path / "t.xlsx")
    files = [tmp_path / f"t {name}.csv" for name in sheets]
    told = [
        [
            (one.name, str(one))
            for one in check_tables(paths, profile="sacro", kind="counts").outputs
        ]
        for paths in (files, [tmp_path / "t.xlsx"])
    ]
    assert told[0] == told[1]
    # The total of the south would tell the six.
    assert "44" not in told[1][1][1]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.csv"
    lines = [f"{n},{region},{sector},{pay}" for n, (region, sector, pay) in enumerate(ROWS)]
    path.write_text("\n".join(["person,region,sector,pay", *lines]))
    return path


def checked(path, data, recipe, profile="sacro"):
    """Return the text of the file that may leave of a table that is handed in, and its status."""
    result = check_tables(
        path, profile=profile, unit="person", data=data, recipe=recipe, out=path.parent / "folder"
    )
    [output] = result.outputs
    written = path.parent / "folder" / "outputs" / path.name
    return written.read_text() if written.exists() else "", output


def test_what_leaves_is_the_table_that_was_handed_in(tmp_path, data):
    """With its headers, its digits and the order of its rows."""
    path = tmp_path / "means.csv"
    recipe = TableRecipe(("sector",), ("count", "mean:pay"))
    by_sector = {
        name: [pay for _, sector, pay in ROWS if sector == name] for name in ("shop", "farm")
    }
    means = {name: sum(some) / len(some) for name, some in by_sector.items()}
    text = f"Sector,Number of persons,Mean pay\nshop,78,{means['shop']:.3f}\n"
    path.write_text(f"{text}farm,36,{means['farm']:.1f}\n")
    left, output = checked(path, data, recipe)
    assert left == path.read_text()
    assert output.table["Mean pay"].to_pylist() == pytest.approx(
        [round(means["shop"], 3), round(means["farm"], 1)]
    )


@pytest.mark.nightly
def test_cells_are_blank_where_they_are_withheld(tmp_path, data):
    path = tmp_path / "counts.csv"
    path.write_text("Region,farm,shop\nsouth,6,38\nnorth,30,40\n")
    left, output = checked(path, data, TableRecipe(("region",), across="sector"))
    assert left == "Region,farm,shop\nsouth,,38\nnorth,,40\n", "how many there are is known"
    assert output.reasons.keys() == {"K049"}


def test_figures_have_the_digits_of_the_profile(tmp_path, data):
    path = tmp_path / "means.csv"
    north = [pay for region, _, pay in ROWS if region == "north"]
    south = [pay for region, _, pay in ROWS if region == "south"]
    figures = [f"{sum(some) / len(some):.5f}" for some in (north, south)]
    path.write_text("region,pay\nnorth,{}\nsouth,{}\n".format(*figures))
    policy = policy_with(
        ("pe:outputCheck", "eq", "sacro"),
        ("pe:significantDigits", "eq", 3),
        ("pe:privacyUnit", "eq", f"{TABLE}/person"),
    )
    result = check_tables(
        path, policy=policy, data={TABLE: data}, recipe=TableRecipe(("region",), ("mean:pay",))
    )
    expected = [float(f"{float(one):.3g}") for one in figures]
    assert result.outputs[0].table["pay"].to_pylist() == expected


def test_another_figure_is_refused_as_it_was(tmp_path, data):
    path = tmp_path / "counts.csv"
    path.write_text("region,n\nnorth,71\nsouth,44\n")
    with pytest.raises(PolicyEngineError, match="K029"):
        check_tables(
            path, profile="sacro", unit="person", data=data, recipe=TableRecipe(("region",))
        )


def test_files_for_people_have_no_formulas(tmp_path):
    (tmp_path / "t.csv").write_text('region,"=HYPERLINK(""x"")",y\n=cmd,30,40\n@SUM(A1),50,60\n')
    check_tables(tmp_path / "t.csv", profile="dwb-2015", kind="counts", out=tmp_path / "out")
    [path] = (tmp_path / "out/outputs").iterdir()
    text = path.read_text()
    assert text == 'region,"\'=HYPERLINK(""x"")",y\n\'=cmd,30,40\n\'@SUM(A1),50,60\n'
