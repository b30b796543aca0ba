"""A fitted model's answers, checked, as logits of the classes of the labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.answer_checks import WIDEST, check_logits, check_probabilities
from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.audits.membership.fitted.model import Answer, ModelDescription
from policy_engine.audits.membership.fitted.questions import blocks_of
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS, LABEL_ANSWERS, Terms
from policy_engine.audits.membership.records import plain_number
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError

Outputs = Literal["", "probabilities", "logits"]


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """A model's answers about n records: `logits` (n, C), 1 and 0 where it gives labels alone."""

    logits: NDArray[np.float32]
    classes: tuple[str, ...]
    gives: Terms


@dataclass(frozen=True)
class AnswerReading:
    """How answers are read: the `classes` in the order of the answers, where the model does not
    tell, and what its `outputs` are, where that cannot be seen."""

    classes: tuple[str, ...] = ()
    outputs: Outputs = ""


def ask_model(
    ask: Callable[[Block], Answer],
    model: ModelDescription,
    records: Block,
    labels: Sequence[str],
    reading: AnswerReading = AnswerReading(),
    progress: Progress = silent,
) -> ClassAnswers:
    """Ask a model about records, and return its answers.

    Raises AuditError where these are not probabilities of classes (A004), or the labels are not
    its classes (A002), and whatever `ask` raises.
    """
    answer = _ask_in_blocks(ask, records, progress)
    if "labels" in answer and not {"probabilities", "logits", "output"} & set(answer):
        return _label_answers(answer["labels"], model, labels)
    logits = logits_of(answer, len(records), reading.outputs)
    names = tuple(answer["classes"].tolist()) if "classes" in answer else model.classes
    return ClassAnswers(
        logits, _classes(logits.shape[1], names, reading.classes, labels), CONFIDENCE_ANSWERS
    )


def class_numbers(labels: Sequence[str], classes: Sequence[str]) -> NDArray[np.int64]:
    """Return labels as indices of classes. Raises AuditError (A002) for an unknown label."""
    place = {_class_key(one, classes): number for number, one in enumerate(classes)}
    numbers = np.array([place.get(_class_key(one, classes), -1) for one in labels], dtype=np.int64)
    if (numbers < 0).any():
        wrong, size = int((numbers < 0).sum()), len(classes)
        message = f"{wrong:,} records have a label that is not one of the model's {size:,} classes."
        hint = "Name the classes in the order of the model's answers: classes=(CLASS, ...)."
        raise AuditError.of("A002", message, hint)
    return numbers


def _class_key(text: str, classes: Sequence[str]) -> str:
    """Return a class normalised: truth values in lower case, whole numbers without a point."""
    return text.lower() if set(classes) == {"False", "True"} else plain_number(text)


def _ask_in_blocks(ask: Callable[[Block], Answer], records: Block, progress: Progress) -> Answer:
    parts: list[Answer] = []
    done = 0
    progress("answers", 0, len(records))
    for block in blocks_of(records):
        part = ask(block)
        _check_shape(part, len(block), parts)
        parts.append(part)
        done += len(block)
        progress("answers", done, len(records))
    answer = {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
    return answer if "classes" not in answer else {**answer, "classes": parts[0]["classes"]}


def _check_shape(part: Answer, rows: int, earlier: Sequence[Answer]) -> None:
    for name, values in part.items():
        if name == "classes":
            continue
        if not values.ndim or len(values) != rows:
            message = f"Asked about {rows:,} records, the model answers {_shape(values)}."
            raise AuditError.of("A004", message, "One answer per record is needed.")
        if earlier and values.shape[1:] != earlier[0].get(name, values[:0, ...]).shape[1:]:
            raise AuditError.of(
                "A004", "The form of the model's answers changes from record to record."
            )
    if earlier and set(part) != set(earlier[0]):
        raise AuditError.of(
            "A004", "The form of the model's answers changes from record to record."
        )


def _shape(values: NDArray[Any]) -> str:
    return f"with an array of shape {tuple(values.shape)}"


def logits_of(answer: Answer, rows: int, outputs: Outputs = "") -> NDArray[np.float32]:
    """Return the answers about so many records as logits (n, C).

    Raises AuditError (A004) where they are missing or are not probabilities.
    """
    if "probabilities" in answer:
        shares = _matrix(answer["probabilities"])
        check_probabilities(shares, _NO_LOGITS)
        if "logits" in answer:
            return _clip_logits(_matrix(answer["logits"]))
        return _logarithms(shares)
    if "logits" in answer:
        return _clip_logits(_matrix(answer["logits"]))
    values = answer["output"]
    is_one = values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1)
    values = _matrix(values.reshape(rows, -1) if is_one else values)
    with np.errstate(invalid="ignore"):
        are_shares = bool(((values >= -1e-6) & (values <= 1 + 1e-6)).all())
    if is_one:
        values = values[:, 0]
        are_shares = are_shares if not outputs else outputs == "probabilities"
        other = 1 - values if are_shares else np.zeros(rows)
        values = np.stack([other, values], axis=1)
    if outputs == "probabilities" or (not outputs and are_shares):
        check_probabilities(values, _ARE_LOGITS)
        return _logarithms(values)
    return _clip_logits(values)


