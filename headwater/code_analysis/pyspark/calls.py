"""The calls of PySpark, pandas and Airflow by their effect: reads, writes, columns and SQL."""

from __future__ import annotations

import ast
import re

from headwater.code_analysis.model import TableName
from headwater.code_analysis.pyspark.python_ast import called_name

WORD = re.compile(r"\w+")
# Formats that both read and write files; `spark.read` or `write` in the chain decides which.
FILE_FORMATS = {"parquet", "csv", "json", "orc", "text", "delta", "avro", "jdbc"}
READ_CALLS = {*FILE_FORMATS, "load", "table", "forName", "forPath"}
READ_PREFIXES = ("read_", "scan_")
WRITE_CALLS = {
    *("saveAsTable", "insertInto", "save", "writeTo"),
    *("to_csv", "to_parquet", "to_sql", "to_json", "to_excel", "to_feather", "to_delta", "to_gbq"),
}
WRITE_PREFIX = "write_"
SQL_CALLS = {"sql", "read_sql", "read_sql_query", "read_database", "execute"}
# The argument of Airflow's operators that holds SQL, or the name of a file with it.
SQL_KEYWORD = "sql"
SQL_TEXT = re.compile(
    r"\s*(--[^\n]*\n\s*)*(select|with|insert\s+into|insert\s+overwrite|merge\s+into|update|"
    r"delete\s+from|create\s+(or\s+replace\s+)?(table|view))\s",
    re.IGNORECASE,
)
# Methods whose text arguments are names of columns.
COLUMN_CALLS = {
    *("select", "groupBy", "groupby", "group_by", "orderBy", "sort", "sort_values", "agg"),
    *("sortWithinPartitions", "partitionBy", "repartition", "cube", "rollup", "pivot", "col"),
    *("drop", "dropDuplicates", "drop_duplicates", "dropna", "fillna", "withColumnRenamed"),
    *("rename", "set_index", "join", "merge", "isin_column", "nunique", "value_counts"),
}
# Of these only the first argument is a column that exists.
FIRST_ARGUMENT_CALLS = ("col", "withColumnRenamed")
COLUMN_KEYWORDS = {
    *("by", "on", "left_on", "right_on", "subset", "cols", "columns", "usecols", "index"),
    *("values", "partitionBy"),
}
# Methods whose text arguments are SQL expressions.
EXPRESSION_CALLS = {"filter", "where", "expr", "selectExpr", "query", "eval"}
# Usual names of pyspark.sql.functions and polars, whose calls take names of columns.
FUNCTION_MODULES = {"F", "f", "fn", "sf", "functions", "pl"}
VALUE_FUNCTIONS = {"lit", "expr", "current_date", "current_timestamp", "when", "udf"}
JOIN_CALLS = {
    *("join", "crossJoin", "merge", "append"),
    *("union", "unionByName", "unionAll", "intersect", "subtract"),
}
# Methods that add a column, and the position of its name.
ADDED_COLUMN_POSITION = {"withColumn": 0, "withColumnRenamed": 1, "alias": 0}
# Attributes of a frame that are not columns.
FRAME_ATTRIBUTES = ("write", "writeStream", "str", "dt", "loc", "iloc", "columns")


def is_write(method: str) -> bool:
    return method in WRITE_CALLS or (
        method.startswith(WRITE_PREFIX) and len(method) > len(WRITE_PREFIX)
    )


def is_read(method: str, chain: list[str]) -> bool:
    """Return True for a call that reads a table or a file.

    `chain` are the names before the method."""
    if method in FILE_FORMATS:
        return "read" in chain
    return method in READ_CALLS or method.startswith(READ_PREFIXES)


def is_column_expression(value: ast.expr) -> bool:
    """Return True for an expression with `col("a")` or a function of columns in it."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    for call in calls:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        is_function = isinstance(owner, ast.Name) and owner.id in FUNCTION_MODULES
        if is_function or called_name(call) in ("col", "column"):
            return True
    return False


def names_column(method: str, owner: ast.expr | None) -> bool:
    """Return True for `col("a")`, and for functions like `F.sum("a")`."""
    is_function = isinstance(owner, ast.Name) and owner.id in FUNCTION_MODULES
    return method in ("col", "column") or (is_function and method not in VALUE_FUNCTIONS)


def table_name(name: str) -> TableName:
    return (name,) if "/" in name else tuple(name.replace("`", "").split("."))
