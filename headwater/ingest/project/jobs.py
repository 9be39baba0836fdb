"""What the graph shows of a job."""

from __future__ import annotations

from headwater.ingest.fold.facets import (
    CodeLocation,
    Documentation,
    JobKind,
    Owners,
    SourceCode,
    Sql,
    Tags,
    read_facet,
)
from headwater.ingest.project.values import Properties, seen, tag_words
from headwater.schema.facts import JobFacts
from headwater.schema.facts_codec import pack
from headwater.schema.urns import display_name, guid_of, job_urn


def job_properties(facts: JobFacts) -> Properties:
    """A job node."""
    sql = read_facet(Sql, facts.facets, "sql")
    kind = read_facet(JobKind, facts.facets, "jobType")
    owners = read_facet(Owners, facts.facets, "ownership")
    documentation = read_facet(Documentation, facts.facets, "documentation")
    tags = read_facet(Tags, facts.facets, "tags")
    code = read_facet(SourceCode, facts.facets, "sourceCode")
    location = read_facet(CodeLocation, facts.facets, "sourceCodeLocation")
    return {
        "namespace": display_name(facts.job.namespace),
        "name": display_name(facts.job.name),
        "guid": guid_of(job_urn(facts.job.namespace, facts.job.name)),
        **seen(facts.span),
        "type": kind.job_type if kind else None,
        "processing": kind.processing_type if kind else None,
        "integration": kind.integration if kind else None,
        "sql": sql.query if sql else None,
        "language": code.language if code else None,
        "sourceCode": code.source_code if code else None,
        "owners": [owner.name for owner in owners.owners] if owners else None,
        "description": documentation.description if documentation else None,
        "tags": tag_words(tags.tags) if tags else None,
        "codeUrl": location.url if location else None,
        "codeRepo": location.repo_url if location else None,
        "codePath": location.path if location else None,
        "codeVersion": location.version if location else None,
        "codeBranch": location.branch if location else None,
        "declaresInputs": True if facts.declared_inputs else None,
        "declaresOutputs": True if facts.declared_outputs else None,
        "facts": pack(facts),
    }
