"""The picture of what models are worth by how classes were formed."""

from pathlib import Path

from policy_engine.api.class_methods import SHORT
from policy_engine.api.drawing_exploration import check_chart
from policy_engine.api.model_comparison import ModelComparison
from policy_engine.api.model_comparison_wording import MEASURES
from policy_engine.audits.reports.charts.model_comparison import ModelMap, ModelPoint, model_file
from policy_engine.data.atomic_file import write_file
from policy_engine.errors import OutputError


def model_chart(comparison: ModelComparison, path: Path, *inputs: Path) -> None:
    """Draw how right models are against k by how classes were formed, and beside it what an attack
    on them reaches, as `.svg` or `.png`.

    Raises OutputError if the file cannot be written, has another suffix, or there is nothing to
    draw (O002), or it is one of the `inputs` (O001); DataError (C011) without matplotlib.
    """
    kind = check_chart(path)
    formed = list(comparison.formed())
    if not formed:
        message = "There is nothing to draw: the table cannot be released at any of the settings."
        raise OutputError.of("O002", message)
    names = dict.fromkeys(name for run, _ in formed for name in run.setting)
    axis = "k" if "k" in names else next(iter(names), "k")
    points = []
    for run, outcome in formed:
        rest = [f"{name} = {value:g}" for name, value in run.setting.items() if name != axis]
        line = ", ".join([SHORT[run.method], *rest])
        at = float(run.setting.get(axis, 1))
        points.append(ModelPoint(line, at, outcome.right, outcome.auc, run.is_chosen))
    raw = ModelPoint("raw", 1, comparison.raw.right, comparison.raw.auc)
    drawn = ModelMap(points, axis, MEASURES[comparison.measure], raw, comparison.guessed)
    write_file(path, model_file(drawn, kind), *inputs)
