"""Inference: a secret value is guessed from the synthetic row that is nearest by other columns.

Giomi, Boenisch, Wehmeyer and Tasnádi: A unified framework for quantifying privacy risk in synthetic
data, PoPETs 2023(2), section 4.4.
"""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from policy_engine.audits.generative.material import Bools, Material
from policy_engine.audits.generative.risks.result import SyntheticRisk, measure_risk
from policy_engine.audits.generative.risks.tables import AttackedRows, Floats, draw_tables
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.generative.gower_neighbours import nearest_samples

_STREAM = 4


class InferenceSettings(BaseModel):
    """How many members are attacked, how far numbers may be from the true ones, as a share of
    those (of times, of their range), and whether every column is a secret in turn where the
    material names none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    attacks: int = Field(default=2_000, ge=1)
    tolerance: float = Field(default=0.05, ge=0)
    every_column: bool = False


def infer(
    material: Material, settings: InferenceSettings
) -> tuple[SyntheticRisk | NotApplicable, ...] | NotApplicable:
    """Return the risk that the value of each secret column is guessed, in their order.

    The guess is the value in the synthetic row nearest by all the other columns, one of those
    equally near at random; the naive guess is that of a random row. Numbers may be off by the
    tolerance, categories not at all, and a missing value is guessed as missing. Not applicable
    without a table of two columns, or without secrets.
    """
    random = np.random.default_rng((material.seed, _STREAM))
    tables = draw_tables(material, random, settings.attacks)
    if isinstance(tables, NotApplicable):
        return tables
    if len(tables.columns) < 2:
        return NotApplicable(reason="The table has one column, and none to guess it by.")
    everything = range(len(tables.columns)) if settings.every_column else ()
    secrets = tables.secrets or tuple(everything)
    if not secrets:
        return NotApplicable(reason="No columns are named as secret.")
    return tuple(_risk(tables, secret, settings, random) for secret in secrets)


def _risk(
    tables: AttackedRows, secret: int, settings: InferenceSettings, random: np.random.Generator
) -> SyntheticRisk | NotApplicable:
    values = tables.synthetic[:, secret]
    column = tables.columns[secret]
    share = settings.tolerance if column.is_number else 0.0
    # A time has no natural 0 to be so far from.
    width = float(tables.widths[secret]) if column.is_time else None
    train, control = (
        _is_right(_guesses(records, tables, secret), records[:, secret], share, width)
        for records in (tables.members, tables.holdout)
    )
    naive = _is_right(random.choice(values, len(train)), tables.members[:, secret], share, width)
    return measure_risk("inference", train, control, naive, settings.attacks, column.name)


def _guesses(records: Floats, tables: AttackedRows, secret: int) -> Floats:
    others = np.arange(len(tables.columns)) != secret
    near = nearest_samples(records[:, others], tables.synthetic[:, others], tables.widths[others])
    return np.asarray(tables.synthetic[near.rows[:, 0], secret])


def _is_right(guesses: Floats, truth: Floats, share: float, width: float | None) -> Bools:
    is_missing = np.isnan(guesses) & np.isnan(truth)
    reach = share * (np.abs(truth) if width is None else width)
    return np.asarray(is_missing | (np.abs(guesses - truth) <= reach))
