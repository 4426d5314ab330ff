"""What files say about the communities themselves: their names and descriptions, never who spoke."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bottomup.data.testimony_formats.common import hide_addresses, is_blank
from bottomup.data.testimony_formats.people import is_personal, names_community, names_people

_TELEPHONE = re.compile(r"(?<!\d)(?:\+?1[\s.-]?)?\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}(?!\d)")
_WORD = re.compile(r"\w{2,}")
_LEFT_OUT = "…"
_MOST_LETTERS = 1200


def describing_columns(columns: Sequence[str], id_column: str | None, *, is_layer: bool) -> list[str]:
    """Return the columns that name or describe a community: at most one of names, which comes first.

    A column of names is told by its own name and its company, as `bottomup.data.testimony_formats.people`
    does; one that describes has ``description`` in its name. Remarks of which nobody can tell whom they are
    about, such as ``text`` or ``comment``, are left where they are.

    Parameters
    ----------
    columns : sequence of str
    id_column : str or None
        What the testimonies are called by already.
    is_layer : bool
        Whether the file draws its communities.
    """
    others = [
        column
        for column in columns
        if column != id_column and not names_people(column, columns, is_layer=is_layer, is_chosen=False)
    ]
    names = [column for column in others if column.lower() == "name" or names_community(column)]
    described = [column for column in others if "description" in column.lower() and not is_personal(column)]
    return list(dict.fromkeys([*names[:1], *described]))


def describe(record: Mapping[str, object], columns: Sequence[str], personal: Sequence[str]) -> str:
    """Return what a record says about its community, as one line of at most 1,200 letters.

    E-mail addresses and telephones are taken out, and every word of what the record says about people.

    Parameters
    ----------
    record : mapping
    columns : sequence of str
        That name or describe the community.
    personal : sequence of str
        That name people, or say how to reach them.
    """
    parts = [" ".join(str(record[name]).split()) for name in columns if not is_blank(record.get(name))]
    if not parts:
        return ""
    text = _TELEPHONE.sub(_LEFT_OUT, hide_addresses(": ".join(dict.fromkeys(parts))))
    about_people = " ".join(str(record[name]) for name in personal if not is_blank(record.get(name)))
    words = sorted({re.escape(word) for word in _WORD.findall(about_people)})
    if words:
        text = re.sub(rf"\b(?:{'|'.join(words)})\b", _LEFT_OUT, text, flags=re.IGNORECASE)
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1].rstrip()}…"
