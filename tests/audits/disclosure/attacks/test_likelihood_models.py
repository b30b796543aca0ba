"""Which maskings make values likely in a way that is known."""

import pytest

from policy_engine import terms
from policy_engine.audits.disclosure.attacks.transparency import LIKELIHOOD_MODELS
from policy_engine.methods.masking import masking_class

WITHOUT = {
    "shuffling": "its ranks follow from all other rows: the original is masked again",
    "pixelation": "no attack compares images",
}


@pytest.mark.parametrize("notation", terms.maskings())
def test_a_masking_has_a_model_of_its_likelihood_or_a_reason_for_none(notation):
    is_modelled = issubclass(masking_class(notation), tuple(LIKELIHOOD_MODELS))
    assert is_modelled != (notation in WITHOUT)
