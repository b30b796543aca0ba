"""Networks of Keras and PyTorch, and graphs of ONNX."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.fitted.blocks import Block, as_matrix
from policy_engine.audits.membership.fitted.model import (
    Answer,
    ModelDescription,
    to_answer,
    two_class_logits,
    versions_of,
)


@dataclass(frozen=True, eq=False)
class KerasModel:
    """A Keras model of any backend, asked for its output.

    `is_linear` says that its last activation was taken away, so that it gives logits.
    """

    model: Any
    is_linear: bool = False

    @property
    def description(self) -> ModelDescription:
        """Its class, and how many features it takes."""
        import keras  # noqa: PLC0415 (slow to import, an extra)

        backend = keras.backend.backend()
        versions = versions_of("keras", backend, f"{backend}-cpu")
        shape = getattr(self.model, "input_shape", None)
        is_flat = isinstance(shape, tuple) and len(shape) == 2 and isinstance(shape[1], int)
        width = shape[1] if is_flat and shape else 0
        return ModelDescription("keras", type(self.model).__name__, versions, (), (), width)

    def answer(self, block: Block) -> Answer:
        """Return the output of all records."""
        inputs = as_matrix(block, np.float32) if isinstance(block, pa.Table) else block
        output = np.asarray(self.model.predict(inputs, verbose=0))
        if self.is_linear:
            return {"logits": two_class_logits(output[:, 0] if output.shape[1] == 1 else output)}
        return {"output": output}


@dataclass(frozen=True, eq=False)
class TorchModel:
    """A module of PyTorch, or a program made of one, asked for its output without gradients."""

    module: Any
    name: str = ""

    @property
    def description(self) -> ModelDescription:
        """The module's class."""
        return ModelDescription(
            "torch", self.name or type(self.module).__name__, versions_of("torch")
        )

    def answer(self, block: Block) -> Answer:
        """Return the output; whole numbers are given as such where the module asks for them."""
        import torch  # noqa: PLC0415 (slow to import, an extra)

        inputs = as_matrix(block, np.float32) if isinstance(block, pa.Table) else block
        was_training = bool(getattr(self.module, "training", False))
        if was_training:
            with suppress(NotImplementedError):  # an exported program is as it was exported
                self.module.eval()
        try:
            with torch.no_grad():
                return to_answer(_tensor_of(self._call(torch, inputs)).detach().cpu().numpy())
        finally:
            if was_training:
                with suppress(NotImplementedError):
                    self.module.train()

    def _call(self, torch: Any, inputs: NDArray[Any]) -> Any:
        try:
            return self.module(torch.from_numpy(inputs.astype(np.float32)))
        except (RuntimeError, TypeError):
            if inputs.dtype.kind not in "iu":
                raise
            return self.module(torch.from_numpy(inputs.astype(np.int64)))


def _tensor_of(output: Any) -> Any:
    """Return the tensor of the classes in what a module returns: its logits, else its first."""
    if isinstance(output, Mapping):
        return output["logits"] if "logits" in output else next(iter(output.values()))
    if isinstance(output, tuple | list):
        return _tensor_of(output[0])
    return output


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A session of onnxruntime: one input of all features, or one for each column."""

    session: Any

    @property
    def description(self) -> ModelDescription:
        """What its inputs say of it."""
        inputs = self.session.get_inputs()
        versions = versions_of("onnxruntime", "onnxruntime-gpu")
        if len(inputs) > 1:
            names = tuple(one.name for one in inputs)
            return ModelDescription("onnxruntime", "ONNX", versions, (), names, len(names))
        shape = inputs[0].shape
        is_flat = len(shape) == 2 and isinstance(shape[1], int)
        return ModelDescription("onnxruntime", "ONNX", versions, (), (), shape[1] if is_flat else 0)

    def answer(self, block: Block) -> Answer:
        """Return the probabilities where it gives some, its first output of numbers, or labels."""
        inputs = self.session.get_inputs()
        inputs_by_name = {inputs[0].name: _to_input(inputs[0].type, block)}
        if len(inputs) > 1 and isinstance(block, pa.Table):
            inputs_by_name = {
                one.name: _column(one.type, block.column(one.name)).reshape(-1, 1) for one in inputs
            }
        outputs = [one.name for one in self.session.get_outputs()]
        return _read_outputs(
            dict(zip(outputs, self.session.run(None, inputs_by_name), strict=True))
        )


_ONNX = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
    "tensor(float16)": np.float16,
    "tensor(bool)": np.bool_,
}


def _to_input(kind: str, block: Block) -> NDArray[Any]:
    dtype = _ONNX.get(kind, np.float32)
    if isinstance(block, np.ndarray):
        return block.astype(dtype)
    return as_matrix(block, dtype)


def _column(kind: str, column: pa.ChunkedArray) -> NDArray[Any]:
    if kind == "tensor(string)":
        texts = column.cast(pa.string()).to_pylist()
        return np.array([text or "" for text in texts], dtype=object)
    return as_matrix(pa.table({"": column}), _ONNX.get(kind, np.float32))[:, 0]


def _read_outputs(outputs: Mapping[str, Any]) -> Answer:
    maps = [
        one
        for one in outputs.values()
        if isinstance(one, list) and one and isinstance(one[0], dict)
    ]
    if maps:
        classes = list(maps[0][0])
        values = np.array([[row[name] for name in classes] for row in maps[0]])
        return {"probabilities": values, "classes": np.array(list(map(str, classes)))}
    arrays = {name: one for name, one in outputs.items() if isinstance(one, np.ndarray)}
    numbers = {name: one for name, one in arrays.items() if one.dtype.kind == "f"}
    likely = [name for name in numbers if "prob" in name.lower()]
    if likely:
        return {"output": numbers[likely[0]]}
    if numbers:
        return {"output": next(iter(numbers.values()))}
    return {"labels": next(iter(arrays.values())).ravel().astype(str)}
