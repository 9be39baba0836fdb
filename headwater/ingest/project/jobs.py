"""Project jobs to the properties of their nodes."""

from __future__ import annotations

from headwater.ingest.project.values import (
    Properties,
    approval_properties,
    deleted_at,
    deprecation_properties,
    owner_names,
    read_facet,
    seen_properties,
    tag_texts,
)
from headwater.schema.edits import edited_description, edited_owners
from headwater.schema.facets.job import (
    JobDocumentation,
    JobOwnership,
    JobTags,
    JobType,
    SourceCode,
    SourceCodeLocation,
    Sql,
)
from headwater.schema.facts import JobFacts
from headwater.schema.facts_codec import pack
from headwater.schema.tags import edited_tags
from headwater.schema.urns import display_name, guid_of, job_urn


def job_properties(facts: JobFacts) -> Properties:
    """Return the properties of a job node."""
    sql = read_facet(Sql, facts.facets, "sql")
    kind = read_facet(JobType, facts.facets, "jobType")
    owners = read_facet(JobOwnership, facts.facets, "ownership")
    documentation = read_facet(JobDocumentation, facts.facets, "documentation")
    tags = read_facet(JobTags, facts.facets, "tags")
    code = read_facet(SourceCode, facts.facets, "sourceCode")
    location = read_facet(SourceCodeLocation, facts.facets, "sourceCodeLocation")
    return {
        "namespace": display_name(facts.job.namespace),
        "name": display_name(facts.job.name),
        "guid": guid_of(job_urn(facts.job.namespace, facts.job.name)),
        **seen_properties(facts.span),
        "type": kind.job_type if kind else None,
        "processing": kind.processing_type if kind else None,
        "integration": kind.integration if kind else None,
        "sql": sql.query if sql else None,
        "language": code.language if code else None,
        "sourceCode": code.source_code if code else None,
        "owners": edited_owners(owner_names(owners), facts.edits),
        "description": edited_description(
            documentation.description if documentation else None, facts.edits
        ),
        "tags": tag_texts(edited_tags(tags.tags if tags else None, facts.tag_edits)),
        "deletedAt": deleted_at(facts),
        **deprecation_properties(facts.edits),
        **approval_properties(facts.edits),
        "codeUrl": location.url if location else None,
        "codeRepo": location.repo_url if location else None,
        "codePath": location.path if location else None,
        "codeVersion": location.version if location else None,
        "codeBranch": location.branch if location else None,
        "declaresInputs": True if facts.declared_inputs else None,
        "declaresOutputs": True if facts.declared_outputs else None,
        "facts": pack(facts),
    }
