"""Tokens and their positions; very long words are cut."""

from grandstand.apps.trainer.domain.signals.lexicon import Token, tokenize


def test_words_and_figures_are_found_where_they_stand() -> None:
    assert tokenize("Don’t pay $2,500!") == [
        Token("don't", 0, 5),
        Token("pay", 6, 9),
        Token("$2,500", 10, 16),
    ]


def test_of_a_word_without_end_only_its_beginning_is_kept() -> None:
    (token,) = tokenize("a" * 20_000)

    assert (len(token.word), token.end) == (64, 20_000)
