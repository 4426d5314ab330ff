"""Which columns name the people who testified, and which the communities that they speak about."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PEOPLE = (
    *("author", "user", "submitter", "submitted_by", "signed_by", "given_by", "testimony_by", "sender"),
    *("person", "resident", "witness", "speaker", "testifier", "commenter", "respondent", "who", "your"),
    *("first_name", "firstname", "last_name", "lastname", "surname", "full_name", "fullname", "username"),
)
# Alone they are people's, as portals write them; among other words they may be anything.
_PEOPLE_ALONE = frozenset({"first", "last", "by"})
_CONTACT = ("email", "e_mail", "mail", "contact", "address", "phone", "telephone")
_BARE = frozenset({"name", "names"})
_PLACES = frozenset(
    {"community", "coi", "area", "place", "neighborhood", "neighbourhood", "region", "entry", "town", "city"}
)


def names_people(column: str, columns: Sequence[str], *, is_layer: bool, is_chosen: bool) -> bool:
    """Tell whether what a column calls testimonies by are names, or other marks, of people.

    A column that says so does: ``author``, ``submitted by``, ``full name``, ``first name``, ``speaker``,
    ``email``. One that names a community does not: ``title``, ``area name``, ``name of the community``. A
    column called ``name`` and no more goes by its company:

    1. with a column of people's names beside it, it is the community's;
    2. otherwise with a column beside it that names the community, or one of e-mail addresses, telephones or
       postal addresses, it is a person's;
    3. with neither, it is the community's in a layer of polygons, whose features have their names in it, and
       in a table when the user chose it. Other tables are taken to name people: a number in place of a
       community's name loses little.

    Parameters
    ----------
    column : str
        The column; blank for none.
    columns : sequence of str
        All columns of the file.
    is_layer : bool
        Whether the file draws its communities.
    is_chosen : bool
        Whether the user named the column.
    """
    own = _words(column)
    if own not in _BARE:
        return _is_of_people(own) or _is_contact(own)
    others = [_words(other) for other in columns if other != column]
    if any(_is_of_people(other) for other in others):
        return False
    if any(names_community(other) or _is_contact(other) for other in others):
        return True
    return not (is_layer or is_chosen)


def _words(column: str) -> str:
    """Return the name of a column in lower case, its words joined by ``_``."""
    return re.sub(r"[\W_]+", "_", column.lower()).strip("_")


def _has(words: str, wanted: Sequence[str]) -> bool:
    return any(f"_{one}_" in f"_{words}_" for one in wanted)


def _is_of_people(words: str) -> bool:
    return (
        words in _PEOPLE_ALONE
        or _has(words, _PEOPLE)
        or any(one in words for one in ("submitter", "first_name", "last_name"))
    )


def _is_contact(words: str) -> bool:
    return _has(words, _CONTACT) or "email" in words or "e_mail" in words


def is_personal(column: str) -> bool:
    """Tell whether a column says that it names people, or how to reach them."""
    words = _words(column)
    return _is_of_people(words) or _is_contact(words)


def names_community(column: str) -> bool:
    """Tell whether a column says that it names communities: ``title``, ``area name``."""
    words = _words(column)
    parts = set(words.split("_"))
    return words == "title" or ("name" in parts and bool(parts & _PLACES))
