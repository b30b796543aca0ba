"""A DAG of Airflow: each day the people of that day are released, if their policy allows it.

Put it into the folder of DAGs, and say where the files are by the variables PEOPLE_POLICY and
PEOPLE_FOLDER of the environment; the folder has a `people.csv` and gets a release for each day.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

from airflow.sdk import dag, task


@dag(schedule="@daily", start_date=datetime(2026, 1, 1, tzinfo=UTC), catchup=False)
def release_people():
    @task
    def validate() -> str:
        """Fail before any data is read where the policy is not valid."""
        from policy_engine import check_policy

        return check_policy(os.environ["PEOPLE_POLICY"]).uid

    @task
    def release(uid: str, ds: str | None = None) -> str:
        """Write the release of a day; nothing is written unless its bounds hold."""
        from policy_engine import apply_policy

        folder = Path(os.environ["PEOPLE_FOLDER"])
        # Tasks are tried again: what an earlier try wrote is replaced as a whole.
        made = apply_policy(
            os.environ["PEOPLE_POLICY"],
            {"": folder / "people.csv"},
            folder / f"released-{ds}",
            overwrite=True,
        )
        print(f"{uid}: {made!r}")
        return str(made.path)

    @task
    def check(path: str) -> int:
        """Measure the bounds again, in a process that did not make the release."""
        from policy_engine.testing import assert_release_holds

        return assert_release_holds(path, os.environ["PEOPLE_POLICY"]).rows_out

    check(release(validate()))


release_people()
