import numpy as np

from policy_engine.audits.membership.record_scores import RecordScores


def test_the_most_exposed_members_come_first():
    found = RecordScores(
        rows=np.array([4, 9, 1, 7]),
        is_member=np.array([True, True, False, False]),
        scores={"loss": np.zeros(4), "rmia": np.array([0.25, 3.0, 9.0, -1.0])},
        called={"loss": np.zeros(4, bool), "rmia": np.array([False, True, True, False])},
        exposed_by="rmia",
    )
    assert found.as_csv().splitlines() == [
        "row,member,rmia,rmia calls,loss,loss calls",
        "9,1,3.0,1,0.0,0",
        "4,1,0.25,0,0.0,0",
        "1,0,9.0,1,0.0,0",
        "7,0,-1.0,0,0.0,0",
    ]
