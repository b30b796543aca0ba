"""Mahalanobis linkage, agreement of numbers, and what the windows of rank swapping leave."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.attacks.mahalanobis import (
    mahalanobis_linkage,
    mahalanobis_taken,
)
from policy_engine.audits.disclosure.attacks.probabilistic import probabilistic_linkage
from policy_engine.audits.disclosure.attacks.transparency import windows_left
from policy_engine.audits.disclosure.auditing import attack, attack_each
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.result import Linkage
from policy_engine.audits.disclosure.settings import AttackSettings, read_settings
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.rank_swapping import rank_swap
from policy_engine.methods.maskings.rank_swapping import RankSwapping

PERSONS = 200


def two_files(before, after):
    tables = [pa.table({f"x{at}": column for at, column in enumerate(part.T)})
              for part in (before, after)]  # fmt: skip
    columns = known_columns(*tables, tables[0].column_names, None, {})
    return TwoFiles(columns, np.arange(len(before)), len(after))


def moved_together(seed=2):
    """Return records, and the same with both values moved by the same noise."""
    random = np.random.default_rng(seed)
    before = random.normal(size=(PERSONS, 2))
    return before, before + random.normal(scale=0.5, size=(PERSONS, 1))


def test_who_knows_that_values_moved_together_finds_more_than_by_distance():
    # The difference of the two values is kept, which tells nearly all persons apart.
    files = two_files(*moved_together())
    assert distance_linkage(files).mean() < 0.3
    assert mahalanobis_linkage(files).mean() > 0.9


def test_links_are_those_of_all_pairs_by_the_covariance_of_true_differences():
    before, after = moved_together()
    after = after + np.random.default_rng(3).normal(scale=0.1, size=after.shape)
    scores = [(part - before.mean(axis=0)) / before.std(axis=0) for part in (before, after)]
    inverse = np.linalg.inv(np.cov(scores[0] - scores[1], rowvar=False))
    apart = scores[0][:, None] - scores[1]
    distances = np.einsum("prc,cd,prd->pr", apart, inverse, apart)
    files = two_files(before, after)
    assert (mahalanobis_linkage(files) == (distances.argmin(axis=1) == np.arange(PERSONS))).all()
    taken = mahalanobis_taken(files, np.arange(PERSONS))
    assert taken == pytest.approx(distances.min(axis=1))


def test_an_untouched_file_is_linked():
    before, _ = moved_together()
    assert mahalanobis_linkage(two_files(before, before)).tolist() == [1] * PERSONS


def test_a_column_that_was_not_moved_decides():
    before, after = moved_together()
    after[:, 0] = before[:, 0]
    assert mahalanobis_linkage(two_files(before, after)).mean() == 1


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (two_files(*moved_together()).known_by(["x0"]), "it is value-linkage"),
        (two_files(*(part[:19] for part in moved_together())), "takes 20 persons at least"),
    ],
)
def test_it_is_not_made_where_it_would_say_nothing_of_its_own(files, reason):
    found = mahalanobis_linkage(files)
    assert isinstance(found, NotApplicable)
    assert reason in found.reason


def test_numbers_agree_where_they_are_equal_or_in_the_same_bin():
    numbers = np.arange(100.0)[:, None]
    files = two_files(numbers, numbers + 0.25)
    linked = {
        agreement: probabilistic_linkage(files, AttackSettings(agreement=agreement)).mean()
        for agreement in ("equal", 2, 10)
    }
    # Nobody is equal, half of all are alike, a tenth is: a guess among so many.
    assert linked == pytest.approx({"equal": 0.01, 2: 0.02, 10: 0.1}, abs=0.002)


@pytest.mark.parametrize("agreement", [0, 1, 10_001, "nearly", 2.5])
def test_another_agreement_is_an_error(agreement):
    with pytest.raises(DataError, match="A012 Numbers cannot agree by"):
        read_settings([], 1, agreement)


def swapped_files(variant, p=0.05):
    numbers = np.random.default_rng(5).permutation(PERSONS).astype(float)
    words = np.random.default_rng(6).integers(0, 2**64, PERSONS, dtype=np.uint64)
    files = two_files(numbers[:, None], numbers[rank_swap(numbers, words, p, variant)][:, None])
    masking = RankSwapping(name="x0", masking="rank-swapping", p=p, variant=variant)
    return replace(files, columns=(replace(files.columns[0], masking=masking),))


@pytest.mark.nightly
@pytest.mark.parametrize("variant", ["plain", "buckets", "distribution"])
def test_windows_of_rank_swapping_hold_every_own_record(variant):
    left = windows_left(swapped_files(variant))
    assert (left.contains_own, left.alone) == (1, 0)


def test_windows_do_not_hold_the_records_of_persons_who_are_not_there():
    files = swapped_files("plain")
    own = np.where(np.arange(PERSONS) < 50, -1, files.own)
    assert windows_left(replace(files, own=own)).contains_own == 0.75


def test_the_audit_has_what_the_windows_leave():
    files = swapped_files("plain", 0.005)
    linkages, _ = attack(files, settings=AttackSettings(("intersection-linkage",)))
    assert linkages[-1].windows == windows_left(files)
    assert linkages[-1].windows.alone == linkages[-1].linked.value == 0


def beside_a_text(files):
    """Return the files with a column of texts that tells more than any number."""
    texts = pa.table({"text": [f"p{row}" for row in range(PERSONS)]})
    return replace(
        files, columns=(*known_columns(texts, texts, ["text"], None, {}), *files.columns)
    )


def test_mahalanobis_uses_the_columns_of_numbers_beside_others():
    files = two_files(*moved_together())
    settings = AttackSettings(("mahalanobis-linkage",))
    made = attack_each(beside_a_text(files), settings=settings)
    [linkage] = made.linkages
    assert linkage == attack(files, settings=settings)[0][-1]
    assert linkage.known == ("x0", "x1")
    assert made.links()["mahalanobis-linkage"].tolist() == mahalanobis_linkage(files).tolist()


def test_intersection_uses_the_swapped_column_beside_others():
    files = swapped_files("plain")
    settings = AttackSettings(("intersection-linkage",))
    made = attack_each(beside_a_text(files), settings=settings)
    assert (made.linkages, made.not_run) == attack(files, settings=settings)
    assert made.linkages[0].known == ("x0",)


@pytest.mark.parametrize(
    ("names", "reasons"),
    [
        (["text"], ("it compares numbers, each of which is one value", "is declared to be")),
        (["text", "x0"], ("by one column of numbers it is value-linkage", "is declared to be")),
    ],
)
def test_without_enough_columns_of_numbers_they_are_not_made(names, reasons):
    files = beside_a_text(two_files(*moved_together())).known_by(names)
    settings = AttackSettings(("mahalanobis-linkage", "intersection-linkage"))
    made, not_run = attack(files, settings=settings)
    assert not made
    assert all(part in one.reason for part, one in zip(reasons, not_run, strict=True))


@pytest.mark.parametrize("parts", [(1.0,), (1.0, 1 / 2, 1 / 3)])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9])
def test_interval_of_linked_persons_holds_the_true_share(share, parts):
    # Links are right with a probability, and then a guess among as many equals as any of `parts`.
    random = np.random.default_rng(7)
    runs, persons = 400, 80
    links = (random.random((runs, persons)) < share) * random.choice(parts, (runs, persons))
    true = share * np.mean(parts)
    estimates = [Linkage.of("distance-linkage", ("x0",), one, persons).linked for one in links]
    # 400 runs: 95% less three standard errors.
    assert np.mean([one.low <= true <= one.high for one in estimates]) >= 0.917
