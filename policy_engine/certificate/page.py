"""A certificate as part of an HTML page: the required bounds, and the measured values."""

from collections.abc import Iterator

from policy_engine.audits.attribute.gate import format_secret
from policy_engine.audits.disclosure.gate import format_disclosure
from policy_engine.audits.disclosure.unique_rows import UniqueRows
from policy_engine.audits.gate import format_measurement
from policy_engine.audits.generative.gate import format_synthetic
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.label_figures import LabelFigures
from policy_engine.certificate.shortcomings import file_figures
from policy_engine.markup import html_table


def certificate_html(certificate: Certificate) -> str:
    """Return a table of the bounds of a certificate, in HTML with every value escaped."""
    caption = f"{certificate.plan.publish.asset}: {certificate.rows_out:,} rows"
    caption = f"{certificate.warning} {caption}".strip()
    return html_table(caption, ("measure", "asked", "achieved"), _bounds(certificate))


def _bounds(certificate: Certificate) -> Iterator[tuple[str, str, str]]:
    for one in certificate.measurements:
        name = f"{one.bound} of {one.column}" if one.column else one.bound
        yield name, f"{one.sense} {one.asked:g}", f"{one.achieved:.6g}"
    for attack in certificate.attacks:
        yield attack.attack, str(attack.bound), format_measurement(attack)
    for disclosure in certificate.disclosures:
        yield disclosure.name, str(disclosure.bound), format_disclosure(disclosure)
    for reached in certificate.synthetic_attacks:
        yield reached.attack, str(reached.bound), format_synthetic(reached)
    for secret in certificate.secret_attacks:
        yield secret.name, str(secret.bound), format_secret(secret)
    for name, limit, achieved, _ in file_figures(certificate):
        yield name, limit, achieved
    yield from _figures(certificate)


def _figures(certificate: Certificate) -> Iterator[tuple[str, str, str]]:
    """Yield what no bound was asked of."""
    unique, label = certificate.unique_rows, certificate.label_figures
    if certificate.lowered_loss:
        yield "loss lowered by leaving rows out", "", str(certificate.lowered_loss)
    if isinstance(unique, UniqueRows):
        yield from ((name.strip(), "", text) for name, text in unique.texts())
    elif unique is not None:
        yield "unique on what is kept exact", "", unique.reason
    if isinstance(label, LabelFigures):
        for name, text in label.texts(certificate.rows_out):
            yield name, "", text
    elif label is not None:
        yield "label in classes", "", label.reason
