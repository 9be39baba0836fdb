-- The lineage graph of the lake: which dataset or job feeds which.
SELECT DISTINCT CASE WHEN side = 'read' THEN dataset ELSE job END AS source,
  CASE WHEN side = 'read' THEN job ELSE dataset END AS target
FROM uses
