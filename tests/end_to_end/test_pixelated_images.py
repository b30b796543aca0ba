"""Images that are pixelated, from the policy to who may read the release."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from applying import applied, asking, measured, refused
from building import ANALYST, DATASET, OUTPUT, column
from pictures import faces, image_array

from policy_engine import Request, certify_output, decide_request
from policy_engine.errors import CertificateError, OutputError
from policy_engine.policy.model import READ
from policy_engine.terms import expand_term

FACE = column("face", masking="pixelation", blockSize=4)
FLAT = column("flat", masking="pixelation", blockSize=2, height=5, width=6, padding=128)
LIGHT = column("light", masking="pixelation", blockSize=3)
ALONE = {"method": "masking", "insensitive": ["id"]}
CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["id"]}
KEY = b"\x05" * 32


def by_id(table):
    return {row["id"]: row for row in table.to_pylist()}


@pytest.mark.parametrize("parts", [ALONE, CLASSES], ids=["alone", "classes"])
def test_images_are_pixelated_in_the_type_that_they_had(parts, tmp_path):
    made = applied(faces(), tmp_path / "out.parquet", masked=[FACE, FLAT, LIGHT], **parts)
    table, given = pq.read_table(made.path), faces()
    for name in ("face", "flat", "light"):
        assert table.schema.field(name).type.list_size == given.schema.field(name).type.list_size
        assert measured(made)["pixelation", name] == 0
    rows, before = by_id(table), by_id(given)
    assert len(rows) == 12
    assert rows[11]["face"] is None
    first = np.array(before[0]["face"])[:4, :4]
    assert rows[0]["face"][0][:4] == [int(first.mean() + 0.5)] * 4
    assert rows[0]["face"] == rows[1]["face"]
    shares = {one.column: one.figures["unchanged"] for one in made.certificate.maskings}
    assert all(share < 0.1 for share in shares.values())


@pytest.mark.parametrize("given", [{}, {"data": {DATASET: faces()}}], ids=["alone", "with data"])
def test_a_release_of_images_is_certified_again(given, tmp_path):
    parts = CLASSES | {"masked": [FACE, LIGHT]}
    made = applied(faces(), tmp_path / "out.parquet", **parts)
    found = certify_output(made.path, asking(**parts), **given)
    assert {one.achieved for one in found.measurements if one.bound == "pixelation"} == {0}
    if given:
        assert found.maskings == made.certificate.maskings


def published(rows, masked, folder):
    """Write rows as an output that nobody made, and return its place."""
    folder.mkdir()
    pq.write_table(rows.select(["id", masked]), folder / "out.parquet")
    return folder / "out.parquet"


def test_an_image_with_an_uneven_block_is_refused(tmp_path):
    place = published(faces(), "face", tmp_path / "out")
    with pytest.raises(CertificateError, match="V001") as error:
        certify_output(place, asking(masked=[FACE], **ALONE))
    assert "11" in str(error.value)


def test_an_image_of_other_means_is_refused_with_the_data_alone(tmp_path):
    made = applied(faces(), masked=[FACE], **ALONE).table
    darker = [
        row and [[max(one - 1, 0) for one in line] for line in row]
        for row in made["face"].to_pylist()
    ]
    rows = made.set_column(1, "face", pa.array(darker, made.schema.field("face").type))
    place = published(rows, "face", tmp_path / "out")
    policy = asking(masked=[FACE], **ALONE)
    assert certify_output(place, policy).measurements[0].achieved == 0
    with pytest.raises(CertificateError, match="V001"):
        certify_output(place, policy, data={DATASET: faces()})


@pytest.mark.parametrize("parts", [ALONE | {"insensitive": ["age"]}, CLASSES | {"insensitive": []}])
def test_the_order_of_the_input_leaves_no_trace(parts):
    table, order = faces(), np.random.default_rng(3).permutation(12)
    parts = {name: value for name, value in parts.items() if value != []}
    first, second = (
        applied(one, masked=[FACE, LIGHT], **parts).table for one in (table, table.take(order))
    )
    assert first.equals(second)


def test_images_that_nobody_mentions_are_not_released_and_insensitive_ones_stay_as_they_are():
    made = applied(faces(), **CLASSES | {"insensitive": ["id", "flat"]}).table
    assert made.column_names == ["id", "age", "flat"]
    assert {i: row["flat"] for i, row in by_id(made).items()} == {
        i: row["flat"] for i, row in by_id(faces()).items()
    }


def test_images_of_sampled_rows_are_pixelated(tmp_path):
    parts = ALONE | {"masked": [FACE], "sampleSize": 4}
    made = applied(faces(), tmp_path / "out.parquet", key=KEY, **parts)
    assert pq.read_table(made.path).num_rows == 4
    for given in ({}, {"data": {DATASET: faces()}, "key": KEY}):
        assert certify_output(made.path, asking(**parts), **given).measurements[0].achieved == 0


REFUSED = {
    "a quasi-identifier": ("C009", {"quasi": ["age", "face"]}),
    "a sensitive column": (
        "C009",
        {"method": ["k-anonymity", "l-diversity"], "l": 2, "sensitive": ["face"]},
    ),
    "a unit of privacy": ("C009", {"privacyUnit": "face"}),
    "a pseudonym": ("C009", {"pseudonymize": ["face"], "key": KEY}),
    "a rounded number": ("R013", {"masked": [column("face", masking="rounding", base=2)]}),
    "a noisy number": ("R013", {"masked": [column("face", masking="noise", sdShare=0.5)]}),
    "a category": ("R013", {"masked": [column("face", masking="pram", keep=0.5)]}),
    "a rank": ("R013", {"masked": [column("face", masking="rank-swapping", p=0.5)]}),
}


@pytest.mark.parametrize("role", REFUSED)
def test_images_are_refused_as(role, tmp_path):
    code, parts = REFUSED[role]
    assert refused(faces(), tmp_path, **CLASSES | parts) == [code]


def test_images_are_not_written_to_a_csv_file(tmp_path):
    with pytest.raises(Exception, match="O002 A CSV file cannot hold the arrays of 'face'"):
        applied(faces(), tmp_path / "out.csv", masked=[FACE], **ALONE)
    assert not list(tmp_path.iterdir())


def test_texts_of_a_csv_file_are_not_images(tmp_path):
    (tmp_path / "in.csv").write_text("id,face\n1,a\n2,b\n")
    assert refused(tmp_path / "in.csv", tmp_path, masked=[FACE], **ALONE) == ["R013"]


def test_images_of_a_list_column_that_differ_in_shape_are_refused(tmp_path):
    table = pa.table({"id": [1, 2], "face": [[[1] * 4] * 4, [[1] * 4] * 5]})
    assert refused(table, tmp_path, masked=[FACE], **ALONE) == ["R013"]


def test_colours_have_means_of_their_own():
    colours = np.zeros((1, 4, 4, 3), np.uint8)
    colours[0, :, :, 1], colours[0, :2, :, 2] = 7, 100
    table = pa.table({"id": [1], "face": image_array(colours)})
    made = applied(table, masked=[FACE], **ALONE).table
    assert made["face"][0].as_py() == [[[0, 7, 50]] * 4] * 4


# -- files of arrays ------------------------------------------------------------------------------

IMAGES = np.random.default_rng(4).integers(0, 256, (10, 6, 6), dtype=np.uint8)
IMAGE = column("image", masking="pixelation", blockSize=3)


def test_an_array_of_images_becomes_one_of_pixelated_images(tmp_path):
    np.save(tmp_path / "in.npy", IMAGES)
    parts = {"method": "masking", "masked": [IMAGE]}
    made = applied(tmp_path / "in.npy", tmp_path / "out", **parts)
    assert made.path.name == "anonPeople.npy"
    found = np.load(made.path)
    assert (found.dtype, found.shape) == (IMAGES.dtype, IMAGES.shape)
    means = IMAGES.reshape(10, 2, 3, 2, 3).mean(axis=(2, 4))
    expected = np.floor(means + 0.5).astype(np.uint8)
    assert sorted(found[:, ::3, ::3].tolist()) == sorted(expected.tolist())
    for given in ({}, {"data": {DATASET: tmp_path / "in.npy"}}):
        assert certify_output(made.path, asking(**parts), **given).measurements[0].achieved == 0


def test_images_and_labels_of_an_archive_are_released_as_one(tmp_path):
    np.savez(
        tmp_path / "in.npz",
        image=IMAGES,
        label=np.arange(10) % 3,
        place=np.array(["Ulm", "Bonn"] * 5),
        age=np.arange(10) + 20,
    )
    parts = {"method": "k-anonymity", "k": 3, "quasi": ["age"], "insensitive": ["label", "place"]}
    policy = asking(masked=[IMAGE], **parts)
    made = applied(tmp_path / "in.npz", tmp_path / "out" / "a.npz", masked=[IMAGE], **parts)
    with np.load(made.path, allow_pickle=False) as arrays:
        assert sorted(arrays) == ["age", "image", "label", "place"]
        assert arrays["image"].shape == IMAGES.shape
        assert arrays["age"].dtype.kind == "U"
        assert sorted(arrays["label"]) == sorted(np.arange(10) % 3)
    data = {DATASET: tmp_path / "in.npz"}
    assert certify_output(made.path, policy, data=data).maskings == made.certificate.maskings
    request = Request(
        assignee=ANALYST,
        action=READ,
        targets=(f"{OUTPUT}/image",),
        purpose=expand_term("marketing"),
    )
    assert decide_request([policy], [made.path.parent], request).permitted


def test_the_same_release_of_arrays_is_the_same_file(tmp_path):
    np.savez(tmp_path / "in.npz", image=IMAGES, id=np.arange(10))
    files = [tmp_path / name / "out.npz" for name in ("a", "b")]
    for file in files:
        applied(tmp_path / "in.npz", file, masked=[IMAGE], **ALONE)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_an_archive_with_a_changed_pixel_is_refused(tmp_path):
    np.savez(tmp_path / "in.npz", image=IMAGES, id=np.arange(10))
    made = applied(tmp_path / "in.npz", tmp_path / "out" / "a.npz", masked=[IMAGE], **ALONE)
    arrays = dict(np.load(made.path))
    arrays["image"][0, 0, 0] ^= 1
    np.savez(made.path, **arrays)
    with pytest.raises(CertificateError, match=r"V00[124]"):
        certify_output(made.path, asking(masked=[IMAGE], **ALONE))


def test_arrays_of_objects_are_refused_and_never_unpickled(tmp_path):
    np.savez(tmp_path / "in.npz", image=np.array([{1}], dtype=object), id=np.arange(1))
    assert refused(tmp_path / "in.npz", tmp_path, masked=[IMAGE], **ALONE) == ["C009"]


def test_several_columns_are_not_written_to_one_array(tmp_path):
    np.savez(tmp_path / "in.npz", image=IMAGES, id=np.arange(10))
    with pytest.raises(OutputError, match="O002"):
        applied(tmp_path / "in.npz", tmp_path / "out.npy", masked=[IMAGE], **ALONE)
    assert [one.name for one in tmp_path.iterdir()] == ["in.npz"]
