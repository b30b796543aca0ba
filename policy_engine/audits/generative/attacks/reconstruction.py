"""How well a model reconstructs a record: those that it was trained on, better than others."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.asking import mean_square_errors
from policy_engine.audits.generative.material import Material
from policy_engine.audits.generative.models.protocols import Reconstructs
from policy_engine.kernels.estimates import NotApplicable

_NO_ENCODER = NotApplicable(reason="The model does not reconstruct records.")
_TABLE = NotApplicable(reason="Errors of reconstructions are for images and numeric features.")


def reconstruction(material: Material, passes: int = 0) -> NDArray[np.float64] | NotApplicable:
    """Return the negative mean square error of each audited record, (n,).

    The latent code is its mean; with `passes` the error is the mean over as many random ones
    (Hilprecht et al., PoPETs 2019, section 4.2; MOSAICrOWN D5.2, section 4.4.3). The single pass
    by the mean is the stronger. Raises AuditError (A032) for reconstructions of no use.
    """
    refusal = why_not(material)
    if refusal is not None:
        return refusal
    audited = material.audited
    arguments = material, material.model, audited.values, audited.labels
    return -mean_square_errors(*arguments, passes=passes, seed=material.seed)


def why_not(material: Material) -> NotApplicable | None:
    """Return why records cannot be reconstructed, or None."""
    if material.model is None or not isinstance(material.model, Reconstructs):
        return _NO_ENCODER
    return _TABLE if material.is_table else None
