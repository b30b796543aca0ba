"""Which spaces there are for some records."""

from policy_engine.audits.generative.material import Material
from policy_engine.audits.generative.spaces.encoded_rows import EncodedRows
from policy_engine.audits.generative.spaces.images import (
    ColourHistogram,
    OrientedGradients,
    Pixels,
    PrincipalComponents,
)
from policy_engine.audits.generative.spaces.space import RecordSpace

_FEWEST_FEATURES = 40


def spaces_of(material: Material) -> tuple[RecordSpace, ...]:
    """Return the spaces in which records can be compared, the one to use by default first.

    What is fitted is so on the public records alone.
    """
    if material.is_table:
        return (EncodedRows.fit(material),)
    spaces: list[RecordSpace] = []
    if material.public.values.shape[1] > _FEWEST_FEATURES:
        spaces.append(PrincipalComponents.fit(material))
    if len(material.shape) > 1 and min(material.shape[:2]) > 2:
        spaces.append(OrientedGradients(material.shape))
    if len(material.shape) == 3 and material.shape[2] > 1:
        spaces.append(ColourHistogram(material.shape))
    return (*spaces, Pixels.fit(material))
