// Return the snapshots of the given figures since a day, oldest first.
// access: read
// params: $figures LIST<STRING>, $since STRING, $until STRING, $limit INTEGER = 100000
// returns: figure, day, value, numerator, denominator, takenAt, isBackfilled
// example: headwater figures coverage --days 90
MATCH (s:FigureSnapshot)
WHERE s.figure IN $figures AND s.day >= $since AND s.day <= $until
RETURN s.figure AS figure, s.day AS day, s.value AS value, s.numerator AS numerator,
  s.denominator AS denominator, s.takenAt AS takenAt,
  coalesce(s.isBackfilled, false) AS isBackfilled
ORDER BY figure, day
LIMIT $limit
