"""What a generative model can do for an audit: it samples, and perhaps more.

A model need not inherit anything: it has the methods, or it does not. Records are given and
returned in the shape of one record of the data, values as the data has them (bytes as shares of
255). A label is a class, counted from 0 in the order of the material's classes.
"""

from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from policy_engine.audits.generative.material import Floats, Ints


@runtime_checkable
class Samples(Protocol):
    """A model that draws records."""

    def sample(self, n: int, *, label: int | None = None, seed: int) -> NDArray[Any]:
        """Return `n` records, (n, *shape), of a class, or of any. The same seed gives the same."""
        ...


@runtime_checkable
class Fits(Protocol):
    """A generator that can be fitted anew, on any records."""

    def fit(self, features: Any, labels: Ints | None, seed: int) -> Any:
        """Return a model of some records that samples, or the records that it releases; with None,
        this object is the model.

        Of arrays, `features` are the records, (n, *shape), and `labels` their classes (n,), None
        where they have none. Of tables, `features` are an Arrow table of all columns, the label
        among them, and `labels` are None. The same records and seed give the same model.
        """
        ...


@runtime_checkable
class Reconstructs(Protocol):
    """A model that maps a record to a latent code, and this to a record."""

    def reconstruct(
        self, x: Floats, *, label: Ints | int | None = None, passes: int, seed: int
    ) -> NDArray[Any]:
        """Return what becomes of records (n, *shape), in the same shape.

        With 0 passes the code is its mean, and nothing is random; otherwise the result is the mean
        over as many codes.
        """
        ...


@runtime_checkable
class Densities(Protocol):
    """A model that says how probable records are to it."""

    def log_density(self, x: Any, *, label: Ints | int | None = None) -> NDArray[Any]:
        """Return the logarithm of the density of each record (n, *shape), (n,), or of each row of a
        table; minus infinity is none at all. A constant that is the same for all does not
        matter."""
        ...


@runtime_checkable
class Discriminates(Protocol):
    """A model that says whether records look real."""

    def discriminate(self, x: Floats, *, label: Ints | int | None = None) -> NDArray[Any]:
        """Return a number for each record (n, *shape), (n,), the higher the rather real."""
        ...
