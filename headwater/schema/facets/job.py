"""The facets of a job. Source: the facet schemas of the OpenLineage specification 2-0-2."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from headwater.schema.facets.kinds import Expected, Facet, Part, Uri


class JobDocumentation(Facet, frozen=True):
    description: str
    content_type: str | None = None


class EmissionPattern(Part, frozen=True):
    event_trigger: str
    event_content_mode: str
    window_duration: Annotated[int, Meta(ge=1)] | None = None


class JobType(Facet, frozen=True):
    processing_type: Expected[str] = None
    integration: Expected[str] = None
    job_type: str | None = None
    emission_pattern: EmissionPattern | None = None


class JobOwner(Part, frozen=True):
    name: str
    type: str | None = None


class JobOwnership(Facet, frozen=True):
    owners: list[JobOwner] | None = None


class SourceCode(Facet, frozen=True):
    language: Expected[str] = None
    source_code: Expected[str] = None


class SourceCodeLocation(Facet, frozen=True):
    type: Expected[str] = None
    url: Expected[Uri] = None
    repo_url: str | None = None
    path: str | None = None
    version: str | None = None
    tag: str | None = None
    branch: str | None = None
    pull_request_number: str | None = None


class Sql(Facet, frozen=True):
    query: str
    dialect: str | None = None


class JobTag(Part, frozen=True):
    key: str
    value: Expected[str] = None
    source: str | None = None


class JobTags(Facet, frozen=True):
    tags: list[JobTag] | None = None
