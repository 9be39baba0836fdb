-- Each write of a dataset with other fields or types than the write before.
WITH written AS (
  SELECT dataset, run, min(at) AS at,
    max_by(transform(fields, f -> named_struct('name', f.name, 'type', coalesce(f.type, ''))), at) AS fields
  FROM uses
  WHERE side = 'write' AND fields IS NOT NULL
  GROUP BY dataset, run
),
named_writes AS (
  SELECT dataset, run, at, transform(fields, f -> f.name) AS names,
    transform(fields, f -> concat(f.name, ' ', f.type)) AS typed
  FROM written
),
beside AS (
  SELECT *, lag(names) OVER w AS names_before, lag(typed) OVER w AS typed_before
  FROM named_writes
  WINDOW w AS (PARTITION BY dataset ORDER BY at, run)
),
changed AS (
  SELECT dataset, run, at,
    array_sort(array_except(names, names_before)) AS added,
    array_sort(array_except(names_before, names)) AS removed,
    array_sort(filter(names, n -> array_contains(names_before, n) AND size(array_except(
      filter(typed, t -> startswith(t, concat(n, ' '))), typed_before)) > 0)) AS retyped
  FROM beside
  WHERE names_before IS NOT NULL
)
SELECT * FROM changed WHERE size(added) + size(removed) + size(retyped) > 0 AND at <= :until
