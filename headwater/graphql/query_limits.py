"""The limits on the size of a query, applied before it is validated or run.

| size | how it is counted | refused with |
|---|---|---|
| depth | nesting of fields, without introspection | BAD_REQUEST |
| aliases | each alias, as often as fragments repeat it | BAD_REQUEST |
| repeats | an object field selected again in one place, through fragments too | BAD_REQUEST |
| cost | the values that the answer may hold, with each list at its longest | TOO_COSTLY |

The length of a list is its `first` or `last`: as written, from its variable, or the default. A
list of a traversal counts `LIST_ASSUMED` entries for each hop of its `depth`. Any other list counts
`LIST_ASSUMED` entries. The cost inside a list is multiplied by its length. The `edges` of a
connection are as long as the `first` or `last` of the connection's field.

The operations of a document are added up, and @skip and @include are ignored: a document costs the
same whatever its variables are.

Each fragment is measured once, however often it is spread, so fragments that double each other are
refused quickly. (strawberry's own limiters follow every spread. The validation of graphql-core
compares equal names in pairs, which takes seconds for a document full of repeats.)
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

from headwater.lineage.pagination import PAGE_DEFAULT

DEPTH_MAX = 15
TOKENS_MAX = 4_000
ALIASES_MAX = 30
REPEATS_MAX = 100
COST_MAX = 100_000
# The length of a list without a length of its own.
LIST_ASSUMED = 10
# No resolver returns a longer list; beyond it the resolver's own error is the better one.
LIST_MAX = 1_000
_INT_MAX = 2**31 - 1
_INT_DIGITS_MAX = 20

_META_FIELDS = {"__schema": "__Schema", "__type": "__Type"}


class Size(NamedTuple):
    """The size of a part of a document."""

    depth: int = 0
    aliases: int = 0
    cost: int = 0
    repeats: int = 0

    def plus(self, other: Size) -> Size:
        """Return the size of two parts that stand beside each other."""
        return Size(
            max(self.depth, other.depth),
            self.aliases + other.aliases,
            self.cost + other.cost,
            self.repeats + other.repeats,
        )


def measure(document: DocumentNode, schema: GraphQLSchema, variables: Mapping[str, Any]) -> Size:
    """Return the size of a document: its operations, and fragments that none of them spreads.

    A field that the schema lacks counts as one value. A fragment that spreads itself counts once.
    Raises RecursionError for a document nested deeper than Python's stack.
    """
    fragments = {
        node.name.value: node
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }
    size, reached = Size(), set[str]()
    for operation in document.definitions:
        if isinstance(operation, OperationDefinitionNode):
            values = {**_default_integers(operation), **variables}
            measurer = _Measurer(schema, fragments, values, {}, {})
            root = schema.get_root_type(operation.operation)
            size = size.plus(measurer.selection_set(operation.selection_set, root, LIST_ASSUMED))
            reached.update(name for name, _ in measurer.fragment_sizes)
    for name, node in fragments.items():
        if name not in reached:
            # Validation refuses an unused fragment, but compares its fields first.
            measurer = _Measurer(schema, fragments, variables, {}, {})
            size = size.plus(measurer.selection_set(node.selection_set, None, LIST_ASSUMED))
    return size


def _default_integers(operation: OperationDefinitionNode) -> dict[str, Any]:
    """Return the default values of integer variables."""
    return {
        variable.variable.name.value: int(variable.default_value.value)
        for variable in operation.variable_definitions or ()
        if isinstance(variable.default_value, IntValueNode)
    }


@dataclass(frozen=True)
class _Measurer:
    """The measurement of one operation.

    `fragment_sizes` holds the size by fragment and page length, None while it is measured.
    `fragment_names` holds the object fields that each fragment selects.
    """

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    fragment_sizes: dict[tuple[str, int], Size | None]
    fragment_names: dict[str, Counter[str]]

    def selection_set(self, node: SelectionSetNode, parent: Any, page: int) -> Size:
        """Return the size of a selection set of `parent`, repeats included."""
        repeats = sum(times - 1 for times in self._object_fields(node).values())
        return self._selections(node, parent, page).plus(Size(repeats=repeats))

    def _object_fields(self, node: SelectionSetNode) -> Counter[str]:
        """Count the object fields selected in one place, by their names in the answer."""
        names: Counter[str] = Counter()
        for selection in node.selections:
            if isinstance(selection, FieldNode) and selection.selection_set:
                names[(selection.alias or selection.name).value] += 1
            elif isinstance(selection, InlineFragmentNode):
                names.update(self._object_fields(selection.selection_set))
            elif isinstance(selection, FragmentSpreadNode):
                names.update(self._object_fields_of_fragment(selection.name.value))
        return names

    def _object_fields_of_fragment(self, name: str) -> Counter[str]:
        if name not in self.fragments:
            return Counter()
        if name not in self.fragment_names:
            self.fragment_names[name] = Counter()
            self.fragment_names[name] = self._object_fields(self.fragments[name].selection_set)
        return self.fragment_names[name]

    def _selections(self, node: SelectionSetNode, parent: Any, page: int) -> Size:
        """Return the size of the selections of `parent`, whose own lists have `page` entries."""
        size = Size()
        for selection in node.selections:
            if isinstance(selection, FieldNode):
                selected = self._field(selection, parent, page)
            elif isinstance(selection, FragmentSpreadNode):
                selected = self._fragment(selection.name.value, page)
            else:
                assert isinstance(selection, InlineFragmentNode)
                condition = selection.type_condition
                inner = self.schema.get_type(condition.name.value) if condition else parent
                selected = self._selections(selection.selection_set, inner, page)
            size = size.plus(selected)
        return size

    def _fragment(self, name: str, page: int) -> Size:
        node, key = self.fragments.get(name), (name, page)
        if node is None:
            return Size()
        if key not in self.fragment_sizes:
            self.fragment_sizes[key] = None
            parent = self.schema.get_type(node.type_condition.name.value)
            self.fragment_sizes[key] = self._selections(node.selection_set, parent, page)
        return self.fragment_sizes[key] or Size()

    def _field(self, node: FieldNode, parent: Any, page: int) -> Size:
        aliases = 1 if node.alias else 0
        if node.selection_set is None:
            return Size(0, aliases, 1)
        name = node.name.value
        if name in _META_FIELDS:
            meta_type = self.schema.get_type(_META_FIELDS[name])
            inside = self.selection_set(node.selection_set, meta_type, LIST_ASSUMED)
            return Size(1, aliases + inside.aliases, 1 + inside.cost, inside.repeats)
        has_fields = isinstance(parent, GraphQLObjectType | GraphQLInterfaceType)
        field = parent.fields.get(name) if has_fields else None
        length = self._length(node, field)
        times, inner_page = 1, length or LIST_ASSUMED
        if field is not None and is_list_type(get_nullable_type(field.type)):
            times, inner_page = length or page, LIST_ASSUMED
        inner = get_named_type(field.type) if field is not None else None
        if is_leaf_type(inner):
            inner = None
        inside = self.selection_set(node.selection_set, inner, inner_page)
        cost = 1 + times * inside.cost
        return Size(1 + inside.depth, aliases + inside.aliases, cost, inside.repeats)

    def _length(self, node: FieldNode, field: GraphQLField | None) -> int | None:
        """Return the length of the lists that `first`, `last` or `depth` of a field bounds."""
        arguments = {} if field is None else field.args
        for name, factor in (("first", 1), ("depth", LIST_ASSUMED)):
            if name in arguments:
                value = self._argument(node, name)
                if value is None and name == "first" and "last" in arguments:
                    value = self._argument(node, "last")
                    value = PAGE_DEFAULT if value is None else value
                if value is None:
                    value = arguments[name].default_value
                number = value if isinstance(value, int) else LIST_MAX
                return factor * min(max(number, 1), LIST_MAX)
        return None

    def _argument(self, node: FieldNode, name: str) -> Any:
        """Return the value of an argument; None if it is absent, null or not set."""
        for argument in node.arguments or ():
            if argument.name.value == name:
                return self._value(argument.value)
        return None

    def _value(self, node: ValueNode) -> Any:
        if isinstance(node, VariableNode):
            return self.variables.get(node.name.value)
        if isinstance(node, IntValueNode):
            is_short = len(node.value) < _INT_DIGITS_MAX
            return int(node.value) if is_short else LIST_MAX
        return None


def exceeded_limit(size: Size, cost_max: int) -> GraphQLError | None:
    """Return the error for the first limit that a size exceeds, or None."""
    if size.depth > DEPTH_MAX:
        return GraphQLError(f"the query has depth {size.depth}; the limit is {DEPTH_MAX}")
    if size.aliases > ALIASES_MAX:
        aliases = _number_text(size.aliases)
        return GraphQLError(f"the query has {aliases} aliases; the limit is {ALIASES_MAX}")
    if size.repeats > REPEATS_MAX:
        repeats = _number_text(size.repeats)
        return GraphQLError(f"the query repeats fields {repeats} times; the limit is {REPEATS_MAX}")
    if size.cost > cost_max:
        extensions = {
            "code": "TOO_COSTLY",
            "cost": min(size.cost, _INT_MAX),
            "limit": cost_max,
            "hint": "Request shorter lists (first), or fewer lists inside lists.",
        }
        cost = _number_text(size.cost)
        message = f"the answer may hold {cost} values; the limit is {cost_max}"
        return GraphQLError(message, extensions=extensions)
    return None


def _number_text(number: int) -> str:
    return str(number) if number < 10**9 else "over 1,000,000,000"


class QueryLimits(SchemaExtension):
    """An extension that refuses a document over a limit before it is validated."""

    def __init__(self, cost_max: int) -> None:
        self._cost_max = cost_max

    def on_operation(self) -> Iterator[None]:
        """Bound the tokens that the parser reads."""
        self.execution_context.parse_options["max_tokens"] = TOKENS_MAX
        yield

    def on_validate(self) -> Iterator[None]:
        """Refuse a document that exceeds a limit."""
        context = self.execution_context
        document, schema = context.graphql_document, context.schema._schema
        if document is not None:
            size = measure(document, schema, context.variables or {})
            error = exceeded_limit(size, self._cost_max)
            if error is not None:
                context.pre_execution_errors = [error]
        yield


def query_limits(cost_max: int) -> Callable[[], QueryLimits]:
    """Return a factory of the extension: one instance for each request."""
    return lambda: QueryLimits(cost_max)
