"""What a policy says, in sentences, and who can do what by it."""

from policy_engine.authoring.explanation.access_matrix import (
    AccessMatrix,
    MatrixRow,
    access_matrix,
)
from policy_engine.authoring.explanation.sentences import policy_sentences

__all__ = ["AccessMatrix", "MatrixRow", "access_matrix", "policy_sentences"]
