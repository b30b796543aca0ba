from served import CUSTOMER

from policy_engine.service.resources import diagnostics
from policy_engine.service.resources.diagnostics import TextChecks

TEXT = CUSTOMER.read_bytes()


def test_a_text_is_checked_once(monkeypatch):
    checks = TextChecks()
    first = checks.diagnose(TEXT)
    monkeypatch.setattr(diagnostics, "check", None)
    assert checks.diagnose(TEXT) is first
    assert first.valid


def test_only_so_many_texts_are_remembered(monkeypatch):
    monkeypatch.setattr(diagnostics, "_MOST_TEXTS", 2)
    checks = TextChecks()
    for text in (b"", b"{", b"[", b"{"):
        assert not checks.diagnose(text).valid
    assert len(checks._memo) == 2


def test_a_text_with_many_problems_is_not_remembered(monkeypatch):
    monkeypatch.setattr(diagnostics, "_MOST_PROBLEMS", 0)
    checks = TextChecks()
    checks.diagnose(b"")
    assert not checks._memo
