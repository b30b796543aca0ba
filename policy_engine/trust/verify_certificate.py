"""Verify a signed release certificate: verify_certificate.py CERTIFICATE --output F --trust F.

This file runs alone, with Python 3.11 and the package `cryptography`. It ends with 0 where a key
that the trust file covers signed the certificate for exactly these bytes, else with 1. It says what
it checked and what it did not. Standards: W3C VC Data Model 2.0, vc-di-eddsa (eddsa-jcs-2022),
RFC 8785 (JCS), RFC 8032 (Ed25519), did:key.
"""

import argparse
import hashlib
import json
import math
import os
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
SMALL = {
    0,
    1,
    PRIME - 1,
    2707385501144840649318225287225658788936804267575313519463743609750303402022,
    55188659117513257062467267217118295137698188065244968500265048394206261417927,
}
Document = dict[str, Any]
Named = str | Path
LOGS = {"_delta_log", "_spark_metadata", ".hoodie", "metadata"}
MOST_BYTES, MOST_LEVELS = 64 * 2**20, 100
CLOCK = timedelta(minutes=5)
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
CREDENTIALS = "https://www.w3.org/ns/credentials/v2"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)


class RefusedError(Exception):
    """Why something is refused, with a code of the engine's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code} {message}")
        self.code = code


def need(truth: object, code: str, message: str) -> None:
    """Refuse what is not so."""
    if not truth:
        raise RefusedError(code, message)


def read_json(data: bytes, code: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), code, "a key is twice in one object")
        return dict(pairs)

    def no(name: str) -> NoReturn:
        raise RefusedError(code, f"{name} is not JSON")

    try:
        need(len(data) <= MOST_BYTES, code, f"the file has more than {MOST_BYTES:,} bytes")
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=unique, parse_constant=no)
    except (ValueError, RecursionError):
        raise RefusedError(code, "the file is not JSON in UTF-8") from None
    layer, levels = [value], 0
    while layer := [one for one in layer if isinstance(one, dict | list)]:
        need((levels := levels + 1) <= MOST_LEVELS, code, "the file is nested too deeply")
        layer = [
            one for each in layer for one in (each.values() if isinstance(each, dict) else each)
        ]
    need(isinstance(value, dict), code, "the file is not a JSON object")
    return dict(value)


def canonical(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        need(abs(value) < 2**53, "Y005", "a whole number has more than 53 bits")
        return str(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    keys = sorted(value, key=lambda key: string(key) and key.encode("utf-16-be"))
    return "{" + ",".join(f"{string(key)}:{canonical(value[key])}" for key in keys) + "}"


def string(text: str) -> str:
    need(not re.search("[\ud800-\udfff]", text), "Y005", "a text is not Unicode")
    return json.dumps(text, ensure_ascii=False)


def number(value: float) -> str:
    """Write a number as ECMAScript does (ECMA-262, Number::toString)."""
    need(math.isfinite(value), "Y005", "a number is not finite")
    if value == 0:
        return "0"
    sign, (mantissa, _, exponent) = "-" * (value < 0), repr(abs(value)).partition("e")
    whole, _, part = mantissa.partition(".")
    part = "" if part == "0" else part
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return sign + digits[0] + (f".{digits[1:]}" if digits[1:] else "") + power


def base58(text: object) -> bytes:
    """Return the bytes of a multibase text in base58btc, which has one form only."""
    if not isinstance(text, str) or not re.fullmatch(f"z[{ALPHABET}]{{1,128}}", text):
        return b""
    value = 0
    for letter in text[1:]:
        value = value * 58 + ALPHABET.index(letter)
    zeros = len(text) - 1 - len(text[1:].lstrip("1"))
    return b"\0" * zeros + value.to_bytes((value.bit_length() + 7) // 8, "big")


def public_key(name: Any, code: str = "Y003") -> str:
    """Return the Multikey that a name of a key has, once it is one of Ed25519."""
    need(isinstance(name, str), code, "a key has no name")
    multikey = name.removeprefix("did:key:")
    if multikey != name and "#" in multikey:
        multikey, _, fragment = multikey.partition("#")
        need(fragment == multikey, code, "the name of a key names two")
    raw = base58(multikey)
    y = int.from_bytes(raw[2:], "little") & (2**255 - 1)
    is_key = len(raw) == 34 and raw[:2] == b"\xed\x01" and y < PRIME and y not in SMALL
    need(is_key, code, f"{name[:100]!r} is not an Ed25519 key")
    return str(multikey)


def time_of(text: Any, code: str) -> datetime:
    need(isinstance(text, str) and TIME.fullmatch(text), code, "a time has no zone, or is none")
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise RefusedError(code, f"{text!r} is not a time") from None


def verify_credential(document: Document, kind: str, now: datetime) -> tuple[str, datetime]:
    """Return the key and the time of a credential's one proof, once it holds."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

    proof: Any = document.get("proof")
    need(isinstance(proof, dict), "Y005", "there is not one proof")
    names = {"type", "cryptosuite", "created", "verificationMethod", "proofPurpose", "proofValue"}
    names |= {"@context"} & document.keys()
    need(set(proof) == names, "Y005", "the proof has other members")
    texts = [value for name, value in proof.items() if name != "@context"]
    need(all(isinstance(one, str) for one in texts), "Y005", "the proof is not of texts")
    need(proof["type"] == "DataIntegrityProof", "Y005", "the proof is of another type")
    need(proof["cryptosuite"] == "eddsa-jcs-2022", "Y005", "the proof is of another cryptosuite")
    need(proof["proofPurpose"] == "assertionMethod", "Y005", "the proof is for something else")
    need(proof.get("@context") == document.get("@context"), "Y005", "the contexts differ")
    key = public_key(proof["verificationMethod"])
    need(proof["verificationMethod"] == f"did:key:{key}#{key}", "Y005", "the key has another name")
    created, signature = time_of(proof["created"], "Y005"), base58(proof["proofValue"])
    need(len(signature) == 64, "Y005", "the signature has not 64 bytes")
    options = {name: value for name, value in proof.items() if name != "proofValue"}
    unsecured = {name: value for name, value in document.items() if name != "proof"}
    try:
        parts = [canonical(one).encode() for one in (options, unsecured)]
    except RecursionError:
        raise RefusedError("Y005", "it is nested too deeply") from None
    message = b"".join(hashlib.sha256(part).digest() for part in parts)
    verifier = ed25519.Ed25519PublicKey.from_public_bytes(base58(key)[2:])
    try:
        need(int.from_bytes(signature[32:], "little") < ORDER, "Y006", "a second form")
        verifier.verify(signature, message)
    except (InvalidSignature, RefusedError):
        raise RefusedError("Y006", f"did:key:{key} did not sign this document") from None
    need(created <= now + CLOCK, "Y007", "it was signed in the future")
    check_members(document, kind, key)
    return key, created


