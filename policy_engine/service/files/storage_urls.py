"""What the URL of a storage may say: where files are, and nothing that opens the storage."""

from urllib.parse import SplitResult, parse_qsl, urlsplit

from policy_engine.errors import PolicyEngineError, ServiceError

_WITH_PORT = ("hdfs", "viewfs")
"""Storages at a machine and a port: elsewhere, a colon parts a key from a secret."""
_QUERY = (
    "allow_bucket_creation",
    "endpoint_override",
    "location",
    "project_id",
    "region",
    "replication",
    "scheme",
)
"""What the query of a URL may say: none of it opens anything."""


def check_storage(url: str) -> None:
    """Raise ServiceError (N012) for what is not a URL of a storage, or may have a secret in it.

    A secret in a URL is in lists of processes: it is given by the environment. What could be one is
    not in the error, either.
    """
    try:
        parts = urlsplit(url)
        names = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        raise _not_a_url() from None
    if _may_hold_secret(parts):
        message = (
            "The URL of a storage has no credentials in it, and so neither @ nor a fragment, nor a "
            "colon but before a port of HDFS: who sees processes would see them."
        )
        raise _with_hint(message)
    if not parts.scheme or not (parts.netloc or parts.path):
        raise _not_a_url()
    if parts.query and (not names or any(name not in _QUERY for name, _ in names)):
        allowed = ", ".join(_QUERY)
        raise _with_hint(f"The query of a storage's URL has only {allowed}. Given: something else.")


def _may_hold_secret(parts: SplitResult) -> bool:
    """Tell whether a URL has what parts credentials from a place: a secret may have a slash, after
    which the rest of it seems to be a path."""
    query = "".join(value for _, value in parse_qsl(parts.query))
    is_file = parts.scheme == "file" and not parts.netloc
    places = (parts.netloc, query) if is_file else (parts.netloc, parts.path, query)
    has_colon = ":" in parts.netloc and parts.scheme not in _WITH_PORT
    return any("@" in one for one in places) or has_colon or bool(parts.fragment)


def _not_a_url() -> PolicyEngineError:
    message = "A storage is a URL, s3://BUCKET/FOLDER. Given: something else."
    return ServiceError.of("N012", message)


def _with_hint(message: str) -> PolicyEngineError:
    hint = (
        "Give credentials by the environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
    )
    return ServiceError.of("N012", message, hint)
