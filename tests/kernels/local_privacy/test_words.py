"""Random words: of the operating system, or the same for one person and value."""

import numpy as np

from policy_engine.kernels.local_privacy.words import memoised_words, system_words

KEY = bytes(range(16))


def _memoised(persons, codes, label="gender", number=3, key=KEY):
    hashes = np.array(persons, dtype=np.uint64)[:, None]
    return memoised_words(hashes, np.array(codes), key, label, number)


def test_system_words_are_as_many_as_asked_for_and_never_the_same():
    words = system_words(4, 3)
    assert words.shape == (4, 3)
    assert len(np.unique(np.concatenate([words, system_words(4, 3)]))) == 24


def test_the_same_person_and_value_have_the_same_words_in_any_order():
    words = _memoised([7, 8, 7], [1, 1, 1])
    assert (words[0] == words[2]).all()
    assert (words[[1, 0]] == _memoised([8, 7], [1, 1])).all()


def test_another_person_value_label_or_key_has_other_words():
    words = np.concatenate(
        [
            _memoised([7, 8], [1, 1]),
            _memoised([7], [2]),
            _memoised([7], [1], label="age"),
            _memoised([7], [1], key=bytes(16)),
        ]
    )
    assert len(np.unique(words)) == words.size


def test_the_first_words_of_more_are_those_of_fewer():
    assert (_memoised([7], [1], number=5)[:, :2] == _memoised([7], [1], number=2)).all()
