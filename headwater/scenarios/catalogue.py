"""The stories by name."""

from __future__ import annotations

from importlib import import_module

from headwater.errors import NotFoundError
from headwater.scenarios.story import Story

# In the order in which `all` plays them.
NAMES = (
    "schema-change",
    "churn-drift",
    "data-corruption",
    "numeric-regression",
    "misrouted-data",
    "deleted-dataset",
    "pull-request",
    "migration",
    "microservices-regression",
    "lagging-stream",
    "event-sampling",
    "serverless-cold-start",
)


def load(name: str) -> Story:
    """Return a story. Raises NotFoundError for an unknown name."""
    if name not in NAMES:
        raise NotFoundError(
            f"there is no scenario {name!r}", hint=f"Name one of {', '.join(NAMES)}, or all."
        )
    module = import_module(f"headwater.scenarios.stories.{name.replace('-', '_')}")
    story: Story = module.STORY
    return story
