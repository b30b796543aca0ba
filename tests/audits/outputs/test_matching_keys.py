"""Keys of finished tables that are the same by their names or their labels."""

import pytest

from policy_engine.audits.outputs.matching_keys import match_keys
from policy_engine.audits.outputs.reading_tables import read_finished

WIDE = "region,farm,shop\nnorth,30,40\nsouth,25,33\n"


def matched(folder, *texts):
    tables = []
    for number, text in enumerate(texts):
        (folder / f"{number}.csv").write_text(text)
        tables.append(read_finished(folder / f"{number}.csv"))
    return [(one.keys, one.is_fit) for one in match_keys(tables)]


@pytest.mark.parametrize(
    ("other", "keys"),
    [
        ("sector,north,south\nfarm,30,25\nshop,40,33\n", (1, 0)),
        ("region,sector,n\nnorth,farm,30\nsouth,shop,33\n", (0, 1)),
        ("Branche,Land,n\nFarm,North,30\nshop,south,33\n", (1, 0)),
        ("region,farm,mill\nnorth,30,99\n", (0, 1)),
        ("region,men,women\nnorth,11,59\n", (0, 2)),
        ("age,men,women\nold,11,59\n", (2, 3)),
        ("sector,north\nfarm,30\nshop,40\n", (1, 0)),
        ("sector,persons\nfarm,55\nshop,73\n", (1,)),
    ],
)
def test_keys_are_the_same_wherever_their_labels_stand(tmp_path, other, keys):
    assert matched(tmp_path, WIDE, other) == [((0, 1), True), (keys, True)]


def test_another_figure_does_not_fit_whatever_its_key_is_called(tmp_path):
    assert matched(tmp_path, WIDE, "area,farm,shop\nnorth,30,39\n")[1] == ((0, 1), False)
    assert matched(tmp_path, WIDE, "sector,north\nfarm,29\nshop,40\n")[1] == ((1, 0), False)


def test_labels_that_many_keys_have_do_not_make_them_one_against_the_figures(tmp_path):
    smokers, ill = "smoker,n\nyes,30\nno,40\n", "ill,n\nyes,20\nno,50\n"
    assert matched(tmp_path, smokers, ill) == [((0,), True), ((1,), True)]
    assert matched(tmp_path, smokers, smokers.replace("smoker", "Raucher")) == [((0,), True)] * 2


def test_the_figures_tell_which_of_two_keys_is_meant(tmp_path):
    flows = "from,to,n\nnorth,north,30\nnorth,south,40\nsouth,north,25\nsouth,south,33\n"
    turned = "to,north,south\nnorth,30,25\nsouth,40,33\n"
    assert matched(tmp_path, flows, turned) == [((0, 1), True), ((1, 0), True)]
    wide = "x,north,south\nnorth,30,25\nsouth,40,33\n"
    assert matched(tmp_path, flows, wide) == [((0, 1), True), ((1, 0), True)]


def test_it_is_open_which_key_is_meant_where_figures_do_not_tell(tmp_path):
    flows = "from,to,n\nnorth,north,30\nnorth,south,40\nsouth,north,40\nsouth,south,33\n"
    assert not matched(tmp_path, flows, "region,n\nnorth,70\nsouth,73\n")[1][1]
