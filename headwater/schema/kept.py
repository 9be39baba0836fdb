"""How facts are kept in a node: their JSON, deflated (RFC 1950), with words that most facts have in common given
beforehand. A third to a sixth of the text's size, which is most of what a run takes up in the graph.
"""

from __future__ import annotations

import zlib

import msgspec

# What stands in facts again and again, the most frequent last, as RFC 1950 wants it of a preset dictionary. Never to
# be changed: what is kept was deflated with it. (A new one would have to be tried by its Adler-32, which is kept too.)
_WORDS = (
    b'"declared_inputs":["declared_outputs":["symlinks":{"by_hand":{"sources":{"after":{"parents":{"roots":{"code":['
    b'"errorMessage":["message\\":\\"stackTrace\\":\\"programmingLanguage\\":\\"sql":["query\\":\\"select from where '
    b'"nominalTime":["nominalStartTime\\":\\"nominalEndTime\\":\\""tags":["key\\":\\"value\\":\\"source\\":\\"'
    b'"ownership":["owners\\":[{\\"documentation\\":["description\\":\\""storage":["storageLayer\\":\\"fileFormat\\":\\"'
    b'"lifecycle":["CREATE"OVERWRITE"DROP"partitions":["version":["dropped":true"made":false"explicit":['
    b'OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet\\",\\"rowCount\\":'
    b'\\"size\\":\\"fileCount\\":"outputStatistics":["inputStatistics":["parent":["spark_properties":['
    b'"processing_engine":["ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet\\",\\"name\\":\\"spark\\",'
    b'\\"openlineageAdapterVersion\\":\\"1.53.0\\",\\"version\\":\\"4.1.3\\"}"]"jobType":["'
    b'JobTypeJobFacet.json#/$defs/JobTypeJobFacet\\",\\"integration\\":\\"SPARK\\",\\"jobType\\":\\"'
    b'\\"processingType\\":\\"BATCH\\"}"]"dataSource":["DatasourceDatasetFacet.json#/$defs/DatasourceDatasetFacet\\",'
    b'\\"uri\\":\\"s3://file:/"schema":["SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet\\",\\"fields\\":['
    b'{\\"name\\":\\"type\\":\\"string\\"},{\\"name\\":\\"type\\":\\"long\\"},"schemas":{"'
    b'"{\\"_producer\\":\\"https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark\\",'
    b'\\"_schemaURL\\":\\"https://openlineage.io/spec/facets/1-0-0/'
    b'"span":[17"states":[["START"],["COMPLETE"]]}"FAIL"job":["jobs":{"job:"outputs":{"dataset:'
    b'"dataset":["derived":[["run_id":"schema":[17000000,2,"{"facets":{"inputs":{"dataset:'
)


def keep(facts: msgspec.Struct) -> bytes:
    """Facts as a node keeps them: the same facts give the same bytes with one version of zlib."""
    return keep_text(msgspec.json.encode(facts, order="sorted"))


def keep_text(text: bytes) -> bytes:
    """The same, of facts that are JSON already."""
    deflate = zlib.compressobj(level=4, zdict=_WORDS)
    return deflate.compress(text) + deflate.flush()


def text_in(kept: bytes) -> str:
    """The JSON in what `keep` made. Raises ValueError when it is nothing of the kind."""
    try:
        inflate = zlib.decompressobj(zdict=_WORDS)
        return (inflate.decompress(kept) + inflate.flush()).decode()
    except zlib.error as error:
        raise ValueError(f"these bytes are no facts: {error}") from error
