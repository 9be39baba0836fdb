"""Personal data in the schema: where it is, where it arrives, and the path that explains it."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated

import strawberry

from headwater.errors import QueryError
from headwater.governance.personal_data import listing
from headwater.governance.personal_data.classes import CLASS_CHARACTERS_MAX
from headwater.governance.personal_data.listing import Entry, PersonalDataFilter
from headwater.governance.personal_data.propagate import State, Step
from headwater.graphql.context import Info
from headwater.graphql.types.enums import PersonalDataState, described
from headwater.graphql.types.fields import After, Before, First, Last, resolver
from headwater.graphql.types.results import Connection, counted
from headwater.graphql.types.scalars import ID
from headwater.lineage.nodes import resolve_urn
from headwater.lineage.pagination import page_request


@strawberry.enum(description="The kind of a node with personal data.")
class PersonalDataKind(Enum):
    COLUMN = described("COLUMN", "A column of a dataset.")
    DATASET = described("DATASET", "A dataset that is no model and no export.")
    MODEL = described("MODEL", "A dataset of type MODEL.")
    ANSWER = described("ANSWER", "An answer that cites the data.")
    EXPORT = described(
        "EXPORT", "A dataset of type EXPORT, REPORT or DASHBOARD, or with the tag export."
    )


@strawberry.type(description="One step of a path along which personal data passes.")
class PersonalDataStep:
    source: ID = strawberry.field(description="The node before.")
    target: ID = strawberry.field(description="The node behind.")
    job: ID | None = strawberry.field(
        description="The job; null without one, and if the key does not see it."
    )
    transformations: list[str] = strawberry.field(
        description="How: DIRECT:IDENTITY, INDIRECT:FILTER; masked values end in :masked."
    )
    state: PersonalDataState = strawberry.field(description="What the step does to the values.")

    @classmethod
    def of(cls, step: Step) -> PersonalDataStep:
        return cls(
            source=ID(step.source),
            target=ID(step.target),
            job=ID(step.job) if step.job else None,
            transformations=list(step.transformations),
            state=PersonalDataState[step.state.name],
        )


@strawberry.type(description="A class of personal data at a node, and the path by which it came.")
class PersonalData:
    urn: ID = strawberry.field(description="The node: a column, a dataset or an answer.")
    kind: PersonalDataKind = strawberry.field(description="The kind of the node.")
    classification: str = strawberry.field(description="The class: email, phone, pii and so on.")
    state: PersonalDataState = strawberry.field(description="What is known about it there.")
    masked: bool = strawberry.field(description="True if the state is MASKED or DECLASSIFIED.")
    unknown: bool = strawberry.field(description="True if the state is UNKNOWN.")
    influence: bool = strawberry.field(description="True if the state is INFLUENCED.")
    suggested: bool = strawberry.field(
        description="True if only the name of the first column suggests the class."
    )
    path: list[ID] = strawberry.field(
        description="The nodes from the classified one to this one; it alone if it is classified."
    )
    steps: list[PersonalDataStep] = strawberry.field(description="The steps of the path.")

    @classmethod
    def of(cls, one: Entry) -> PersonalData:
        return cls(
            urn=ID(one.urn),
            kind=PersonalDataKind[one.kind],
            classification=one.classification,
            state=PersonalDataState[one.state.name],
            masked=one.state in (State.MASKED, State.DECLASSIFIED),
            unknown=one.state is State.UNKNOWN,
            influence=one.state is State.INFLUENCED,
            suggested=one.origin == "name",
            path=list(map(ID, one.path)),
            steps=list(map(PersonalDataStep.of, one.steps)),
        )


@strawberry.type(description="A page of the nodes with personal data.")
class PersonalDataConnection(Connection[PersonalData]):
    exposed_count: int = strawberry.field(
        description="The number of datasets, models, answers and exports that it reaches unmasked."
    )
    unknown_count: int = strawberry.field(
        description="The number of those that it may reach over jobs that send no columns."
    )


@strawberry.type
class PersonalDataQueries:
    @resolver(
        "The nodes with personal data, by urn: classified columns, and the columns, datasets, "
        "models, answers and exports that it reaches, each with the path."
    )
    async def personal_data(
        self,
        info: Info,
        unmasked_only: Annotated[
            bool | None,
            strawberry.argument(
                description="Only nodes that values reach unmasked from another one."
            ),
        ] = False,
        classification: Annotated[
            str | None, strawberry.argument(description="Only this class; pii for every class.")
        ] = None,
        namespace: Annotated[
            str | None, strawberry.argument(description="Only columns and datasets of it.")
        ] = None,
        kind: Annotated[
            list[PersonalDataKind] | None, strawberry.argument(description="Only these kinds.")
        ] = None,
        urn: Annotated[
            ID | None,
            strawberry.argument(
                description="Only this node; a dataset stands for its columns too."
            ),
        ] = None,
        suggested: Annotated[
            bool | None,
            strawberry.argument(description="Classes that names of columns suggest count too."),
        ] = False,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> PersonalDataConnection | None:
        if classification is not None and len(classification) > CLASS_CHARACTERS_MAX:
            raise QueryError(
                f"`classification` has {len(classification)} characters; "
                f"{CLASS_CHARACTERS_MAX} are allowed"
            )
        run_in_thread, view = info.context.run_in_thread, info.context.view
        filter = PersonalDataFilter(
            unmasked_only=bool(unmasked_only),
            classification=(classification or "").strip(),
            namespace=namespace or "",
            kinds=frozenset(str(one.value) for one in kind or ()),
            with_suggested=bool(suggested),
            urn=await run_in_thread(resolve_urn, view, urn) if urn else "",
        )
        request = page_request(first, after, last, before)
        page, count = await run_in_thread(listing.personal_data, view, filter, request)
        exposure = await run_in_thread(partial(listing.exposure, view, filter))
        return PersonalDataConnection.of(
            page,
            map(PersonalData.of, page.entries),
            counted(count),
            exposed_count=exposure.exposed,
            unknown_count=exposure.unknown,
        )
