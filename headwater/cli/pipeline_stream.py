"""The command `pipeline stream`: fold events from Kafka or from files as they arrive."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import Home, connect, settings_of, with_local_neo4j

if TYPE_CHECKING:
    from headwater.pipelines.stream import TriggerInterval
    from headwater.pipelines.stream_chunks import MessageRules
    from headwater.pipelines.stream_sources import Source
    from headwater.settings import Settings

# The default size of one batch.
_OFFSETS_MAX = 10_000
_FILES_MAX = 100


class MessageKind(StrEnum):
    """What the messages of a stream are."""

    OPENLINEAGE = "openlineage"
    ATLAS = "atlas"


Messages = Annotated[
    MessageKind,
    typer.Option(
        help="What the messages are: openlineage, or atlas for ATLAS_ENTITIES and ATLAS_HOOK.",
        case_sensitive=False,
        metavar="KIND",
    ),
]


def stream(
    checkpoint: Annotated[
        str, typer.Option(help="Folder of Spark's checkpoint; one for each stream.")
    ],
    kafka: Annotated[str, typer.Option(help="Kafka's brokers.", metavar="HOST:PORT,...")] = "",
    topic: Annotated[str, typer.Option(help="Topics to read, separated by commas.")] = "",
    files: Annotated[
        str, typer.Option(help="Or a growing folder of JSON lines (.gz too).", metavar="DIR")
    ] = "",
    dead: Annotated[
        str,
        typer.Option(
            help="Topic (or folder) for events that cannot be folded.",
            show_default="TOPIC-dead, CHECKPOINT-dead",
        ),
    ] = "",
    since: Annotated[
        str,
        typer.Option(
            help="Where a new checkpoint begins: earliest, latest, or Spark's JSON of offsets."
        ),
    ] = "earliest",
    batch_limit: Annotated[
        int | None,
        typer.Option(
            help="Maximum offsets, or files, of one batch.",
            show_default="10000, or 100 files",
            min=1,
        ),
    ] = None,
    interval: Annotated[
        float, typer.Option(help="Minimum seconds from batch to batch.", min=0.0)
    ] = 0.5,
    once: Annotated[
        bool, typer.Option("--once", help="Process the present events, and end.")
    ] = False,
    metrics_port: Annotated[
        int | None,
        typer.Option(help="Port for /metrics on loopback; 0 takes a free one.", min=0, max=65_535),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="Option of Spark's source; a secret as NAME=env:VARIABLE or file:PATH.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    messages: Messages = MessageKind.OPENLINEAGE,
    home: Home = None,
    master: Annotated[
        str, typer.Option(help="Spark's master, if spark-submit names none.")
    ] = "local[*]",
) -> None:
    """Fold events from Kafka topics, or from arriving files, into the graph. Ctrl-C ends it."""
    import logging

    from msgspec.structs import replace

    from headwater.logs.configure import start_logs
    from headwater.pipelines.stream import TriggerInterval

    settings = with_local_neo4j(settings_of(home))
    start_logs(settings.log_level, settings.log_format)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    if bool(kafka) == bool(files) or bool(kafka) != bool(topic):
        raise typer.BadParameter("name either --kafka and --topic, or --files")
    if kafka:
        source = _topics(kafka, topic, dead, since, batch_limit, option)
    else:
        source = _folder(files, dead or f"{checkpoint.rstrip('/')}-dead", batch_limit, option)
    rules = _rules(settings)
    if messages is MessageKind.ATLAS:
        from headwater.pipelines.atlas_source import AtlasSource

        source, rules = AtlasSource(source), replace(rules, is_atlas=True)
    _run(settings, source, rules, checkpoint, TriggerInterval(interval, once), master, metrics_port)


def _run(
    settings: Settings,
    source: Source,
    rules: MessageRules,
    checkpoint: str,
    interval: TriggerInterval,
    master: str,
    metrics_port: int | None,
) -> None:
    """Run the stream until it ends or a signal stops it."""
    import logging

    from headwater.cli.serve import set_on_signal
    from headwater.pipelines.stream import Stream, stream_session
    from headwater.pipelines.stream_batches import BatchWriter
    from headwater.pipelines.stream_metrics import StreamCounts, serve_metrics

    counts = StreamCounts()
    database = connect(settings)
    events_max = settings.fold_events_max
    cache = settings.cache_path if settings.cache else None
    batches = BatchWriter(database, source, rules, events_max=events_max, observer=counts)
    try:
        with (
            serve_metrics(counts, metrics_port) as address,
            stream_session(source, master=master, events_max=events_max, cache=cache) as spark,
        ):
            # Spark sets a signal handler of its own at its start, so this comes after it.
            set_on_signal(batches.stop)
            if address:
                logging.getLogger("headwater.stream").info("metrics_served url=%s", address)
            folding = Stream(
                database,
                source,
                batches,
                counts,
                heartbeat_timeout_seconds=settings.heartbeat_timeout_seconds,
            )
            folding.run(spark, checkpoint, interval)
    finally:
        database.close()


def _topics(
    kafka: str, topic: str, dead: str, since: str, batch_limit: int | None, option: list[str] | None
) -> Source:
    from headwater.pipelines.stream_sources import KafkaSource, read_options

    return KafkaSource(
        kafka,
        topic,
        dead or f"{topic.split(',')[0]}-dead",
        since=since,
        offsets_max=batch_limit or _OFFSETS_MAX,
        options=read_options(option or [], os.environ),
    )


def _folder(files: str, dead: str, batch_limit: int | None, option: list[str] | None) -> Source:
    from headwater.pipelines.stream_sources import FileSource, read_options

    return FileSource(
        files,
        dead,
        files_max=batch_limit or _FILES_MAX,
        options=read_options(option or [], os.environ),
    )


def _rules(settings: Settings) -> MessageRules:
    from headwater.access.secret_file import load_secret
    from headwater.ingest.receive.personal_values import redaction_classes
    from headwater.pipelines.stream_chunks import MessageRules
    from headwater.schema.naming import load_naming

    return MessageRules(
        redaction_key=settings.redaction_key.encode() or load_secret(settings.redaction_key_path),
        naming=load_naming(settings.naming_path),
        event_bytes_max=settings.event_bytes_max,
        future_seconds=settings.future_seconds,
        allow_missing_event_time=settings.allow_missing_event_time,
        redaction_classes=redaction_classes(settings.redaction_classes),
    )
