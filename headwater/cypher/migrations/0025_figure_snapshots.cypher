// One node for the value of each figure on each day.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT figure_snapshot_urn IF NOT EXISTS FOR (n:FigureSnapshot) REQUIRE n.urn IS UNIQUE;
CREATE INDEX figure_snapshot_day IF NOT EXISTS FOR (n:FigureSnapshot) ON (n.figure, n.day);
CREATE INDEX figure_snapshot_by_day IF NOT EXISTS FOR (n:FigureSnapshot) ON (n.day);
