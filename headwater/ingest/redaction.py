"""Secrets are taken out of an event before the first byte of it is written to disk.

Works on the event's JSON text, so that whatever facet they hide in, known or not, they are found:

- `user:password@` in any URL, JDBC ones too: the password
- `password=...`, `token=...`, `X-Amz-Signature=...` and their kin in URLs, JDBC strings, command lines and SQL options
- the value of any property whose name says that it is secret (`spark.hadoop.fs.s3a.secret.key`), also where name and
  value are two properties of one object, as in the environmentVariables facet
- bearer tokens, access keys of the forms AWS, GitHub, Slack and Google give out, and private keys

What is taken out becomes `***`, so the same text always becomes the same text: a name stays one name.
"""

from __future__ import annotations

import re

_SECRET = rb"(?:passw(?:or)?d|passphrase|pwd|secret|token|credential|(?:api|access|private|account)[-_.]?key)"
# One of these, in lower case, must be in the text, or none of the rules below can match it.
_TRACES = (
    b"passw", b"passphrase", b"pwd", b"secret", b"token", b"credential", b"key", b"sig", b"bearer", b"akia", b"asia",
    b"ghp_", b"gho_", b"ghs_", b"ghu_", b"github_pat_", b"xox", b"aiza",
)  # fmt: skip
# Possessive (++, *+): what is passed is not looked at again. Otherwise a long text costs seconds and a gigabyte.
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
# Every repetition that is tried at many places has an upper bound: a hostile text must not take quadratic time.
_SECRET_NAME = rb'[^"\\]{0,100}' + _SECRET + rb'[^"\\]{0,100}'
_NAME_FIELD = rb'"(?:name|key)"\s*:\s*"' + _SECRET_NAME + rb'"'

_USER_INFO = re.compile(rb"(://[^/\s\"'@:?#\\]*:)[^/\s\"'@\\]+@")


def _rule(pattern: bytes, mask: bytes, flags: int = re.IGNORECASE) -> tuple[re.Pattern[bytes], bytes]:
    return re.compile(pattern, flags), mask


_RULES = (
    _rule(rb'("' + _SECRET_NAME + rb'"\s*:\s*)(?:' + _STRING + rb"|-?\d[\d.eE+-]*)", rb'\1"***"'),
    _rule(rb"(" + _NAME_FIELD + rb'\s*,\s*"value"\s*:\s*)' + _STRING, rb'\1"***"'),
    _rule(rb'("value"\s*:\s*)' + _STRING + rb"(\s*,\s*" + _NAME_FIELD + rb")", rb'\1"***"\2'),
    _rule(
        rb"((?:" + _SECRET + rb"|signature|\bsig)[\w.-]{0,60}+\s{0,3}+=\s{0,3}+)"
        rb"(?:\\?'[^'\"\\]+\\?'|[^\s&;,'\"\\<>)}\]]+)",
        rb"\1***",
    ),
    _rule(rb"(\bbearer\s{1,3})[\w.~+/=-]{8,}", rb"\1***"),
    _rule(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", rb"***", 0),
    _rule(rb"\b(?:gh[posu]_|github_pat_)\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{30,}", rb"***", 0),
    _rule(rb'-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[^"\\]++|\\.)*+', rb"***", 0),
)


def redact(body: bytes) -> bytes:
    """The event without its secrets; the very same bytes when it has none."""
    if b"://" in body and b"@" in body:
        body = _USER_INFO.sub(rb"\1***@", body)
    lower = body.lower()
    if any(trace in lower for trace in _TRACES):
        for rule, mask in _RULES:
            body = rule.sub(mask, body)
    return body
