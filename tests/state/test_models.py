"""Uploaded models are kept under a name of their content, for the time they were given."""

import pytest
from tests.state.scene import Scene, play

from svddtune.state import keys
from svddtune.state.errors import NotFound
from svddtune.state.models import id_of_model

pytestmark = pytest.mark.integration

CONTENT = bytes(range(256)) * 10_000  # in three pieces


def test_model_is_read_as_it_was_put(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        model_id = id_of_model(CONTENT)
        moment = await scene.models.put(model_id, CONTENT, 60.0)
        assert await scene.models.content(model_id) == CONTENT
        assert await scene.models.expires_ms(model_id) == moment
        assert await scene.client.llen(keys.model(0, model_id)) == 3

    play(redis_url, act)


def test_model_that_is_put_again_lives_at_least_as_long_as_before(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        model_id = id_of_model(b"model")
        first = await scene.models.put(model_id, b"model", 600.0)
        assert abs(await scene.models.put(model_id, b"model", 60.0) - first) <= 1
        assert await scene.models.put(model_id, b"model", 1200.0) > first + 500_000
        assert await scene.models.content(model_id) == b"model"

    play(redis_url, act)


def test_model_that_was_deleted_or_never_put_is_not_found(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        model_id = id_of_model(b"model")
        await scene.models.put(model_id, b"model", 60.0)
        await scene.models.delete(model_id)
        for call in (scene.models.content, scene.models.expires_ms, scene.models.delete):
            with pytest.raises(NotFound) as refused:
                await call(model_id)
            assert refused.value.reason == "MODEL_NOT_FOUND"

    play(redis_url, act)


def test_model_that_expires_while_it_is_read_is_not_found(redis_url: str) -> None:
    async def act(scene: Scene) -> None:
        model_id = id_of_model(CONTENT)
        await scene.models.put(model_id, CONTENT, 60.0)
        # As if its key had gone after the second piece was read.
        await scene.client.rpop(keys.model(0, model_id))
        with pytest.raises(NotFound):
            await scene.models.content(model_id)

    play(redis_url, act)
