"""Lists in pages: each tells where the next begins."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel
from sqlalchemy import ColumnElement, Select, and_, or_
from sqlalchemy.orm import InstrumentedAttribute, Session

from policy_engine.errors import ServiceError
from policy_engine.service.calls.characters import check_text

_T = TypeVar("_T")
_Row = TypeVar("_Row")
MOST = 200


class PageOf(BaseModel, Generic[_T]):
    """A page of a list, the newest first; `next` is the cursor of the page after it, if any."""

    items: list[_T]
    next: str | None = None


class Cursor(BaseModel):
    """Which page of a list is meant."""

    limit: Annotated[int, Query(ge=1, le=MOST)] = 50
    cursor: Annotated[str, Query(max_length=500)] = ""

    def page(
        self,
        session: Session,
        rows: Select[_Row],
        order: tuple[InstrumentedAttribute[datetime], InstrumentedAttribute[str]],
        view: Callable[[_Row], _T],
    ) -> "PageOf[_T]":
        """Return the page of rows, by when they were made and by their identifiers.

        Raises ServiceError (N007) for a cursor that is not one of ours.
        """
        created, identifier = order
        chosen = rows if not self.cursor else rows.where(_after(order, *_parsed(self.cursor)))
        chosen = chosen.order_by(created.desc(), identifier.desc()).limit(self.limit + 1)
        results: Sequence[Any] = session.scalars(chosen).unique().all()
        items = results[: self.limit]
        following = _written(items[-1], order) if len(results) > self.limit else None
        return PageOf(items=[view(one) for one in items], next=following)


def _after(
    order: tuple[InstrumentedAttribute[datetime], InstrumentedAttribute[str]],
    moment: datetime,
    last: str,
) -> ColumnElement[bool]:
    created, identifier = order
    return or_(created < moment, and_(created == moment, identifier < last))


def _written(row: Any, order: tuple[Any, Any]) -> str:
    created, identifier = (getattr(row, one.key) for one in order)
    return base64.urlsafe_b64encode(json.dumps([created.isoformat(), identifier]).encode()).decode()


def _parsed(cursor: str) -> tuple[datetime, str]:
    try:
        moment, identifier = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        check_text(str(identifier))
        return datetime.fromisoformat(moment).astimezone(UTC), str(identifier)
    except (ValueError, TypeError, binascii.Error, OverflowError, RecursionError):
        message = "The cursor is not one that a list gave."
        raise ServiceError.of("N007", message, "Leave it out for the first page.") from None
