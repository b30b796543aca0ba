"""Files of tables for tests, and what is wrong with one."""

import pytest

from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError


def file_of(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def problem_of(path, *secrets):
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert not any(secret in str(caught.value) for secret in secrets)
    [problem] = caught.value.problems
    return problem
