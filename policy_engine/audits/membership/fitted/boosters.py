"""Boosters of XGBoost and LightGBM, asked for what their trees add up to."""

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from policy_engine.audits.membership.fitted.blocks import Block, as_matrix
from policy_engine.audits.membership.fitted.categories import (
    Categories,
    lightgbm_categories,
    number_categories,
    xgboost_categories,
)
from policy_engine.audits.membership.fitted.model import (
    Answer,
    ModelDescription,
    two_class_logits,
    versions_of,
)
from policy_engine.errors import AuditError


def _not_a_classifier(library: str, objective: str) -> Exception:
    message = f"The {library} model was fitted for {objective!r}, which does not classify."
    return AuditError.of("A014", message)


@dataclass(frozen=True, eq=False)
class XgboostModel:
    """A Booster of XGBoost, asked for its margins."""

    booster: Any

    @property
    def description(self) -> ModelDescription:
        """What its configuration says of it."""
        names = tuple(self.booster.feature_names or ())
        width = int(self.booster.num_features())
        return ModelDescription(
            "xgboost", "Booster", versions_of("xgboost", "xgboost-cpu"), (), names, width
        )

    def answer(self, block: Block) -> Answer:
        """Return logits, or only labels where its objective gives no more."""
        import xgboost  # noqa: PLC0415 (slow to import, an extra)

        objective = _objective_of_booster(self.booster)
        matrix = as_matrix(self.prepare(block), np.float32)
        matrix_of_booster = xgboost.DMatrix(matrix, feature_names=self.booster.feature_names)
        best = self.booster.attr("best_iteration")
        trees = (0, int(best) + 1) if best is not None else (0, 0)
        if objective == "binary:hinge":
            labels = self.booster.predict(matrix_of_booster, iteration_range=trees)
            return {"labels": labels.astype(np.int64).astype(str)}
        if not objective.startswith(("binary:", "multi:", "reg:logistic")):
            raise _not_a_classifier("XGBoost", objective)
        return {
            "logits": two_class_logits(
                self.booster.predict(matrix_of_booster, output_margin=True, iteration_range=trees)
            )
        }

    def prepare(self, block: Block) -> Block:
        """Return records with the numbers of categories. Raises AuditError (A003, A014)."""
        if isinstance(block, np.ndarray):
            return block
        return number_categories(block, xgboost_categories(self.booster, block))


def _objective_of_booster(booster: Any) -> str:
    return str(json.loads(booster.save_config())["learner"]["objective"]["name"])


@dataclass(frozen=True, eq=False)
class LightgbmModel:
    """A Booster of LightGBM, asked for its raw scores.

    `categories` are those of the model whose like it is: it was trained on their numbers.
    """

    booster: Any
    categories: Categories = field(default_factory=dict)

    @property
    def description(self) -> ModelDescription:
        """What its file says of it."""
        names = tuple(self.booster.feature_name())
        features = () if all(one == f"Column_{n}" for n, one in enumerate(names)) else names
        versions = versions_of("lightgbm")
        return ModelDescription(
            "lightgbm", "Booster", versions, (), features, int(self.booster.num_feature())
        )

    def answer(self, block: Block) -> Answer:
        """Return logits: the raw scores, those of two classes by the steepness of their sigmoid."""
        lines = self.booster.model_to_string(num_iteration=1).splitlines()
        objective_line = next(
            (line for line in lines if line.startswith("objective=")), "objective="
        )
        objective, *settings = objective_line.removeprefix("objective=").split()[:3] or [""]
        if objective not in ("binary", "multiclass", "multiclassova", "cross_entropy"):
            raise _not_a_classifier("LightGBM", objective)
        slopes = [float(one.partition(":")[2]) for one in settings if one.startswith("sigmoid:")]
        scores = self.booster.predict(as_matrix(self.prepare(block), np.float64), raw_score=True)
        return {"logits": two_class_logits(scores) * (slopes[0] if slopes else 1.0)}

    def prepare(self, block: Block) -> Block:
        """Return records with the numbers of categories. Raises AuditError (A003, A014)."""
        if isinstance(block, np.ndarray):
            return block
        return number_categories(block, self.known_categories)

    @property
    def known_categories(self) -> Categories:
        """Its categories. Raises AuditError (A014) where it does not name their features."""
        return self.categories or lightgbm_categories(self.booster)
