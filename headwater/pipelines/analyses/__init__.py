"""What `headwater pipeline analyse` asks of the lake, in Spark SQL: one file a view or a table, in words of its own at
its head. `headwater.pipelines.analyse` runs them; docs/how-to/pipelines.md tells the columns."""
