"""Generative models by their name: objects of Python, files of Keras, and released generators.

`module:object` runs code of the user's own, as importing it does. The object is a model; a class of
models, or a function without arguments that returns one; or a function that samples,
`f(n, label=..., seed=...)`. Where models are fitted, it is an object with a method `fit`; a class
of such objects, or a function without arguments that returns one, made anew for each model; or a
function that fits, `f(features, labels, seed)`. A `.keras` file is a generator; a folder may have
an encoder and a discriminator beside it. They are opened in Keras's safe mode, which runs no code
of the file.
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from policy_engine.audits.generative.models.keras_generator import (
    KerasDiscriminator,
    KerasGenerator,
    KerasReconstruction,
)
from policy_engine.audits.generative.models.own_code import own_code
from policy_engine.audits.generative.models.protocols import Fits, Samples
from policy_engine.audits.membership.training.runtime import ignore_deprecations, need_keras
from policy_engine.engines.synthesising.generator_files import DESCRIPTION, read_generator
from policy_engine.errors import AuditError, DataError

GENERATOR, ENCODER, DISCRIMINATOR = "generator.keras", "encoder.keras", "discriminator.keras"
_HINT = "It needs a method sample(n, *, label=None, seed), or is such a function itself."


@dataclass(frozen=True)
class SamplingFunction:
    """A function that samples, as a model."""

    function: Callable[..., Any]

    def sample(self, n: int, *, label: int | None = None, seed: int) -> NDArray[Any]:
        """Return what the function gives; it gets a label only where there is one."""
        labels = {} if label is None else {"label": label}
        samples: NDArray[Any] = self.function(n, **labels, seed=seed)
        return samples


@dataclass(frozen=True)
class FittingFunction:
    """A function that fits, `f(features, labels, seed)`, as a generator that can be fitted."""

    function: Callable[..., Any]

    def fit(self, features: Any, labels: Any, seed: int) -> Any:
        """Return what the function gives."""
        return self.function(features, labels, seed)


@dataclass(frozen=True)
class NewGenerators:
    """What makes generators that can be fitted: each is used once, so that none knows of others."""

    make: Callable[[], Any]
    name: str

    def fit(self, features: Any, labels: Any, seed: int) -> Any:
        """Return what a new one gives, or itself. Raises AuditError (A014) where it has no fit."""
        with own_code("A014", self.name, "when it is called without arguments"):
            made = self.make()
        if not isinstance(made, Fits):
            raise AuditError.of("A014", f"{self.name} cannot be fitted.", _FIT_HINT)
        fitted = made.fit(features, labels, seed)
        return made if fitted is None else fitted


_FIT_HINT = (
    "It needs a method fit(features, labels, seed), which returns a model that samples, or is such "
    "a function itself."
)


def load_fits(source: Any) -> Fits:
    """Return what fits generators: of a name `module:object`, or an object.

    Raises AuditError (A014) where it cannot be imported, or cannot be fitted.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir() or path.suffix == ".keras":
            raise AuditError.of("A014", "A file of Keras is fitted already.", _FIT_HINT)
        return _fits_of(_object_of(str(source)), str(source))
    return _fits_of(source, repr(source))


def _fits_of(source: Any, name: str) -> Fits:
    if not inspect.isclass(source) and isinstance(source, Fits):
        return source
    if not callable(source):
        raise AuditError.of("A014", f"{name} cannot be fitted.", _FIT_HINT)
    if not inspect.isclass(source) and _parameters(source):
        return FittingFunction(source)
    return NewGenerators(source, name)


def _parameters(function: Callable[..., Any]) -> Collection[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # of compiled functions they are not known
        return ()


def load_model(source: Any) -> Samples:
    """Return the model of a name or a path, or an object as a model.

    Raises AuditError (A014) where it is not a model that samples, or cannot be opened; DataError
    (C002) for a file that does not exist, (C011) without Keras, (C017) for files that are not those
    of a generator.
    """
    if not isinstance(source, str | Path):
        return model_of(source, repr(source))
    path = Path(source)
    if (path / DESCRIPTION).is_file():
        return read_generator(path)
    if path.is_dir() or path.suffix == ".keras":
        return _keras_model(path)
    return model_of(_object_of(str(source)), str(source))


def model_of(source: Any, name: str) -> Samples:
    """Return an object as a model. Raises AuditError (A014) where it is none."""
    is_class = inspect.isclass(source)
    if callable(source) and not is_class and not _is_model(source) and _takes_seed(source):
        return SamplingFunction(source)
    if is_class or (callable(source) and not _is_model(source)):
        with own_code("A014", name, "when it is called without arguments"):
            source = source()
    if not _is_model(source):
        raise AuditError.of("A014", f"{name} is not a generative model.", _HINT)
    model: Samples = source if isinstance(source, Samples) else KerasGenerator(source)
    return model


def _is_model(source: Any) -> bool:
    is_of_keras = hasattr(source, "predict_on_batch") and hasattr(source, "input_shape")
    return isinstance(source, Samples) or is_of_keras


def _takes_seed(function: Callable[..., Any]) -> bool:
    return "seed" in _parameters(function)


def _object_of(name: str) -> Any:
    """Return an object by `module:object`; modules may lie in the working directory."""
    module_name, _, attribute = name.rpartition(":")
    if not module_name or not attribute:
        message = f"A model is given as module:object, or as a .keras file. Given: {name!r}."
        raise AuditError.of("A014", message)
    with own_code("A014", repr(module_name), "when it is imported"), _working_directory():
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            message = f"{module_name!r} cannot be imported: there is no module {error.name!r}."
            raise AuditError.of("A014", message) from error
    if not hasattr(module, attribute):
        raise AuditError.of("A014", f"{module_name!r} has no {attribute!r}.")
    return getattr(module, attribute)


@contextmanager
def _working_directory() -> Iterator[None]:
    here = str(Path.cwd())
    if here in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _keras_model(path: Path) -> KerasGenerator:
    """Return the model of a `.keras` file, or of a folder with a generator and perhaps others."""
    if path.suffix == ".keras" and not path.is_dir():
        return KerasGenerator(_open(path))
    generator = _open(path / GENERATOR)
    encoder, discriminator = (
        _open(path / name) if (path / name).exists() else None for name in (ENCODER, DISCRIMINATOR)
    )
    return KerasGenerator(
        generator,
        None if encoder is None else KerasReconstruction(generator, encoder),
        None if discriminator is None else KerasDiscriminator(discriminator),
    )


def _open(path: Path) -> Any:
    if not path.is_file():
        raise DataError.of("C002", f"There is no file {str(path)!r}.", source=str(path))
    keras = need_keras()
    with own_code("A014", "The file", "when it is opened by Keras"), ignore_deprecations():
        return keras.models.load_model(path, compile=False, safe_mode=True)