def check_members(document: Document, kind: str, key: str) -> None:
    needed = {"@context", "type", "issuer", "validFrom", "credentialSubject", "proof"}
    others = set(document) - needed
    need(needed <= set(document), "Y005", "it lacks a member of credentials")
    need(
        others <= {"id", "validUntil", "credentialStatus", "evidence"},
        "Y005",
        f"it has {sorted(others)}",
    )
    need(document["type"] == ["VerifiableCredential", kind], "Y005", f"it is not a {kind}")
    need(document["issuer"] == f"did:key:{key}", "Y005", "its issuer did not sign it")
    for name in {"validFrom", "validUntil"} & set(document):
        time_of(document[name], "Y005")
    context, subject = document["@context"], document["credentialSubject"]
    is_ours = isinstance(context, list) and context[:1] == [CREDENTIALS] and len(context) <= 2
    is_ours = is_ours and all(isinstance(one, dict) for one in context[1:])
    need(is_ours, "Y005", "its context is another")
    subjects = subject if isinstance(subject, list) else [subject]
    is_listed = bool(subjects) and all(isinstance(one, dict) for one in subjects)
    need(is_listed, "Y005", "its subject is not an object")
    need(isinstance(document.get("id", ""), str), "Y005", "its id is not text")
    status = document.get("credentialStatus", {"type": "BitstringStatusListEntry"})
    is_entry = isinstance(status, dict) and status.get("type") == "BitstringStatusListEntry"
    is_entry = is_entry and all(isinstance(one, str) for one in status.values())
    need(is_entry, "Y005", "its status is another")
    evidence = document.get("evidence", [{"type": ""}])
    is_list = isinstance(evidence, list) and bool(evidence)
    is_list = is_list and all(isinstance(one, dict) and "type" in one for one in evidence)
    is_list = is_list and all(isinstance(text, str) for one in evidence for text in one.values())
    need(is_list, "Y005", "its evidence is another")


