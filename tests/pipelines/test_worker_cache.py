"""Caches of Spark's Python workers: equal arguments share one object."""

from __future__ import annotations

import gc
import pickle

from headwater.pipelines import worker_cache
from headwater.schema.naming import load_naming


def test_equal_rules_share_the_first_naming() -> None:
    first = worker_cache.naming(load_naming())
    copied = pickle.loads(pickle.dumps(load_naming()))
    assert worker_cache.naming(copied) is first


def test_the_redactor_of_a_key_is_kept() -> None:
    assert worker_cache.redactor(b"key" * 8) is worker_cache.redactor(b"key" * 8)


def test_frozen_objects_are_not_collected() -> None:
    before = gc.get_freeze_count()
    worker_cache.freeze()
    assert gc.get_freeze_count() > before
    gc.unfreeze()