_ARE_LOGITS = "Are these logits? Then say so: outputs='logits'."
_NO_LOGITS = "predict_proba must give a probability for each class."


def _matrix(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.ndim != 2 or values.dtype.kind not in "fiub" or not values.shape[1]:
        message = f"The model answers {_shape(values)}."
        hint = "One number for each class is needed, or one for class 1 of two."
        raise AuditError.of("A004", message, hint)
    return values.astype(np.float64)


def _clip_logits(logits: NDArray[np.float64]) -> NDArray[np.float32]:
    if logits.shape[1] < 2:
        raise AuditError.of("A004", "The model answers with one number, which belongs to no class.")
    check_logits(logits)
    return np.maximum(logits, -WIDEST).astype(np.float32)


def _logarithms(shares: NDArray[np.float64]) -> NDArray[np.float32]:
    if shares.shape[1] < 2:
        raise AuditError.of("A004", "The model answers with one number, which belongs to no class.")
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(shares, 0)).astype(np.float32)


def _classes(
    count: int,
    model_classes: tuple[str, ...],
    given_classes: tuple[str, ...],
    labels: Sequence[str],
) -> tuple[str, ...]:
    """Return the classes of answers: as the model has them, as they were named, else 0 to C-1."""
    classes = tuple(plain_number(one) for one in given_classes or model_classes)
    if classes and len(classes) != count:
        source = "are named" if given_classes else "are those that it names"
        message = f"The model answers with {count:,} numbers a record, and {len(classes):,} classes"
        raise AuditError.of("A004", f"{message} {source}.")
    if classes:
        return classes
    numbered = tuple(map(str, range(count)))
    hint = "Name the classes in the order of the model's answers: classes=(CLASS, ...)."
    if not set(labels) <= set(numbered):
        message = f"The model does not name its {count:,} classes, and the labels are not 0 to "
        raise AuditError.of("A002", f"{message}{count - 1}.", hint)
    if "0" not in labels:
        message = f"The model does not name its {count:,} classes, and no label is 0: they may be "
        raise AuditError.of("A002", f"{message}counted from 0 or from 1.", hint)
    return numbered


def _label_answers(
    answers: NDArray[Any], model: ModelDescription, labels: Sequence[str]
) -> ClassAnswers:
    """Return labels alone as 1 and 0."""
    texts = [plain_number(str(one)) for one in answers.ravel().tolist()]
    model_classes = tuple(plain_number(one) for one in model.classes)
    if not model_classes and not set(texts) & set(labels):
        message = "None of the model's labels is a label of the data."
        raise AuditError.of("A002", message, "Is this a classifier of these labels?")
    classes = model_classes or tuple(sorted({*texts, *labels}))
    numbers = class_numbers(texts, classes)
    return ClassAnswers(np.eye(len(classes), dtype=np.float32)[numbers], classes, LABEL_ANSWERS)
