"""The lists of permitted procedures and operators."""

from __future__ import annotations

from headwater.cypher.sandbox.policy import HINT, OPERATORS, PROCEDURES

WRITING = ("Create", "Merge", "Delete", "SetProperty", "SetLabels", "RemoveLabels", "Foreach")
OUTSIDE = ("LoadCSV", "TerminateTransactions", "ShowUsers")


def test_no_operator_writes_or_leaves_the_graph() -> None:
    for operator in OPERATORS:
        assert not operator.startswith((*WRITING, *OUTSIDE)), operator


def test_procedures_are_of_the_database_and_read() -> None:
    for procedure in PROCEDURES:
        assert procedure.startswith("db."), procedure
        assert not procedure.startswith(("db.create", "db.clear", "dbms")), procedure
        assert procedure in HINT
