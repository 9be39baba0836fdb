"""Python: the columns that PySpark and pandas read, and the tables that PySpark writes."""
