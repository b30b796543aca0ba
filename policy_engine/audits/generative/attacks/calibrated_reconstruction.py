"""How well a record is reconstructed beside how well one like it is that nobody has seen."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.asking import mean_square_errors
from policy_engine.audits.generative.attacks.calibrated import calibrated
from policy_engine.audits.generative.attacks.reconstruction import why_not
from policy_engine.audits.generative.material import Material
from policy_engine.audits.generative.spaces.choosing import spaces_of
from policy_engine.audits.generative.spaces.space import RecordSpace
from policy_engine.kernels.estimates import NotApplicable

_NO_REFERENCE = NotApplicable(reason="There are no reference records.")


def calibrated_reconstruction(
    material: Material, space: RecordSpace | None = None
) -> NDArray[np.float64] | NotApplicable:
    """Return how much smaller the error of each audited record is than it should be, (n,).

    It is the difference of two logarithms, see `calibrated`; distances are taken in the first space
    unless another is given. Latent codes are their means, as in `reconstruction`. Raises
    AuditError (A032) for reconstructions of no use.
    """
    refusal = why_not(material)
    if refusal is not None:
        return refusal
    fitting, audited = material.fitting, material.audited
    if fitting is None:
        return _NO_REFERENCE
    errors, of_references = (
        mean_square_errors(
            material, material.model, one.values, one.labels, passes=0, seed=material.seed
        )
        for one in (audited, fitting)
    )
    return calibrated(material, space or spaces_of(material)[0], errors, of_references)
