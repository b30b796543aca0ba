"""Outputs that are masked less than their policy asks for, found by the data and matched rows."""

import numpy as np
import pandas as pd
import pytest
from applying import applied
from building import DATASET, column
from everyday import examples
from masked_people import certified, stored

from policy_engine.errors import CertificateError

ROWS = 300
PLAIN = {"method": "masking", "insensitive": ["id", "age"]}
SWAP = column("pay", masking="rank-swapping", p=0.3)
NOISE = column("pay", masking="noise", sdShare=0.1)
LAPLACE = NOISE | {"pe:distribution": "laplace"}
KIM = column("pay", masking="correlated-noise", sdShare=0.1, variant="kim")
FACTORS = column("pay", masking="multiplicative-noise", logSd=0.2)
ROUND = column("pay", masking="random-rounding", base=1000)
SHUFFLE = column("pay", masking="shuffling", given={"@id": f"{DATASET}/age"})
JOB = column("job", masking="pram", keep=0.5)
INVARIANT = JOB | {"pe:variant": "invariant"}
ALL = [SWAP, NOISE, LAPLACE, KIM, FACTORS, ROUND, SHUFFLE, JOB, INVARIANT]


def people(seed=0, rows=ROWS):
    random = np.random.default_rng(seed)
    pay = random.choice(10**5, rows, replace=False)
    age, job = random.integers(20, 80, rows), random.choice([*"abcd"], rows)
    return pd.DataFrame({"id": [f"p{n}" for n in range(rows)], "age": age, "pay": pay, "job": job})


def exchange_two(pay):
    order, made = np.argsort(pay), pay.copy()
    made[order[:2]] = pay[order[1::-1]]
    return made


def exchange_neighbours(pay):
    order, made = np.argsort(pay), pay.copy()
    made[order] = pay[order].reshape(-1, 2)[:, ::-1].ravel()
    return made


def add_one(pay):
    return pay + np.random.default_rng(3).integers(0, 2, len(pay))


