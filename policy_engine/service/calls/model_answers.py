"""Answers that are written at once."""

from fastapi import Response
from pydantic import BaseModel


def json_answer(model: BaseModel) -> Response:
    """Return an answer that is a model as JSON.

    Routes that return the model itself have it validated and taken apart again, which takes as long
    as the whole call where calls are many.
    """
    return Response(model.model_dump_json(by_alias=True), media_type="application/json")
