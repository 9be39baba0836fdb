"""Calls into a JVM: jars of pyspark, the wait with a limit, and a real short-lived JVM."""

from __future__ import annotations

import threading

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from headwater.errors import JarError
from headwater.local.gateway import JavaCall, helper_jvm, java_error_text, pyspark_jar
from headwater.local.java import find_java


def test_jars_of_pyspark_are_found_by_pattern() -> None:
    assert pyspark_jar("py4j-*.jar").is_file()
    with pytest.raises(JarError, match="no-such-jar"):
        pyspark_jar("no-such-jar-*.jar")


def test_a_call_is_awaited_with_a_limit() -> None:
    release = threading.Event()
    call = JavaCall(lambda: release.wait(10) and "done")
    assert not call.wait(0.05)
    release.set()
    assert call.wait(5)
    assert call.result() == "done"


def test_a_call_raises_its_exception() -> None:
    call = JavaCall(lambda: 1 // 0)
    assert call.wait(5)
    with pytest.raises(ZeroDivisionError):
        call.result()


@pytest.mark.slow
def test_a_java_exception_is_shown_with_its_class() -> None:
    with helper_jvm(find_java(), [pyspark_jar("py4j-*.jar")]) as gateway:
        assert gateway.jvm.java.lang.Math.max(2, 3) == 3
        with pytest.raises(Py4JError) as caught:
            gateway.jvm.java.lang.Integer.parseInt("x")
        assert "NumberFormatException" in java_error_text(caught.value)
