-- Completeness of the metadata that producers send, by day and producer.
-- Runs count on the day of their start, events on the day of their event time. Runs whose producer
-- reports no end do not count, as in the coverage of the graph.
SELECT
  day,
  producer,
  sum(events) AS events,
  sum(with_datasets) AS with_datasets,
  sum(with_schema) AS with_schema,
  sum(with_outputs) AS with_outputs,
  sum(with_column_lineage) AS with_column_lineage,
  sum(with_statistics) AS with_statistics,
  sum(runs) AS runs,
  sum(never_ended) AS never_ended
FROM (
  SELECT
    to_date(at) AS day,
    producer,
    1 AS events,
    int(size(inputs) + size(outputs) > 0) AS with_datasets,
    int(exists(inputs, d -> d.facets.schema IS NOT NULL) OR exists(outputs, d -> d.facets.schema IS NOT NULL))
      AS with_schema,
    int(size(outputs) > 0) AS with_outputs,
    int(exists(outputs, d -> d.facets.columnLineage IS NOT NULL)) AS with_column_lineage,
    int(exists(outputs, d -> d.outputFacets.outputStatistics IS NOT NULL)) AS with_statistics,
    0 AS runs,
    0 AS never_ended
  FROM events
  UNION ALL
  SELECT to_date(coalesce(started, first)), producer, 0, 0, 0, 0, 0, 0, 1, int(ended IS NULL)
  FROM runs
  WHERE NOT end_unreported
)
GROUP BY day, producer
