// Add deleted runs to the summaries of their job, day, status and set of versions. Sums of counts
// end at the greatest integer: `sum` goes on as FLOAT, and `toInteger` returns the nearest integer.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by `headwater pipeline rollup`
UNWIND $rows AS row
MERGE (s:RunSummary {urn: row.urn})
ON CREATE SET s += row.properties, s.runs = 0, s.timed = 0, s.seconds = 0.0, s.errors = 0,
  s.rowsRead = 0, s.rowsWritten = 0, s.bytesWritten = 0
WITH s, row
CALL (s, row) {
  UNWIND [s {.*}, row] AS part
  RETURN toInteger(sum(part.rowsRead)) AS rowsRead,
    toInteger(sum(part.rowsWritten)) AS rowsWritten,
    toInteger(sum(part.bytesWritten)) AS bytesWritten
}
SET s.runs = s.runs + row.runs, s.timed = s.timed + row.timed, s.seconds = s.seconds + row.seconds,
  s.errors = s.errors + row.errors, s.rowsRead = rowsRead, s.rowsWritten = rowsWritten,
  s.bytesWritten = bytesWritten,
  s.first = CASE WHEN s.first <= row.first THEN s.first ELSE row.first END,
  s.last = CASE WHEN s.last >= row.last THEN s.last ELSE row.last END,
  s.secondsMin = CASE WHEN s.secondsMin <= row.secondsMin THEN s.secondsMin
    ELSE coalesce(row.secondsMin, s.secondsMin) END,
  s.secondsMax = CASE WHEN s.secondsMax >= row.secondsMax THEN s.secondsMax
    ELSE coalesce(row.secondsMax, s.secondsMax) END
WITH s, row
MATCH (j:Job {urn: row.job})
MERGE (s)-[:SUMMARY_OF]->(j)
