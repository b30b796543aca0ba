"""Runs that are repeated with several seeds: kept for later calls, shown with an interval."""

import json
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""By how many standard errors a mean of so many runs may be off."""


class OutOfTimeError(Exception):
    """What a call may spend is spent; what it has measured is kept."""


@dataclass(frozen=True)
class KeptRuns:
    """What runs measured, by part and by a key of texts and numbers, in a file.

    A call measures for so many CPU `minutes`, and no longer than its last run.
    """

    path: Path
    minutes: float = float("inf")
    start: float = field(default_factory=time.process_time)

    def of(self, part):
        """Return what the runs of a part measured, by their keys."""
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        return {tuple(key): found for *key, found in kept.get(part, [])}

    def keep(self, part, runs):
        """Keep what the runs of a part measured in place of what was kept of it."""
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        kept[part] = [[*key, found] for key, found in runs.items()]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(kept))

    def check_time(self):
        """Raise OutOfTimeError where the minutes are spent."""
        if time.process_time() - self.start > 60 * self.minutes:
            raise OutOfTimeError

    def several(self, part, settings, seeds, measure):
        """Return what is measured with each setting, a list of one for each seed.

        Seeds for which the time did not suffice are left out, and settings of which a run measured
        nothing.
        """
        runs = self.of(part)
        try:
            for seed in seeds:
                for setting in settings:
                    if (*setting, seed) not in runs:
                        self.check_time()
                        runs[*setting, seed] = measure(*setting, seed)
                        self.keep(part, runs)
        except OutOfTimeError:
            print("stopped: call again with --resume", flush=True)
        whole = [one for one in seeds if all((*setting, one) in runs for setting in settings)]
        found = {setting: [runs[*setting, seed] for seed in whole] for setting in settings}
        return {setting: each for setting, each in found.items() if each and None not in each}


def interval(values):
    """Return a mean and the half of its 95% interval."""
    if len(values) < 2:
        return values[0], float("inf")
    return statistics.mean(values), (
        T_95[min(len(values), 10)] * statistics.stdev(values) / len(values) ** 0.5
    )


def spread(values, digits=2):
    """Return a mean with its interval as text, a dash without values."""
    if not values:
        return "-"
    mean, half = interval(values)
    return f"{mean:.{digits}f} ± {half:.{digits}f}" if len(values) > 1 else f"{mean:.{digits}f}"


def spreads(runs):
    """Return figures of several runs as one row of texts, and how many runs there are."""
    row = {name: spread([one[name] for one in runs], 3) for name in runs[0]}
    return {**row, "runs": len(runs)}
