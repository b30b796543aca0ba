"""A model of dbt: the people as analysts may read them, or an error and no table."""

import os
from pathlib import Path


def model(dbt, session):
    dbt.config(materialized="table")
    from policy_engine import apply_policy

    policy = Path(os.environ.get("PEOPLE_POLICY", "../people.policy.yaml"))
    people = dbt.ref("people")  # a relation of DuckDB
    return apply_policy(policy, {"": people}).table
