"""The keys of a provider: rotation, unknown ones, and a provider that is away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from joserfc import jwk

from headwater.access.oidc import provider as providers
from headwater.access.oidc.provider import Provider, is_usable, read_published
from headwater.access.oidc.signed_tokens import TokenVerifier
from headwater.errors import UnauthorizedError, UnavailableError
from tests.access.oidc.issuer import AUDIENCE, Issuer, serving_issuer


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with serving_issuer() as issuer:
        yield issuer


@pytest.fixture
def verifier(issuer: Issuer) -> TokenVerifier:
    return TokenVerifier(Provider(issuer.url), skew_seconds=60)


def let_read_again(verifier: TokenVerifier) -> None:
    """Let the time pass that lies between two reads of the keys."""
    verifier._provider._tried_at -= providers.READ_SECONDS_MIN


def test_a_second_key_counts_and_a_removed_one_does_not(
    issuer: Issuer, verifier: TokenVerifier
) -> None:
    old = issuer.key
    first = issuer.token()
    assert verifier.verify(first, AUDIENCE)["sub"] == "ann"
    new = jwk.ECKey.generate_key("P-256", {"kid": "ec"})
    issuer.keys = [new]
    second = issuer.token()
    # Tokens with unknown keys ask the provider at most every ten seconds.
    for _ in range(3):
        with pytest.raises(UnauthorizedError, match="no such key"):
            verifier.verify(second, AUDIENCE)
    assert issuer.reads == 1
    assert verifier.verify(first, AUDIENCE)
    let_read_again(verifier)
    assert verifier.verify(second, AUDIENCE)["sub"] == "ann"
    assert issuer.reads == 2
    with pytest.raises(UnauthorizedError, match="no such key"):
        verifier.verify(issuer.token(old), AUDIENCE)


@pytest.mark.parametrize("status", [500, 302, 404])
def test_without_its_provider_the_keys_in_memory_count_and_no_others(
    issuer: Issuer, verifier: TokenVerifier, status: int
) -> None:
    token = issuer.token()
    assert verifier.verify(token, AUDIENCE)
    issuer.status = status
    let_read_again(verifier)
    unknown = issuer.token(jwk.OKPKey.generate_key("Ed25519", {"kid": "new"}))
    with pytest.raises(UnavailableError, match=f"answers with {status}") as error:
        verifier.verify(unknown, AUDIENCE)
    assert error.value.status == 503
    assert verifier.verify(token, AUDIENCE)
    # Keys that nobody confirmed for a day do not count.
    published = verifier._provider._published
    assert published is not None
    object.__setattr__(published, "read_at", published.read_at - providers.KEYS_SECONDS_MAX)
    with pytest.raises(UnavailableError, match="cannot be checked now"):
        verifier.verify(token, AUDIENCE)


def test_a_provider_that_never_answered(issuer: Issuer) -> None:
    verifier = TokenVerifier(Provider("http://127.0.0.1:1"), skew_seconds=60)
    with pytest.raises(UnavailableError, match="does not answer"):
        verifier.verify(issuer.token(), AUDIENCE)
    with pytest.raises(UnavailableError, match="does not answer"):
        Provider("http://127.0.0.1:1").address("token_endpoint")


def test_the_document_must_be_that_of_the_issuer(issuer: Issuer) -> None:
    issuer.named = "https://other.example"
    with pytest.raises(UnavailableError, match="another issuer"):
        read_published(issuer.url)


def test_keys_that_are_no_public_keys_of_signatures_are_left_out(issuer: Issuer) -> None:
    strong = jwk.RSAKey.generate_key(2048).as_dict(private=False)
    assert is_usable(strong)
    for changed in (
        {"use": "enc"},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"alg": "RS1"},
        {"kid": 5},
        {"n": strong["n"][:170]},
        {"n": None},
    ):
        assert not is_usable({**strong, **changed}), changed
    assert not is_usable(jwk.ECKey.generate_key("P-384").as_dict(private=False))
    issuer.keys = []
    issuer.extra = [{"kty": "oct", "k": "c2VjcmV0", "kid": "x"}, {"kty": "RSA", "n": "AQAB"}]
    with pytest.raises(UnavailableError, match="holds no key"):
        read_published(issuer.url)
