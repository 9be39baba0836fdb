"""Reading SQL, PySpark, notebooks and dbt files: the columns that code reads and the tables it makes."""
