"""Commands that set up and check: `doctor`, `spark-conf`, `demo`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from headwater.cli.options import Home, Json, Profile, Url, api_address, settings_of
from headwater.errors import ServerError


def doctor(home: Home = None, as_json: Json = False) -> None:
    """Check everything that Headwater needs, and print hints. Exit code 3 means that a check
    failed.
    """
    from headwater.cli.doctor import examine

    checks = examine(settings_of(home))
    if as_json:
        print(
            json.dumps(
                [{"check": c.name, "ok": c.ok, "found": c.found, "hint": c.hint} for c in checks],
                indent=2,
            )
        )
    else:
        for check in checks:
            print(f"{'ok  ' if check.ok else 'BAD '} {check.name}: {check.found}")
            if not check.ok and check.hint:
                print(f"      {check.hint}")
    if not all(check.ok for check in checks):
        raise typer.Exit(ServerError.exit_code)


def spark_conf(
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    api_key: Annotated[str | None, typer.Option(help="Key to send as a bearer token.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Namespace of the cluster's jobs.")] = None,
    spark: Annotated[
        str | None,
        typer.Option(help="Version of the cluster's Spark.", show_default="the installed one"),
    ] = None,
    headwater_jar: Annotated[
        str | None,
        typer.Option(
            help="Path of headwater-spark.jar where the drivers run.",
            show_default="that of this installation",
        ),
    ] = None,
    as_json: Json = False,
    format: Annotated[
        str, typer.Option(help="flags (spark-submit) or defaults (spark-defaults.conf).")
    ] = "flags",
) -> None:
    """Print the settings that make a Spark cluster send its lineage to this Headwater."""
    from headwater.spark_hooks.listener import as_defaults_conf, as_submit_flags
    from headwater.spark_hooks.listener import spark_conf as conf_of

    address = api_address(home, url, profile)
    conf = conf_of(
        address.url, api_key, namespace, headwater_jar=headwater_jar, spark_version=spark
    )
    if as_json:
        print(json.dumps(conf, indent=2))
    elif format == "flags":
        print(as_submit_flags(conf), end="")
    elif format == "defaults":
        print(as_defaults_conf(conf), end="")
    else:
        raise typer.BadParameter(f"--format {format} is neither flags nor defaults")


def demo(
    home: Annotated[
        str,
        typer.Option(
            help="Folder of the demo; it is emptied first, unless a demo is served from it."
        ),
    ] = "~/.headwater-demo",
    port: Annotated[int, typer.Option(help="Port of the API; 0 takes a free one.")] = 8000,
    bolt_port: Annotated[
        int, typer.Option(help="Port of Neo4j's Bolt; 0 takes a free one.")
    ] = 7687,
    serve: Annotated[bool, typer.Option("--serve", help="Keep serving after the demo.")] = False,
) -> None:
    """Run a real Spark pipeline on real flights, fail one run, and trace an answer to its
    sources.
    """
    from headwater.cli.demo import run

    run(settings_of(home, port=port), bolt_port=bolt_port, serve=serve)


COMMANDS = {"doctor": doctor, "spark-conf": spark_conf, "demo": demo}
