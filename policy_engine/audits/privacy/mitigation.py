"""What privacy costs: the accuracy lost for what an attacker loses."""

from policy_engine.kernels.estimates import NotApplicable

CHANCE = 0.5
"""The precision, and the recall, of an attacker who guesses."""

_UNTOLD = (
    "On so many records the attack on the mitigated model cannot be distinguished from guessing: "
    "how much of it is left, and so phi, is not known."
)
_NOTHING_TO_LOSE = (
    "On so many records the attack on the original model cannot be distinguished from guessing: "
    "how much of it there is to lose, and so phi, is not known."
)


def mitigation_efficiency(
    accuracies: tuple[float, float], attacks: tuple[float, float], classes: int
) -> float | NotApplicable:
    """Return phi of MOSAICrOWN D5.2, equation 4.2: above 1, the attacker loses more than the owner.

    Both pairs are of before and after: the target's accuracies on its test records, the attack's
    precisions (or recalls). Each decrease is relative to the largest possible one, down to a
    guess among the classes or to .5, and what lies below that is set to it:

        phi = (share of the accuracy that is left) / (share of the attack that is left)

    There is none where the original is no better than a guess in either, or where what is left
    of the attack is right no more often than a guess: with so few records it may be right more
    often in truth, and phi have any value.
    """
    guess = 1 / classes
    accuracy, attack = (max(accuracies[0], guess), max(attacks[0], CHANCE))
    if accuracy <= guess:
        return NotApplicable(reason="The original model is no better than a guess.")
    if attack <= CHANCE:
        return NotApplicable(reason=_NOTHING_TO_LOSE)
    accuracy_left = _share_left(accuracy, accuracies[1], guess)
    attack_left = _share_left(attack, attacks[1], CHANCE)
    if attack_left == 0:
        return NotApplicable(reason=_UNTOLD)
    return accuracy_left / attack_left


def _share_left(before: float, after: float, baseline: float) -> float:
    """Return (maximum decrease - actual decrease) / maximum decrease."""
    largest = before - baseline
    return (largest - (before - max(after, baseline))) / largest
