import pytest
from stdnum import luhn
from stdnum.nl import bsn

from policy_engine.engines.identifier_values import kind_of_identifier

CARDS = [f"4{n:014d}{luhn.calc_check_digit(f'4{n:014d}')}" for n in range(20)]
DUTCH = [
    text for text in (f"{n:09d}" for n in range(100_000_000, 100_000_400)) if bsn.is_valid(text)
]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"anna{n}@example.com" for n in range(20)], "an e-mail address"),
        ([f"+44 20 7946 0{n:03d}" for n in range(20)], "a telephone number"),
        (CARDS, "a payment card"),
        (DUTCH, "a national number (NL)"),
        ([f"10.0.0.{n}" for n in range(20)], "an address of the internet"),
        ([f"https://example.com/{n}" for n in range(20)], "a link"),
        ([f"00000000-0000-4000-8000-{n:012d}" for n in range(20)], "a unique identifier (UUID)"),
        ([f"She came on day {n} and left again soon" for n in range(20)], "free text"),
        ([str(100_000 + n) for n in range(200)], ""),
        ([f"Ward {n}" for n in range(20)], ""),
        (CARDS[:5], ""),
        ([*CARDS, "1", "2"], ""),
        ([], ""),
    ],
)
def test_values_that_name_persons_are_known(values, kind):
    assert kind_of_identifier(values) == kind


def test_a_bank_account_is_known_by_its_checksum():
    accounts = []
    for n in range(20):
        body = f"{n:018d}"
        check = 98 - int(f"{body}131400") % 97
        accounts.append(f"DE{check:02d}{body}")
    assert kind_of_identifier(accounts) == "a bank account (IBAN)"
