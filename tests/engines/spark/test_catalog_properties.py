"""Certificates as properties of tables: Spark shows none that has words of secrets."""

import json
import re
from contextlib import nullcontext

import pytest

from policy_engine.engines.spark import engine as engines
from policy_engine.engines.spark.catalog_tables import REDACTED, shown_text
from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.errors import DataError

HIDDEN = re.compile("secret|password|token|access[.]?key|credential|url", re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "https://www.w3.org/ns/credentials/v2",
        "VerifiableCredential",
        "http://x.org/URL/accessKey/access.key/Passwordtoken",
        "secret\u00e9cret \\\\url \\u0074oken",
        "tab\token \\token \nurl",
        "plain, \u00fc and 'quoted' \"words\"",
    ],
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_words_of_secrets_are_written_so_that_spark_shows_them(text, is_ascii):
    document = {text: [text, {"x": text}]}
    shown = shown_text(json.dumps(document, ensure_ascii=is_ascii, indent=1))
    assert json.loads(shown) == document
    assert not HIDDEN.search(shown)


def test_what_has_no_such_word_is_as_it_was():
    assert shown_text('{"a": "\\u0075rl"}') == '{"a": "\\u0075rl"}'


def test_a_certificate_that_spark_hides_is_said_to_be_hidden(monkeypatch):
    monkeypatch.setattr(engines, "certificate_text", lambda *_: REDACTED)
    monkeypatch.setattr(engines, "running", lambda *_: nullcontext())
    with pytest.raises(DataError, match=r"C003 .* hides the certificate"):
        SparkEngine(object(), is_checked=True).certificate_text("table:a")
