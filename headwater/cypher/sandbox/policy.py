"""The policy of the sandbox: the procedures and operators that a caller's own statement may use.

Both are lists of the permitted, so a new release of Neo4j can bring nothing that is permitted
unnoticed.
"""

from __future__ import annotations

# Procedures that read this graph and nothing else.
PROCEDURES = frozenset(
    {
        "db.index.fulltext.queryNodes",
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties",
        "db.schema.visualization",
    }
)
# Operators that read, by the first word of their names: Expand(All) is an Expand. A new release may
# bring more.
_READING_OPERATORS = """
    AllNodesScan AllShortestPaths AntiConditionalApply AntiSemiApply Apply Argument ArgumentTracker
    AssertSameNode AssertSameRelationship BidirectionalRepeat CacheProperties CartesianProduct
    ConditionalApply DirectedAllRelationshipsScan DirectedRelationshipByElementIdSeek
    DirectedRelationshipByIdSeek DirectedRelationshipIndexContainsScan
    DirectedRelationshipIndexEndsWithScan DirectedRelationshipIndexScan
    DirectedRelationshipIndexSeek DirectedRelationshipIndexSeekByRange DirectedRelationshipTypeScan
    DirectedUnionRelationshipTypesScan Distinct Eager EagerAggregation EmptyRow ExhaustiveLimit
    Expand Filter IntersectionNodeByLabelsScan LeftOuterHashJoin LetAntiSemiApply
    LetSelectOrAntiSemiApply LetSelectOrSemiApply LetSemiApply Limit MultiNodeIndexSeek
    NodeByElementIdSeek NodeByIdSeek NodeByLabelScan NodeCountFromCountStore NodeHashJoin
    NodeIndexContainsScan NodeIndexEndsWithScan NodeIndexScan NodeIndexSeek NodeIndexSeekByRange
    NodeUniqueIndexSeek NodeUniqueIndexSeekByRange Optional OptionalExpand OrderedAggregation
    OrderedDistinct OrderedUnion PartialSort PartialTop PathPropagatingBFS ProcedureCall
    ProduceResults ProjectEndpoints Projection PruningVarLengthExpand
    RelationshipCountFromCountStore Repeat RepeatOptions RightOuterHashJoin RollUpApply
    SelectOrAntiSemiApply SelectOrSemiApply SemiApply ShortestPath Skip Sort StatefulShortestPath
    SubtractionNodeByLabelsScan Top TriadicBuild TriadicFilter TriadicSelection
    UndirectedAllRelationshipsScan UndirectedRelationshipByElementIdSeek
    UndirectedRelationshipByIdSeek UndirectedRelationshipIndexContainsScan
    UndirectedRelationshipIndexEndsWithScan UndirectedRelationshipIndexScan
    UndirectedRelationshipIndexSeek UndirectedRelationshipIndexSeekByRange
    UndirectedRelationshipTypeScan UndirectedUnionRelationshipTypesScan Union UnionNodeByLabelsScan
    Unwind ValueHashJoin VarLengthExpand
"""
OPERATORS = frozenset(_READING_OPERATORS.split())
HINT = "Use MATCH, subqueries, RETURN, and the procedures " + ", ".join(sorted(PROCEDURES)) + "."
