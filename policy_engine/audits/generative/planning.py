"""Which models are audited together: those that are given, or so many that are fitted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy_engine import terms
from policy_engine.audits.generative.reading import GivenRecords, are_arrays
from policy_engine.audits.generative.runs import GeneratorRun, given_run, run_seed
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.errors import AuditError, did_you_mean, join_names


@dataclass(frozen=True)
class ModelPlan:
    """Members, holdout and synthetic records of each model, and the `models` themselves.

    Where `fitted` is not 0, so many are fitted, by the one model or by the `generator` of that
    name.
    """

    records: Sequence[tuple[Any, Any, Any]]
    models: Sequence[Any]
    fitted: int = 0
    generator: str = ""

    @property
    def count(self) -> int:
        """How many models are audited."""
        return self.fitted or len(self.records)

    @classmethod
    def of(
        cls,
        members: Any,
        holdout: Any,
        synthetic: Any,
        model: Any,
        *,
        models: int = 0,
        generator: str = "",
    ) -> "ModelPlan":
        """Return what is audited: of each source there is one, or a list of one for each model.

        Raises AuditError where nothing is that was made (A031), or models are not paired, or cannot
        be fitted (A034).
        """
        sides = {"members": members, "holdout": holdout, "synthetic": synthetic, "model": model}
        several = {name: _several(one) for name, one in sides.items()}
        if models or generator:
            _check_fits(several, models, generator)
            (first,), (second,) = several["members"], several["holdout"]
            return cls([(first, second, None)], several["model"], models or 1, generator)
        if not several["synthetic"] and not several["model"]:
            message = "Nothing is given that the generator made."
            raise AuditError.of("A031", message, "Give synthetic records, or a model, or both.")
        count = max(map(len, several.values()))
        if any(len(one) not in (0, count) for one in several.values()):
            counts = ", ".join(f"{name} {len(one)}" for name, one in several.items() if one)
            message = f"Of each model, everything is given once. Given, and how often: {counts}."
            raise AuditError.of("A034", message, "The n-th of each are those of one model.")
        columns = [several[name] or [None] * count for name in sides]
        return cls([*zip(*columns[:3], strict=True)], columns[3])


def _several(source: Any) -> Sequence[Any]:
    if source is None:
        return []
    return [*source] if isinstance(source, list | tuple) else [source]


def _check_fits(sources: dict[str, Sequence[Any]], models: int, generator: str) -> None:
    if models < 0:
        raise AuditError.of("A034", f"So many models cannot be fitted: {models:,}.")
    if len(sources["members"]) != 1 or len(sources["holdout"]) != 1:
        message = "Models are fitted on members and holdout together, which are given once."
        raise AuditError.of("A034", message)
    if sources["synthetic"]:
        message = "Models are fitted, and synthetic records are given, too."
        raise AuditError.of("A034", message, "Whoever gives the records gives those of each model.")
    if bool(generator) == bool(sources["model"]) or len(sources["model"]) > 1:
        message = "Models are fitted by one model with a method fit, or by one generator by name."
        raise AuditError.of("A034", message, "Give a model, or the name of a generator.")
    names = terms.synthesisers()
    if generator and generator not in names:
        message = f"There is no generator {generator!r}. There are {join_names(names)}."
        raise AuditError.of("A034", message, did_you_mean(generator, names))


def planned_runs(
    plan: ModelPlan,
    sides: Sequence[GivenRecords],
    settings: GenerativeSettings,
    samples: int | None,
    seed: int,
) -> Iterator[GeneratorRun]:
    """Yield what is audited of each model, made when its turn comes.

    Raises AuditError (A034) where a generator of tables is to learn arrays, (A014) where models
    cannot be opened or fitted, and as `given_run` does.
    """
    if not plan.fitted:
        for place, (one, model) in enumerate(zip(sides, plan.models, strict=True)):
            yield given_run(one, _opened(model), settings, run_seed(seed, place))
        return
    from policy_engine.audits.generative.fitted_runs import (  # noqa: PLC0415 (few need it)
        OwnGenerator,
        fitted_runs,
    )

    if not plan.generator:
        from policy_engine.audits.generative.models.loading import load_fits  # noqa: PLC0415

        fits = load_fits(plan.models[0])
    elif are_arrays(sides[0]):
        message = f"The generator {plan.generator} makes tables, and the files are arrays."
        raise AuditError.of("A034", message)
    else:
        fits = OwnGenerator(plan.generator, samples)
    yield from fitted_runs(sides[0], fits, plan.fitted, settings, seed)


def _opened(model: Any) -> Any:
    if not isinstance(model, str | Path):
        return model
    from policy_engine.audits.generative.models.loading import load_model  # noqa: PLC0415

    return load_model(str(model))