def check_time(document: Document, now: datetime) -> None:
    start = time_of(document["validFrom"], "Y005")
    need(start <= now, "Y007", f"it is valid only from {document['validFrom']} on")
    end = time_of(document["validUntil"], "Y005") if "validUntil" in document else LAST
    need(now < end, "Y007", "it is not valid any more")


def read_trust(data: bytes, now: datetime) -> Any:
    """Return the entries, rotations and revocations of a trust file."""
    code = "Y008"
    need(not data.startswith(b"\xef\xbb\xbf"), code, "the file begins with a byte order mark")
    trust = read_json(data, code)
    names = {"trust", "keys", "rotations", "revoked", "unsigned-policies"}
    need(set(trust) <= names and "keys" in trust, code, "the trust file has other members")
    is_version = trust.get("trust") == 1 and type(trust["trust"]) is int
    need(is_version, code, "the trust file is of another version")
    for name in names & set(trust) - {"trust"}:
        need(isinstance(trust[name], list), code, f"{name!r} is not a list")
    check_names(trust.get("unsigned-policies", []))
    entries = [read_entry(one) for one in trust["keys"]]
    revoked: dict[str, datetime] = {}
    for one in trust.get("revoked", []):
        need(isinstance(one, dict) and {"key", "since"} <= set(one), code, "who is revoked when?")
        need(set(one) <= {"key", "since", "reason"}, code, "a revocation has other members")
        need(isinstance(one.get("reason", ""), str), code, "a reason is not text")
        key, since = public_key(one["key"], code), time_of(one["since"], code)
        revoked[key] = min(since, revoked.get(key, LAST))
    rotations = [read_rotation(one, now) for one in trust.get("rotations", [])]
    successors = {(old, new) for old, new, _ in rotations if old not in revoked}
    need(len({old for old, _ in successors}) == len(successors), code, "a key has two successors")
    return entries, rotations, revoked


def read_entry(entry: Any) -> tuple[Any, ...]:
    code, scopes = "Y008", {"policies", "outputs", "datasets"}
    need(isinstance(entry, dict) and "key" in entry, code, "an entry has no key")
    need(
        set(entry) <= {"key", "name", "from", "until"} | scopes, code, "an entry has other members"
    )
    need(scopes & set(entry), code, "an entry lets a key sign nothing")
    need(isinstance(entry.get("name", ""), str), code, "a name is not text")
    for name in scopes & set(entry):
        check_names(entry[name])
    since = time_of(entry["from"], code) if "from" in entry else FIRST
    until = time_of(entry["until"], code) if "until" in entry else LAST
    need(since < until, code, "an entry ends before it begins")
    return public_key(entry["key"], code), since, until, entry.get("outputs"), entry.get("datasets")


def check_names(names: Any) -> None:
    is_list = isinstance(names, list) and all(isinstance(one, str) and one for one in names)
    need(is_list and not any("*" in one[:-1] for one in names), "Y008", "a list is not one of IRIs")


