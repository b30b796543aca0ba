import numpy as np

from policy_engine.kernels.full_domain import Ladder
from policy_engine.kernels.full_domain.tuples import TupleTable


def test_tuples_stay_apart_where_their_keys_would_overflow():
    # 2^62 takes six columns of 1,000 codes; the number of the first six and the seventh code
    # add up to the same in every tuple.
    codes = np.zeros((20, 13), dtype=np.int32)
    codes[:, 0] = np.tile(np.arange(10), 2)
    codes[:, 6] = 9 - codes[:, 0]
    table = TupleTable.from_ladders(
        [
            Ladder(column, (np.arange(1000, dtype=np.int32),), (np.zeros(1000),))
            for column in codes.T
        ]
    )
    assert table.counts.tolist() == [2] * 10
    assert (table.codes[table.tuple_of] == codes).all()
