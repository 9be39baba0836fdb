"""Questions about the syntax tree of Python."""

from __future__ import annotations

import ast

from headwater.code_analysis.pyspark.python_ast import called_name, names_in_chain, text_of


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def test_text_literals() -> None:
    assert text_of(expression("'a'")) == "a"
    assert text_of(expression("a")) is None
    assert text_of(expression("1")) is None
    assert text_of(None) is None


def test_names_of_calls_and_chains() -> None:
    call = expression("df.write.mode('x').saveAsTable('t')")
    assert isinstance(call, ast.Call)
    assert called_name(call) == "saveAsTable"
    assert names_in_chain(call) == ["saveAsTable", "mode", "write", "df"]
    plain = expression("col('a')")
    assert isinstance(plain, ast.Call)
    assert called_name(plain) == "col"
    assert names_in_chain(None) == []
