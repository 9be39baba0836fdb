"""How large a query may be, judged before anything of it is validated or asked.

| what | how it is counted | refused with |
|---|---|---|
| depth | fields inside one another; introspection is not counted | BAD_REQUEST |
| aliases | every alias, as often as fragments repeat it | BAD_REQUEST |
| repeats | a field with fields of its own, selected again where it is already, through fragments too | BAD_REQUEST |
| cost | every value that the answer may hold, if its lists are as long as they may be | TOO_COSTLY |

A list is as long as its `first` says: as written, as its variable says, or as the schema has it by default. One of a
walk is `LIST_ASSUMED` long for every hop of its `depth`, any other is `LIST_ASSUMED` long, and what lies in it is
multiplied by that. A page (`edges`) is as long as the `first` of the field that it belongs to.

All operations of a document are counted together, and so is what @skip and @include may leave out: a document that
cannot be run whole is not run at all, so that it costs what it says, whatever its variables are.

A fragment is looked at once, wherever it is spread, so that fragments which double each other cost no time to refuse.
(The limits that come with strawberry follow every spread. To validate, graphql-core compares what is selected under one
name in pairs, which for a document full of repeats takes seconds.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
)
from strawberry.extensions import SchemaExtension

DEPTH_MAX = 15
TOKENS_MAX = 4_000
ALIASES_MAX = 30
REPEATS_MAX = 100
COST_MAX = 100_000
# How long a list is taken to be that does not say it.
LIST_ASSUMED = 10
# No list is longer, whatever is asked for; the field itself says so better than a limit could.
LIST_MAX = 1_000

_META = {"__schema": "__Schema", "__type": "__Type"}


class Size(NamedTuple):
    """How large a part of a document is."""

    depth: int = 0
    aliases: int = 0
    cost: int = 0
    repeats: int = 0

    def beside(self, other: Size) -> Size:
        return Size(
            max(self.depth, other.depth),
            self.aliases + other.aliases,
            self.cost + other.cost,
            self.repeats + other.repeats,
        )


def measure(document: DocumentNode, schema: GraphQLSchema, variables: Mapping[str, Any]) -> Size:
    """The size of a document: of all its operations, and of fragments that none of them spreads. What the schema does
    not know counts as one value; a fragment that spreads itself counts once. Raises RecursionError for what is nested
    deeper than Python can follow."""
    fragments = {
        node.name.value: node
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }
    size, reached = Size(), set[str]()
    for operation in document.definitions:
        if isinstance(operation, OperationDefinitionNode):
            walk = _Walk(schema, fragments, {**_defaults(operation), **variables}, {}, {})
            root = schema.get_root_type(operation.operation)
            size = size.beside(walk.inside(operation.selection_set, root, LIST_ASSUMED))
            reached.update(name for name, _ in walk.seen)
    for name, node in fragments.items():
        if name not in reached:
            # It is not run, and refused for that, but validated before.
            walk = _Walk(schema, fragments, variables, {}, {})
            size = size.beside(walk.inside(node.selection_set, None, LIST_ASSUMED))
    return size


def _defaults(operation: OperationDefinitionNode) -> dict[str, Any]:
    """The whole numbers that variables are without being given."""
    return {
        variable.variable.name.value: int(variable.default_value.value)
        for variable in operation.variable_definitions or ()
        if isinstance(variable.default_value, IntValueNode)
    }


@dataclass(frozen=True)
class _Walk:
    """One operation, being measured. `seen` is how large its fragments were found to be, None for one that is being
    looked at; `named` is what they select."""

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    seen: dict[tuple[str, int], Size | None]
    named: dict[str, Counter[str]]

    def inside(self, node: SelectionSetNode, parent: Any, page: int) -> Size:
        """What is selected of `parent` in one place."""
        repeats = sum(times - 1 for times in self._names(node).values())
        return self._selections(node, parent, page).beside(Size(repeats=repeats))

    def _names(self, node: SelectionSetNode) -> Counter[str]:
        """How often each field with fields of its own is selected in one place, by the name it has in the answer."""
        names: Counter[str] = Counter()
        for selection in node.selections:
            if isinstance(selection, FieldNode) and selection.selection_set:
                names[(selection.alias or selection.name).value] += 1
            elif isinstance(selection, InlineFragmentNode):
                names.update(self._names(selection.selection_set))
            elif (
                isinstance(selection, FragmentSpreadNode) and selection.name.value in self.fragments
            ):
                name = selection.name.value
                if name not in self.named:
                    self.named[name] = Counter()
                    self.named[name] = self._names(self.fragments[name].selection_set)
                names.update(self.named[name])
        return names

    def _selections(self, node: SelectionSetNode, parent: Any, page: int) -> Size:
        """What is selected of `parent`, whose own lists are `page` long."""
        size = Size()
        for selection in node.selections:
            if isinstance(selection, FieldNode):
                found = self._field(selection, parent, page)
            elif isinstance(selection, FragmentSpreadNode):
                found = self._fragment(selection.name.value, page)
            else:
                assert isinstance(selection, InlineFragmentNode)
                named = selection.type_condition
                inner = self.schema.get_type(named.name.value) if named else parent
                found = self._selections(selection.selection_set, inner, page)
            size = size.beside(found)
        return size

    def _fragment(self, name: str, page: int) -> Size:
        node, key = self.fragments.get(name), (name, page)
        if node is None:
            return Size()
        if key not in self.seen:
            self.seen[key] = None
            named = self.schema.get_type(node.type_condition.name.value)
            self.seen[key] = self._selections(node.selection_set, named, page)
        return self.seen[key] or Size()

    def _field(self, node: FieldNode, parent: Any, page: int) -> Size:
        aliases = 1 if node.alias else 0
        if node.selection_set is None:
            return Size(0, aliases, 1)
        name = node.name.value
        if name in _META:
            inside = self.inside(
                node.selection_set, self.schema.get_type(_META[name]), LIST_ASSUMED
            )
            return Size(1, aliases + inside.aliases, 1 + inside.cost, inside.repeats)
        field = (
            parent.fields.get(name)
            if isinstance(parent, GraphQLObjectType | GraphQLInterfaceType)
            else None
        )
        length = self._length(node, field)
        times, below = 1, length or LIST_ASSUMED
        if field is not None and is_list_type(get_nullable_type(field.type)):
            times, below = length or page, LIST_ASSUMED
        inner = get_named_type(field.type) if field is not None else None
        inside = self.inside(node.selection_set, None if is_leaf_type(inner) else inner, below)
        return Size(
            1 + inside.depth, aliases + inside.aliases, 1 + times * inside.cost, inside.repeats
        )

    def _length(self, node: FieldNode, field: GraphQLField | None) -> int | None:
        """How long the lists are that the arguments of a field speak of."""
        for name, each in (("first", 1), ("depth", LIST_ASSUMED)):
            if field is not None and name in field.args:
                sent = next(
                    (one.value for one in node.arguments or () if one.name.value == name), None
                )
                value = field.args[name].default_value if sent is None else self._value(sent)
                number = value if isinstance(value, int) else LIST_MAX
                return each * min(max(number, 1), LIST_MAX)
        return None

    def _value(self, node: ValueNode) -> Any:
        if isinstance(node, VariableNode):
            return self.variables.get(node.name.value)
        return int(node.value) if isinstance(node, IntValueNode) and len(node.value) < 20 else None


def fault(size: Size, cost_max: int) -> GraphQLError | None:
    """What is too large, if anything is."""
    if size.depth > DEPTH_MAX:
        return GraphQLError(f"the query has a depth of {size.depth}; {DEPTH_MAX} is allowed")
    if size.aliases > ALIASES_MAX:
        return GraphQLError(
            f"the query has {_shown(size.aliases)} aliases; {ALIASES_MAX} are allowed"
        )
    if size.repeats > REPEATS_MAX:
        return GraphQLError(
            f"the query repeats fields {_shown(size.repeats)} times; {REPEATS_MAX} times are allowed"
        )
    if size.cost > cost_max:
        said = {"code": "TOO_COSTLY", "cost": min(size.cost, 2**31 - 1), "limit": cost_max}
        hint = "Ask for fewer at a time (first), or for fewer lists inside lists."
        message = f"the answer may hold {_shown(size.cost)} values; {cost_max} are allowed"
        return GraphQLError(message, extensions={**said, "hint": hint})
    return None


def _shown(number: int) -> str:
    return str(number) if number < 10**9 else "more than a thousand million"


class Limits(SchemaExtension):
    """Refuses what is too large before it is validated."""

    def __init__(self, cost_max: int) -> None:
        self._cost_max = cost_max

    def on_operation(self) -> Iterator[None]:
        self.execution_context.parse_options["max_tokens"] = TOKENS_MAX
        yield

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        if context.graphql_document is not None:
            size = measure(
                context.graphql_document, context.schema._schema, context.variables or {}
            )
            error = fault(size, self._cost_max)
            if error is not None:
                context.pre_execution_errors = [error]
        yield


def limits(cost_max: int) -> Callable[[], Limits]:
    """One of them for every request."""
    return lambda: Limits(cost_max)