def read_rotation(statement: Any, now: datetime) -> tuple[str, str, datetime]:
    """Return the old key, the new one, and since when it stands for it: not before it was signed,
    or an old key would pass on what it may not sign any more."""
    need(isinstance(statement, dict), "Y008", "a rotation is not a statement")
    try:
        old, created = verify_credential(statement, "pe:KeyRotation", now)
        need("validUntil" not in statement, "Y005", "a rotation has no end")
        subject = statement["credentialSubject"]
        subject = subject[0] if isinstance(subject, list) and len(subject) == 1 else subject
        is_pair = isinstance(subject, dict) and set(subject) == {"id", "pe:succeeds"}
        need(
            is_pair and subject["pe:succeeds"] == f"did:key:{old}", "Y005", "whom does it succeed?"
        )
        new = public_key(subject["id"])
        need(subject["id"] == f"did:key:{new}" and new != old, "Y005", "it names no other key")
    except RefusedError as error:
        raise RefusedError("Y008", f"a rotation does not hold: {error}") from None
    return old, new, max(created, time_of(statement["validFrom"], "Y008"))


def covered(key: str, created: datetime, facts: Document, trust: Any) -> bool:
    """Tell whether a key may sign a certificate at a time, by itself or in the place of another:
    what an entry says is followed from its key to the next, by the earliest statement of it."""
    entries, rotations, revoked = trust
    for owner, begin, end, *scope in entries:
        holder, since, until, passed = owner, begin, end, set[str]()
        while covers(facts, *scope) and holder not in passed:
            if holder == key and since <= created < until:
                return True
            passed.add(holder)
            steps = [(w, new) for old, new, w in rotations if old == holder and since <= w < until]
            if holder not in revoked and steps:
                (since, holder), until = min(steps), LAST
    return False


def covers(facts: Document, outputs: Any, datasets: Any) -> bool:
    if outputs is None and datasets is None:
        return False
    of_output = outputs is None or among(facts["publish"], outputs)
    return of_output and (datasets is None or all(among(one, datasets) for one in facts["reads"]))


def among(name: str, patterns: list[str]) -> bool:
    return any(name.startswith(p[:-1]) if p.endswith("*") else name == p for p in patterns)


def read_facts(document: Document) -> dict[str, Any]:
    subject = document["credentialSubject"]
    subject = subject[0] if isinstance(subject, list) and len(subject) == 1 else subject
    try:
        facts, steps = subject["pe:certificate"], subject["pe:certificate"]["plan"]["steps"]
        reads = [one["asset"] for one in steps if one["step"] == "read"]
        [publish] = [one["asset"] for one in steps if one["step"] == "publish"]
        is_model = any(one["step"] in ("train", "train-generator") for one in steps)
        digest, file = facts["output_digest"], facts["file"]
        texts = [publish, digest, file, facts["plan"]["policy_digest"], *reads]
        about = subject.get("@id"), subject.get("pe:sha256", "")
        has_facts = bool(reads) and all(isinstance(one, str) for one in texts)
        has_facts = has_facts and "commitment" in facts
    except (KeyError, TypeError, ValueError, AttributeError):
        has_facts = False
    need(has_facts, "Y005", "it has not the facts of a certificate")
    need(re.fullmatch("([0-9a-f]{64})?", digest), "Y005", "its digest is not a sha-256")
    need(about == (publish, digest), "Y005", "it contradicts itself about its output")
    return {"publish": publish, "reads": reads, "digest": digest, "is_model": is_model}


def sha256(path: Any) -> str:
    with open(path, "rb") as file:  # noqa: PTH123
        return hashlib.file_digest(file, "sha256").hexdigest()


