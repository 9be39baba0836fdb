"""Prose that needs no reviewer: words that stand for a missing noun, banned words, first words of docstrings."""

from __future__ import annotations

from scripts import code_metrics as metrics

VAGUE_WORDS_PER_THOUSAND_MAX = 3.0


def rate(names: list[str]) -> float:
    """Return how many vague words the files hold in a thousand words of prose."""
    found = sum(len(list(metrics.vague_words(name))) for name in names)
    return 1000 * found / metrics.words(names)


def test_docstrings_and_comments_name_their_nouns() -> None:
    assert rate(metrics.tracked(".py", "headwater")) < VAGUE_WORDS_PER_THOUSAND_MAX


def test_pages_name_their_nouns() -> None:
    assert rate(metrics.pages()) < VAGUE_WORDS_PER_THOUSAND_MAX


def test_heads_of_statements_name_their_nouns() -> None:
    assert rate(metrics.statements()) < VAGUE_WORDS_PER_THOUSAND_MAX


def test_no_banned_word_is_used() -> None:
    names = [
        *metrics.tracked(".py", "headwater"),
        *metrics.statements(),
        *metrics.pages(),
    ]
    assert [str(place) for name in names for place in metrics.banned_words(name)] == []


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    names = metrics.tracked(".py", "headwater", "bench", "scripts")
    assert [str(place) for name in names for place in metrics.without_imperative(name)] == []


def test_docstrings_describe_the_parameters_that_exist() -> None:
    names = metrics.tracked(".py", "headwater")
    assert [str(place) for name in names for place in metrics.wrong_arguments(name)] == []


def test_the_counts_see_what_they_should() -> None:
    sample = "headwater/errors.py"
    assert metrics.words([sample]) > 20
    assert metrics.VAGUE_WORDS.findall("What was told is said.") == ["What", "told", "said"]
    assert metrics.BANNED_WORDS.search("whoever asks")
    assert "whether" not in metrics.VERBS
    assert "the" not in metrics.VERBS
