"""The SQL of `headwater pipeline analyse`: one file for each view or table, described at its head.

`headwater.pipelines.analyse` runs the files; docs/how-to/pipelines.md lists the columns.
"""
