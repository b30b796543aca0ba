"""k-anonymity: no row is unique."""

from typing import ClassVar

from policy_engine.methods.privacy_model import PrivacyModel


class KAnonymity(PrivacyModel):
    """Every row shares its generalised quasi-identifier with at least k - 1 others.

    With a unit of privacy, it is k persons that share it. Samarati: Protecting Respondents'
    Identities in Microdata Release, IEEE TKDE 13(6), 2001.
    """

    notation: ClassVar[str] = "k-anonymity"
    is_about_values: ClassVar[bool] = False
