"""People whose columns are masked, each in one of the ways there are, and are certified again."""

import numpy as np
import pandas as pd
from applying import asking
from building import DATASET, column

from policy_engine import certify_output

PAY = column("pay", masking="rank-swapping", p=0.2)
HOURS = column("hours", masking="shuffling", given={"@id": f"{DATASET}/age"})
JOB = column("job", masking="pram", keep=0.6)
SINCE = column("since", masking="noise", sdShare=0.3)
HOME = column("home", masking="multiplicative-noise", logSd=0.2)
TAX = column("tax", masking="microaggregation", groupSize=3)
CAP = column("cap", masking="top-coding", tail=12, replacement="label")
RENT = column("rent", masking="rounding", base=50)
COST = column("cost", masking="random-rounding", base=50)
BOTH = [column(name, masking="correlated-noise", sdShare=0.2) for name in ("one", "two")]
MASKED = [PAY, HOURS, JOB, SINCE, HOME, TAX, CAP, RENT, COST, *BOTH]


def people(rows=60):
    """Return people with ties and missing values, whom only a number tells apart."""
    random = np.random.default_rng(3)
    numbers = {
        name: random.integers(0, 900, rows) for name in ("cap", "rent", "cost", "one", "two")
    }
    table = pd.DataFrame(
        {
            "id": [f"p{number}" for number in range(rows)],
            "age": random.integers(20, 60, rows),
            "pay": random.lognormal(8, 1, rows).round(2),
            "hours": random.integers(1, 60, rows),
            "job": random.choice(["a", "b", "c"], rows),
            "since": np.datetime64("2020-01-01") + random.integers(0, 900, rows),
            "home": random.lognormal(3, 1, rows).round(1),
            "tax": random.integers(0, 9000, rows),
            **numbers,
        }
    )
    table["since"] = table["since"].dt.date
    table.loc[3, "pay"] = table.loc[5, "job"] = table.loc[7, "cap"] = None
    return table


def stored(table, path):
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, index=False)
    return path


def certified(output, data, engine="local", **parts):
    """Return the figures of each column, certified again without the key."""
    again = certify_output(output, asking(**parts), data={DATASET: data}, engine=engine)
    return {one.column: dict(one.figures) for one in again.maskings}
