"""Commands about the tokens of an OpenID provider: `token check`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from headwater.cli.options import Home, Json, settings_of
from headwater.errors import SettingsError


def check(
    token: Annotated[
        str, typer.Argument(help="The token, or - to read it from standard input.")
    ] = "-",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Verify a token, and print its caller, roles, scopes and namespaces, or why it is refused.

    The token itself is never printed. Other users of this machine see arguments: prefer -.
    """
    from headwater.access.oidc.sign_on import sign_on_of
    from headwater.cli import render

    sign_on = sign_on_of(settings_of(home))
    if sign_on is None:
        raise SettingsError(
            "no OpenID provider is configured",
            hint="Set HEADWATER_OIDC_ISSUER and HEADWATER_OIDC_AUDIENCE.",
        )
    text = sys.stdin.readline(65_536) if token == "-" else token
    claims = sign_on.claims(text.strip())
    principal = sign_on.roles.principal_of(claims)
    found: dict[str, Any] = {
        "principal": principal.name,
        "display_name": principal.display_name,
        "roles": sorted({str(grant.role) for grant in sign_on.roles.grants_of(claims)}),
        "scopes": sorted(principal.scopes),
        "namespaces": list(principal.visibility.patterns),
        "writable_namespaces": list(principal.writable.patterns),
        "expires": datetime.fromtimestamp(int(claims["exp"]), UTC),
    }
    if as_json:
        render.print_json(found)
        return
    for name, value in found.items():
        shown = ", ".join(value) if isinstance(value, list) else str(value)
        print(f"{name.replace('_', ' ')}: {shown or 'none'}")


HELP = "Check what a token of the OpenID provider allows."
COMMANDS: dict[str, Callable[..., None]] = {"check": check}
