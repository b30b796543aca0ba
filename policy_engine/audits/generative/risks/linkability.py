"""Linkability: two parties who know different columns find the same synthetic row.

Giomi, Boenisch, Wehmeyer and Tasnádi: A unified framework for quantifying privacy risk in synthetic
data, PoPETs 2023(2), section 4.3.
"""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.generative.material import Bools, Ints, Material
from policy_engine.audits.generative.risks.result import SyntheticRisk, measure_risk
from policy_engine.audits.generative.risks.tables import AttackedRows, Floats, draw_tables
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.generative.gower_neighbours import nearest_samples

Parties = tuple[tuple[int, ...], tuple[int, ...]]

_STREAM = 3


class LinkabilitySettings(BaseModel):
    """How many members are attacked, by how many nearest rows, and the places of the columns that
    each of two `parties` knows; without them, `split_columns` does."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    attacks: int = Field(default=2_000, ge=1)
    neighbours: int = Field(default=1, ge=1)
    parties: Parties | None = None


def link(material: Material, settings: LinkabilitySettings) -> SyntheticRisk | NotApplicable:
    """Return the risk that what two parties know is linked to one another.

    An attack succeeds if one of the synthetic rows nearest by the columns of one party is one of
    those nearest by the columns of the other. Of equally near rows, both take those that come
    first in one random order: the best that they can do. The naive attack draws rows at random.
    Not applicable without a table of two columns and enough synthetic rows. Raises ValueError if
    the parties share a column or one has none.
    """
    random = np.random.default_rng((material.seed, _STREAM))
    tables = draw_tables(material, random, settings.attacks)
    if isinstance(tables, NotApplicable):
        return tables
    parties, k, rows = settings.parties, settings.neighbours, len(tables.synthetic)
    if len(tables.columns) < 2:
        return NotApplicable(reason="The table has one column, which two parties cannot divide.")
    if rows < k:
        return NotApplicable(reason=f"There are {rows:,} synthetic records, fewer than {k:,}.")
    parties = split_columns(tables) if parties is None else parties
    if not all(parties) or set(parties[0]) & set(parties[1]):
        raise ValueError(f"two parties cannot know the columns {parties!r}")
    train, control = (
        _links(records, tables, parties, k) for records in (tables.members, tables.holdout)
    )
    # Of k random rows, so many are among k others.
    naive = random.hypergeometric(k, rows - k, k, size=len(train)) > 0
    risk = measure_risk("linkability", train, control, naive, settings.attacks)
    if isinstance(risk, NotApplicable):
        return risk
    names = tuple(tuple(tables.columns[place].name for place in party) for party in parties)
    return risk.model_copy(update={"parties": names})


def split_columns(tables: AttackedRows) -> Parties:
    """Return the columns of two parties: by turns from the most telling to the least.

    A column tells as much as the entropy of its synthetic values. Secrets are left out if two
    others remain.
    """
    places = [place for place in range(len(tables.columns)) if place not in tables.secrets]
    places = places if len(places) > 1 else list(range(len(tables.columns)))
    places.sort(key=lambda place: (-_entropy(tables.synthetic[:, place]), place))
    return tuple(sorted(places[::2])), tuple(sorted(places[1::2]))


def _entropy(values: Floats) -> float:
    counts = np.unique(values, return_counts=True)[1]
    shares = counts / len(values)
    return float(-(shares * np.log(shares)).sum())


def _links(records: Floats, tables: AttackedRows, parties: Parties, k: int) -> Bools:
    one, other = (_nearest(records, tables, party, k) for party in parties)
    return np.asarray((one[:, :, None] == other[:, None, :]).any(axis=(1, 2)))


def _nearest(records: Floats, tables: AttackedRows, party: tuple[int, ...], k: int) -> Ints:
    chosen = list(party)
    return nearest_samples(
        records[:, chosen], tables.synthetic[:, chosen], tables.widths[chosen], k
    ).rows
