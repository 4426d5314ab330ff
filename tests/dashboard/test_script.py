"""The script of a hearing, and the file that it is kept in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bottomup.dashboard.script import MOST_SCENES, Scene, Script, first_scenes, read_scenes, write_scenes
from bottomup.data.errors import DataError

WORDS = st.text(max_size=30)
SCENES = st.lists(st.builds(Scene, WORDS, WORDS, st.dictionaries(WORDS, WORDS, max_size=3)), max_size=5)


@given(SCENES)
def test_a_script_is_read_as_it_was_written(scenes):
    assert read_scenes(write_scenes(scenes)) == scenes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"form": "bottomup script", "version": 2, "scenes": []}',
        '{"form": "bottomup script", "version": 1, "scenes": [{}]}',
        '{"form": "bottomup script", "version": 1, "scenes": [{"title": 1, "notes": "", "fields": {}}]}',
        '{"form": "bottomup script", "version": 1, "scenes": [{"title": "", "notes": "", "fields": {"a": 1}}]}',  # noqa: E501
    ],
    ids=["empty", "list", "nothing", "later version", "no title", "number as title", "number as value"],
)
def test_another_file_is_refused(text):
    with pytest.raises(DataError, match="no script of a hearing"):
        read_scenes(text)


def test_a_script_that_is_too_long_is_refused_and_cannot_be_made():
    scenes = [Scene("a", "", {})] * (MOST_SCENES + 1)
    with pytest.raises(DataError, match="61 scenes"):
        read_scenes(write_scenes(scenes))
    script = Script(scenes=scenes[:-1])
    assert not script.add(Scene("one more", "", {}))
    assert len(script.scenes) == MOST_SCENES


def test_steps_stay_within_the_script_and_only_a_hearing_takes_them():
    script = Script(scenes=first_scenes(["one", "two"]))
    script.step(1)
    assert script.scene is None
    script.begin()
    assert script.scene == Scene("one", "", {"view": "one"})
    script.step(-1)
    assert script.place == 0
    script.step(1)
    script.step(1)
    assert script.place == 1
    script.leave()
    assert script.scene is None
    empty = Script()
    empty.begin()
    assert empty.scene is None


def test_scenes_are_rearranged():
    script = Script(scenes=first_scenes(["one", "two", "three"]))
    script.move(0, -1)
    script.move(0, 1)
    script.remove(2)
    script.rewrite(1, notes="slowly")
    script.rewrite(0, title="The second question")
    assert [(scene.title, scene.notes) for scene in script.scenes] == [
        ("The second question", ""),
        ("one", "slowly"),
    ]
    assert json.loads(write_scenes(script.scenes))["scenes"][0]["fields"] == {"view": "two"}
