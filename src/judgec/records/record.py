"""Base of the records that cross a file: frozen, and strict about unknown fields."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen record; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FiniteRecord(Record):
    """A record whose numbers are finite."""

    model_config = ConfigDict(allow_inf_nan=False)
