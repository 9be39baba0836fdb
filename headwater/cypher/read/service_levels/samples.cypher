// Return the samples of the given service levels since an instant, oldest first.
// access: read
// params: $ids LIST<STRING>, $since DATETIME, $limit INTEGER = 100000
// returns: serviceLevel, hour, takenAt, value, target, good, total, goodSlots, totalSlots,
//   buckets
// example: headwater slo M9 --days 90
MATCH (s:ServiceLevelSample)
WHERE s.serviceLevel IN $ids AND s.hour >= $since
RETURN s.serviceLevel AS serviceLevel, s.hour AS hour, s.takenAt AS takenAt, s.value AS value,
  s.target AS target,
  s.good AS good, s.total AS total, s.goodSlots AS goodSlots, s.totalSlots AS totalSlots,
  s.buckets AS buckets
ORDER BY serviceLevel, hour, takenAt, s.urn
LIMIT $limit