def data_digest(path: Path) -> str:
    """Return the sha-256 of a file, or of a folder's manifest in the form of sha256sum."""
    if not path.is_dir():
        return sha256(path)
    check_plain(path)
    lines = ""
    for name in sorted(
        one.relative_to(path).as_posix() for one in path.rglob("*") if one.is_file()
    ):
        if not any(map(is_hidden, name.split("/"))):
            escaped = name.replace("\\", r"\\").replace("\n", r"\n").replace("\r", r"\r")
            lines += f"{'' if escaped == name else chr(92)}{sha256(path / name)}  {escaped}\n"
    return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()


def check_plain(folder: Path) -> None:
    """Refuse a folder in which readers may see other files: by a link, or by a table's log."""

    def fail(error: OSError) -> NoReturn:
        raise error

    for root, folders, files in os.walk(folder, onerror=fail):
        links = [one for one in (*folders, *files) if Path(root, one).is_symlink()]
        need(not links, "Y012", "the output holds a link, which leads to other files")
        logs = LOGS.intersection(map(str.lower, folders))
        need(not logs, "Y012", f"the output holds {sorted(logs)}, by which other files are read")


def is_hidden(part: str) -> bool:
    hidden = part.startswith(".") or (part.startswith("_") and "=" not in part)
    hidden = hidden and not part.startswith(("_metadata", "_common_metadata"))
    return hidden or part.endswith("._COPYING_")


def tree_digest(folder: Path) -> str:
    """Return the sha-256 of all that the folder of a model holds."""
    need(folder.is_dir() and not folder.is_symlink(), "Y012", "the output is not a folder")
    entries, folders = [], [b""]
    while folders:
        relative = folders.pop()
        for entry in os.scandir(os.path.join(os.fsencode(folder), relative)):  # noqa: PTH118
            name = os.path.join(relative, entry.name)  # noqa: PTH118
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
                entries.append((name.hex(), "folder", ""))
            else:
                need(entry.is_file(follow_symlinks=False), "Y012", "the output holds a link")
                entries.append((name.hex(), "file", sha256(entry.path)))
    return hashlib.sha256(json.dumps(sorted(entries)).encode()).hexdigest()


def verify(
    certificate: Named, output: Named | None, trust: Named | None, now: datetime | None = None
) -> list[str]:
    """Return what was checked. Raises RefusedError where the certificate is not to be relied on."""
    now = now or datetime.now(UTC)
    document = read_json(Path(certificate).read_bytes(), "Y005")
    key, created = verify_credential(document, "pe:ReleaseCertificate", now)
    facts = read_facts(document)
    check_time(document, now)
    lines = [f"checked: the signature of did:key:{key}, and that it is valid now"]
    need(trust is not None, "Y009", "no trust file says whose signatures count")
    trusted = read_trust(Path(trust or "").read_bytes(), now)
    since = trusted[2].get(key)
    need(since is None or since > max(now, datetime.now(UTC)), "Y010", "the key is revoked")
    need(covered(key, created, facts, trusted), "Y009", "the key may not sign this at that time")
    lines.append(f"checked: the key may sign certificates of {facts['publish']}")
    need(facts["digest"], "V004", "the certificate says that nothing was released")
    if output is None:
        lines.append("not checked: the output, which nobody saw")
    else:
        path = Path(output)
        actual = tree_digest(path) if facts["is_model"] else data_digest(path)
        need(actual == facts["digest"], "V004", f"the output's sha-256 is {actual}")
        lines.append(f"checked: the output is the one of the certificate, sha-256 {actual}")
    lines.append("not checked: whether it was withdrawn")
    return [*lines, "not checked: the figures, the input, and whether its policy is in force"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify a signed release certificate.")
    parser.add_argument("certificate")
    parser.add_argument("--output")
    parser.add_argument("--trust", required=True)
    words = parser.parse_args()
    try:
        lines = verify(words.certificate, words.output, words.trust)
    except (RefusedError, OSError) as error:
        print(f"refused: {error}")
        return 1
    print("valid", *lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
