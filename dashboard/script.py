"""The script of a hearing: saved views that a presenter steps through, each with a title and notes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import param

from bottomup.data.errors import DataError

__all__ = ["MOST_SCENES", "Scene", "Script", "first_scenes", "read_scenes", "write_scenes"]

MOST_SCENES = 60
_MOST_CHARACTERS = 4000
_FORM, _VERSION = "bottomup script", 1


class Scene(NamedTuple):
    """One saved view.

    Attributes
    ----------
    title : str
        What the room reads above it.
    notes : str
        For the presenter.
    fields : dict of str to str
        What is set on the page, as `bottomup.dashboard.page_state.write_fields` has it; what is missing stays
        as it is.
    """

    title: str
    notes: str
    fields: dict[str, str]


def first_scenes(questions: Iterable[str]) -> list[Scene]:
    """A scene for each question, so that there is a script before anybody has written one."""
    return [Scene(question, "", {"view": question}) for question in questions]


class Script(param.Parameterized):
    """The scenes, and which of them the room sees."""

    scenes = param.List(item_type=Scene, doc="In the order in which they are shown.")
    place = param.Integer(-1, bounds=(-1, None), doc="Of the scene in sight; -1 outside the hearing.")

    @property
    def scene(self) -> Scene | None:
        """The scene in sight; None outside the hearing."""
        return self.scenes[self.place] if 0 <= self.place < len(self.scenes) else None

    def step(self, by: int) -> None:
        """Go on, or back; at either end stay."""
        if self.scene is not None:
            self.place = min(max(self.place + by, 0), len(self.scenes) - 1)

    def begin(self) -> None:
        """Show the first scene."""
        self.place = 0 if self.scenes else -1

    def leave(self) -> None:
        """End the hearing."""
        self.place = -1

    def add(self, scene: Scene) -> bool:
        """Put a scene at the end; False when there are as many as there may be."""
        if len(self.scenes) >= MOST_SCENES:
            return False
        self.scenes = [*self.scenes, scene]
        return True

    def remove(self, place: int) -> None:
        """Take a scene out."""
        self.scenes = [scene for number, scene in enumerate(self.scenes) if number != place]

    def move(self, place: int, by: int) -> None:
        """Exchange a scene with the one before (-1) or after it (1)."""
        other = place + by
        if 0 <= other < len(self.scenes):
            scenes = list(self.scenes)
            scenes[place], scenes[other] = scenes[other], scenes[place]
            self.scenes = scenes

    def rewrite(self, place: int, *, title: str | None = None, notes: str | None = None) -> None:
        """Give a scene another title or other notes."""
        scene = self.scenes[place]
        changed = scene._replace(
            title=scene.title if title is None else title[:_MOST_CHARACTERS],
            notes=scene.notes if notes is None else notes[:_MOST_CHARACTERS],
        )
        self.scenes = [*self.scenes[:place], changed, *self.scenes[place + 1 :]]


def write_scenes(scenes: Sequence[Scene]) -> str:
    """The scenes as JSON, for a file."""
    return json.dumps(
        {"form": _FORM, "version": _VERSION, "scenes": [scene._asdict() for scene in scenes]},
        indent=1,
        ensure_ascii=False,
    )


def read_scenes(text: str | bytes) -> list[Scene]:
    """Read what `write_scenes` wrote. What the fields say is checked when a scene is shown.

    Raises
    ------
    DataError
        When it is something else.
    """
    try:
        content = json.loads(text)
        if content["form"] != _FORM or content["version"] != _VERSION:
            raise ValueError("another form or version")
        scenes = [_scene(item) for item in content["scenes"]]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(
            "script",
            "This file is no script of a hearing.",
            remedy="Choose a file that was saved with 'Save the script'.",
        ) from error
    if len(scenes) > MOST_SCENES:
        raise DataError(
            "script",
            f"The script has {len(scenes)} scenes; there may be {MOST_SCENES}.",
            remedy="Make two scripts of it.",
        )
    return scenes


def _scene(item: dict[str, object]) -> Scene:
    title, notes, fields = item["title"], item["notes"], item["fields"]
    if not (isinstance(title, str) and isinstance(notes, str) and isinstance(fields, dict)):
        raise TypeError("a scene has a title, notes and fields")
    if not all(isinstance(part, str) for pair in fields.items() for part in pair):
        raise TypeError("fields are words")
    return Scene(title[:_MOST_CHARACTERS], notes[:_MOST_CHARACTERS], dict(fields))
