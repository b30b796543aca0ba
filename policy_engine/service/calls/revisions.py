"""Changes of what nobody else has changed meanwhile: ETag and If-Match (RFC 9110, section 13)."""

from typing import Annotated, Protocol, TypeVar

from fastapi import Header, Response

from policy_engine.errors import ServiceError


class Revised(Protocol):
    """What has another revision after each change."""

    @property
    def revision(self) -> int:
        """Which one it is."""


_View = TypeVar("_View", bound=Revised)
IfMatch = Annotated[str, Header(alias="If-Match", description="The ETag of what is changed.")]


def tag_of(revision: int) -> str:
    """Return the ETag of a revision."""
    return f'"{revision}"'


def add_tag(response: Response, revision: int) -> None:
    """Send the ETag of a revision with an answer."""
    response.headers["ETag"] = tag_of(revision)


def tagged(view: _View, response: Response) -> _View:
    """Return what is answered, after its ETag was added to the answer."""
    add_tag(response, view.revision)
    return view


def check_revision(revision: int, tag: str) -> None:
    """Raise ServiceError (N005) where a change is not of the present revision."""
    if tag != tag_of(revision):
        message = "Somebody has changed this meanwhile, or you did elsewhere."
        raise ServiceError.of("N005", message, "Read it again, and make the change anew.")
