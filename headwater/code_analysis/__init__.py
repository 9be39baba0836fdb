"""Reading SQL, PySpark, notebooks and dbt: the columns code reads and the tables it makes."""
