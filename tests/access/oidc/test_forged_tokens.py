"""Forged tokens over HTTP: every one gets 401, and the access log names the reason only."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwk, jws
from starlette.testclient import TestClient

from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from tests.access.oidc.issuer import Issuer, serving_issuer
from tests.access.test_session_http import client_of

EC = jwk.ECKey.generate_key("P-256", {"kid": "ec"})
OKP = jwk.OKPKey.generate_key("Ed25519", {"kid": "okp"})
# Keys that the issuer does not have.
FOREIGN = jwk.RSAKey.generate_key(2048, {"kid": "rsa"})
UNKNOWN = jwk.RSAKey.generate_key(2048, {"kid": "unknown"})
TWO_ALGORITHMS = b'{"alg":"none","alg":"RS256","kid":"rsa"}'
Forge = Callable[[Issuer], str]


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with serving_issuer() as issuer:
        issuer.keys += [EC, OKP]
        yield issuer


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("home")
    with client_of(folder, oidc_issuer=issuer.url, oidc_audience="headwater") as client:
        yield client


def now() -> int:
    """Return the time of the test, which may run minutes after its module is read."""
    return int(time.time())


def part(content: object) -> str:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def unsigned(issuer: Issuer, header: dict[str, Any], signature: str = "", **changed: Any) -> str:
    return f"{part(header)}.{part(issuer.claims(**changed))}.{signature}"


def by_hmac(issuer: Issuer, algorithm: str, secret: bytes) -> str:
    """Return a token whose MAC has the public key of the issuer as its secret."""
    signed = unsigned(issuer, {"alg": algorithm, "kid": "rsa", "typ": "JWT"})[:-1]
    digest = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}[algorithm]
    return f"{signed}.{part(hmac.digest(secret, signed.encode(), digest))}"


def pem(issuer: Issuer) -> bytes:
    key = issuer.key
    assert isinstance(key, jwk.RSAKey)
    return key.as_pem(private=False)


def parts(issuer: Issuer, **changed: Any) -> list[str]:
    return issuer.token(**changed).split(".")


def resigned(issuer: Issuer, payload: bytes) -> str:
    """Return a token of the issuer with any payload."""
    return jws.serialize_compact({"alg": "RS256", "kid": "rsa"}, payload, issuer.key)


def with_header(**header: Any) -> Forge:
    return lambda issuer: issuer.token(header=header)


def with_raw_header(**header: Any) -> Forge:
    """Return a forger of tokens with a header that libraries refuse to write."""

    def forge(issuer: Issuer) -> str:
        _, claims, signature = parts(issuer)
        return f"{part({'alg': 'RS256', 'kid': 'rsa', **header})}.{claims}.{signature}"

    return forge


def with_claims(**changed: Any) -> Forge:
    return lambda issuer: issuer.token(**changed)


FORGERIES: dict[str, Forge] = {
    "alg none": lambda i: unsigned(i, {"alg": "none"}),
    "alg none with the kid": lambda i: unsigned(i, {"alg": "none", "kid": "rsa"}, "AA"),
    "alg None": lambda i: unsigned(i, {"alg": "None", "kid": "rsa"}, "AA"),
    "alg NONE": lambda i: unsigned(i, {"alg": "NONE", "kid": "rsa"}, "AA"),
    "alg empty": lambda i: unsigned(i, {"alg": "", "kid": "rsa"}, "AA"),
    "alg absent": lambda i: unsigned(i, {"kid": "rsa"}, "AA"),
    "alg a number": lambda i: unsigned(i, {"alg": 256, "kid": "rsa"}, "AA"),
    "alg a list": lambda i: unsigned(i, {"alg": ["RS256"], "kid": "rsa"}, "AA"),
    "HS256 with the public key in PEM": lambda i: by_hmac(i, "HS256", pem(i)),
    "HS384 with the public key in PEM": lambda i: by_hmac(i, "HS384", pem(i)),
    "HS512 with the public key in PEM": lambda i: by_hmac(i, "HS512", pem(i)),
    "HS256 with the public key as JSON": lambda i: by_hmac(
        i, "HS256", json.dumps(i.key.as_dict(private=False)).encode()
    ),
    "HS256 with an empty secret": lambda i: by_hmac(i, "HS256", b"\0"),
    "RS384": with_header(alg="RS384"),
    "RS512": with_header(alg="RS512"),
    "PS512": with_header(alg="PS512"),
    "ES256 with the kid of the RSA key": lambda i: i.token(EC, {"kid": "rsa"}),
    "EdDSA with the kid of the RSA key": lambda i: i.token(OKP, {"kid": "rsa"}),
    "RS256 with the kid of the EC key": with_header(kid="ec"),
    "RS256 with the kid of the Ed25519 key": with_header(kid="okp"),
    "ES256 with a signature of zeros": lambda i: unsigned(
        i, {"alg": "ES256", "kid": "ec"}, part(bytes(64))
    ),
    "the key of another issuer under the same kid": lambda i: i.token(FOREIGN),
    "an unknown kid": lambda i: i.token(UNKNOWN),
    "no kid": with_header(kid=None),
    "an empty kid": with_header(kid=""),
    "a kid that is a number": with_raw_header(kid=1),
    "a kid that is null": with_raw_header(kid=None),
    "a kid that is a path": with_header(kid="../../../../dev/null"),
    "a kid that is a file": with_header(kid="file:///etc/passwd"),
    "a kid that is SQL": with_header(kid="' UNION SELECT 'x"),
    "a kid with a zero byte": with_header(kid="rsa\0"),
    "a kid in capitals": with_header(kid="RSA"),
    "a long kid": with_header(kid="k" * 257),
    "jku": with_header(jku="https://evil.example/keys"),
    "jku of the issuer": lambda i: i.token(header={"jku": f"{i.url}/keys"}),
    "x5u": with_header(x5u="https://evil.example/cert"),
    "x5c": with_header(x5c=["MIIB"]),
    "an embedded jwk": lambda i: i.token(
        FOREIGN, {"jwk": FOREIGN.as_dict(private=False), "kid": None}
    ),
    "crit": with_raw_header(crit=["exp"], exp=1),
    "an empty crit": with_raw_header(crit=[]),
    "b64": with_raw_header(b64=False, crit=["b64"]),
    "zip": with_raw_header(zip="DEF"),
    "a header of encryption": with_raw_header(enc="A256GCM"),
    "typ of a logout": with_header(typ="logout+jwt"),
    "typ of a proof": with_header(typ="dpop+jwt"),
    "typ a number": with_raw_header(typ=1),
    "an empty signature": lambda i: ".".join([*parts(i)[:2], ""]),
    "no signature": lambda i: ".".join(parts(i)[:2]),
    "a shortened signature": lambda i: i.token()[:-4],
    "a longer signature": lambda i: i.token() + "AAAA",
    "a changed signature": lambda i: ".".join([*parts(i)[:2], parts(i, sub="eve")[2]]),
    "changed claims": lambda i: ".".join([parts(i)[0], part(i.claims(sub="eve")), parts(i)[2]]),
    "extra dots": lambda i: i.token() + ".x",
    "five parts": lambda i: i.token() + ".AA.AA",
    "dots only": lambda _: "....",
    "a leading dot": lambda i: "." + i.token(),
    "padding": lambda i: i.token() + "=",
    "another alphabet": lambda i: f"{i.token()}+/",
    "a header that is no JSON": lambda i: f"AAAA.{parts(i)[1]}.{parts(i)[2]}",
    "a header that is a list": lambda i: f"{part([])}.{parts(i)[1]}.{parts(i)[2]}",
    "two algorithms": lambda i: ".".join([part(TWO_ALGORITHMS), *parts(i)[1:]]),
    "a deep header": lambda i: f"{part(b'[' * 5_000)}.{parts(i)[1]}.AA",
    "a huge token": lambda i: i.token(groups=["g" * 17_000]),
    "claims that are no JSON": lambda i: resigned(i, b"\xff"),
    "claims that are a list": lambda i: resigned(i, b"[]"),
    "two subjects": lambda i: resigned(i, json.dumps(i.claims()).encode()[:-1] + b',"sub":"eve"}'),
    "another issuer": with_claims(iss="https://evil.example"),
    "the issuer with a slash": lambda i: i.token(iss=f"{i.url}/"),
    "a list of issuers": lambda i: i.token(iss=[i.url]),
    "no issuer": with_claims(iss=None),
    "another audience": with_claims(aud="grafana"),
    "other audiences": with_claims(aud=["grafana", "headwater2"]),
    "an audience in capitals": with_claims(aud="Headwater"),
    "no audience": with_claims(aud=None),
    "no audience in the list": with_claims(aud=[]),
    "an audience that is an object": with_claims(aud={"headwater": True}),
    "expired": with_claims(exp=now() - 120),
    "expired long ago": with_claims(exp=1),
    "no end": with_claims(exp=None),
    "an end that is text": with_claims(exp=str(now() + 86_400)),
    "an end that is true": with_claims(exp=True),
    "an end that is no number": lambda i: resigned(
        i, json.dumps(i.claims(exp=float("nan"))).encode()
    ),
    "not yet valid": with_claims(nbf=now() + 86_400),
    "a beginning that is text": with_claims(nbf="0"),
    "issued in the future": with_claims(iat=now() + 86_400),
    "no beginning": with_claims(iat=None),
    "no subject": with_claims(sub=None),
    "an empty subject": with_claims(sub=""),
    "a subject that is a number": with_claims(sub=1),
    "a long subject": with_claims(sub="a" * 256),
    "a subject of two lines": with_claims(sub="ann\neve"),
}


def test_there_are_many_forgeries() -> None:
    assert len(FORGERIES) >= 60


def test_valid_tokens_of_each_kind_pass(client: TestClient, issuer: Issuer) -> None:
    for token in (
        issuer.token(),
        issuer.token(EC),
        issuer.token(OKP),
        issuer.token(header={"alg": "PS256"}),
        issuer.token(header={"typ": "at+jwt"}),
        issuer.token(header={"typ": None}),
        issuer.token(aud=["grafana", "headwater"]),
        issuer.token(exp=now() - 30),
        issuer.token(iat=None, nbf=now() + 30),
    ):
        answer = client.get("/session", headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text
        principal = answer.json()["principal"]
        assert (principal["name"], principal["scopes"]) == (f"{issuer.url}#ann", ["read"])


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_token_is_refused(client: TestClient, issuer: Issuer, name: str) -> None:
    token = FORGERIES[name](issuer)
    for path in ("/metrics", "/session"):
        answer = client.get(path, headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 401, (path, answer.text)
        assert answer.headers["www-authenticate"] == 'Bearer realm="headwater"'
        assert token[:40] not in answer.text


def test_where_no_key_is_required_a_forged_token_is_refused_too(
    tmp_path: Path, issuer: Issuer
) -> None:
    with client_of(
        tmp_path, require_keys=False, oidc_issuer=issuer.url, oidc_audience="headwater"
    ) as client:
        assert client.get("/access/log").status_code == 200
        for token, status in (
            (issuer.token(FOREIGN), 401),
            (issuer.token(), 403),
            (issuer.token(groups=["headwater-admin"]), 200),
        ):
            sent = {"authorization": f"Bearer {token}"}
            assert client.get("/access/log", headers=sent).status_code == status


def test_keys_stay_for_machines_and_the_log_names_subject_and_issuer(
    tmp_path: Path, issuer: Issuer
) -> None:
    store = AccessStore(tmp_path / "access.db")
    key, _ = Keys(store).create("ci", [Scope.READ])
    with client_of(tmp_path, oidc_issuer=issuer.url, oidc_audience="headwater") as client:
        assert client.get("/metrics", headers={"authorization": f"Bearer {key}"}).status_code == 200
        token = issuer.token()
        sent = {"authorization": f"Bearer {token}"}
        assert client.get("/metrics", headers=sent).status_code == 200
        refused = client.get("/access/keys", headers=sent)
        assert refused.status_code == 403
        assert "role" in refused.json()["error"]["hint"]
        nobody = client.get(
            "/metrics", headers={"authorization": f"Bearer {issuer.token(groups=None)}"}
        )
        assert nobody.status_code == 403
    [first, second] = AccessLog(store).entries()
    assert {first.principal, second.principal} == {f"{issuer.url}#ann"}
    store.close()
    assert token.encode() not in (tmp_path / "access.db").read_bytes()


def test_while_the_issuer_is_away_a_token_gets_503(tmp_path: Path, issuer: Issuer) -> None:
    with client_of(tmp_path, oidc_issuer="http://127.0.0.1:1", oidc_audience="headwater") as client:
        answer = client.get("/metrics", headers={"authorization": f"Bearer {issuer.token()}"})
        assert answer.status_code == 503
        assert "cannot be checked now" in answer.json()["error"]["message"]
        assert client.get("/healthz").status_code == 200