def mask_some(pay):
    made = pay.copy()
    made[: len(pay) // 10] += 3_000
    return made


def keep_most(job):
    drawn = np.random.default_rng(1).choice([*"abcd"], len(job) // 5)
    return np.concatenate([drawn, job[len(drawn) :]])


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("masked", "change", "told"),
    [
        (SWAP, exchange_two, "298 rows whose value no other has keep it, where at most one does"),
        (SWAP, exchange_neighbours, "150 pairs are exchanged over 0.0"),
        (NOISE, add_one, "the noise of 300 values has a mean size of 0.000"),
        (NOISE, mask_some, "of its standard deviations or less, where 0.798 is expected"),
        (LAPLACE, mask_some, "of its standard deviations or less, where 0.707 is expected"),
        (KIM, add_one, "of its standard deviations or less, where 0.798 is expected"),
        (FACTORS, add_one, "of its standard deviations or less, where 0.798 is expected"),
        (ROUND, lambda pay: pay // 1000 * 1000, "0 of 300 values are rounded up, where 15"),
        (ROUND, lambda pay: -(-pay // 1000) * 1000, "300 of 300 values are rounded up, where 15"),
        (ROUND, lambda pay: (pay + 500) // 1000 * 1000, "300 of 300 values are rounded to the nea"),
        (SHUFFLE, exchange_two, "normal scores have a correlation of 1 with those before, where"),
        (JOB, keep_most, "of 300 categories stay, where 150 are expected to"),
        (INVARIANT, keep_most, "of 300 categories stay, where "),
    ],
)
def test_too_little_masking_is_told(masked, change, told, tmp_path):
    table, asked = people(), PLAIN | {"masked": [masked]}
    data = stored(table, tmp_path / "in.csv")
    name = masked["@id"].rpartition("/")[2]
    changed = table.assign(**{name: change(table[name].to_numpy())})
    output = stored(changed[["id", "age", name]], tmp_path / "out" / "a.csv")
    with pytest.raises(CertificateError) as error:
        certified(output, data, **asked)
    assert {one.code for one in error.value.problems} == {"V001"}
    message = error.value.problems[-1].message
    assert message.startswith(f"The column '{name}' is masked less than, or otherwise than, by ")
    assert told in message


SD = people()["pay"].std()
PAY, SIGNS = people()["pay"], np.where(np.arange(ROWS) % 2, 1, -1)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("masked", "noise", "told"),
    [
        (NOISE, 0.08, "the noise of 300 of 300 values is from 0.674 to 0.887 of its standard dev"),
        (NOISE, 0.08 * SIGNS, "the noise of 150 of 300 values is from -0.887 to -0.674 of its"),
        (NOISE, np.where(np.arange(ROWS) < 160, 0, 0.17 * SIGNS), "the noise of 160 of 300 values"),
        (LAPLACE, 0.08, "the noise of 300 of 300 values is from 0.69"),
        (
            LAPLACE,
            np.random.default_rng(1).uniform(-0.18, 0.18, ROWS),
            "values is not from -0.694 to 0.694 of",
        ),
        (KIM, 0.08, "the noise of 300 of 300 values is "),
        (FACTORS, 0.2 * PAY / SD, "the noise of 300 of 300 values is from 0.887 to 1.15 of its"),
    ],
)
def test_other_noise_is_told(masked, noise, told, tmp_path):
    table, asked = people(), PLAIN | {"masked": [masked]}
    data = stored(table, tmp_path / "in.csv")
    changed = table.assign(pay=np.rint(PAY + noise * SD).astype(int))[["id", "age", "pay"]]
    with pytest.raises(CertificateError, match="V001") as error:
        certified(stored(changed, tmp_path / "out" / "a.csv"), data, **asked)
    assert told in error.value.problems[-1].message


@pytest.mark.parametrize("variant", ["plain", "kim"])
def test_noise_that_is_not_correlated_is_told(variant, tmp_path):
    table, random = people(), np.random.default_rng(4)
    table["tax"] = table["pay"] // 5 + random.integers(0, 900, ROWS)
    masking = {"masking": "correlated-noise", "sdShare": 0.1, "variant": variant}
    asked = PLAIN | {"masked": [column("pay", **masking), column("tax", **masking)]}
    data = stored(table, tmp_path / "in.csv")
    for name in ("pay", "tax"):
        noise = random.normal(scale=0.1 * table[name].std(), size=ROWS)
        table[name] = np.rint(table[name] + noise).astype(int)
    changed = stored(table[["id", "age", "pay", "tax"]], tmp_path / "out" / "a.csv")
    with pytest.raises(CertificateError, match="in the difference with another column, the noise"):
        certified(changed, data, **asked)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("masked", ALL, ids=lambda one: one["pe:masking"])
def test_what_the_masking_makes_is_never_too_little(masked, tmp_path):
    for seed, rows in enumerate((8, 30, 300, 300, 1000)[: examples(6, times=1)]):
        table = people(seed, rows)
        if seed % 2:  # few distinct values
            table["pay"] //= 7_000
        asked = PLAIN | {"masked": [masked]}
        data = stored(table, tmp_path / f"in{seed}.parquet")
        made = applied(data, tmp_path / f"out{seed}" / "a.csv", **asked)
        assert certified(made.path, data, **asked)


def test_a_table_that_is_too_small_to_tell_is_certified(tmp_path):
    table, asked = people(rows=4), PLAIN | {"masked": [JOB]}
    data = stored(table, tmp_path / "in.csv")
    assert certified(stored(table[["id", "age", "job"]], tmp_path / "out" / "a.csv"), data, **asked)


def test_values_that_one_row_has_in_both_columns_may_stay_in_it(tmp_path):
    # Once in 200 draws: the only row with a plane is that of the only chief, or stays the same.
    random = np.random.default_rng(5)
    for draw in range(3):
        plane = np.zeros(200, dtype=np.int64)
        plane[draw] = 1
        table = people(rows=200).assign(pay=plane, age=random.permutation(plane))
        asked = PLAIN | {"masked": [SHUFFLE]}
        data = stored(table, tmp_path / f"in{draw}.csv")
        moved = table.assign(pay=table["age"])[["id", "age", "pay"]]
        assert certified(stored(moved, tmp_path / f"out{draw}" / "a.csv"), data, **asked)
