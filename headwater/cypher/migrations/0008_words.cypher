// Search finds nodes by what is said of them too, and datasets by their columns: one index instead of that of names.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE FULLTEXT INDEX words IF NOT EXISTS
  FOR (n:Dataset|Job|Answer)
  ON EACH [n.name, n.namespace, n.answerId, n.content, n.description, n.columns, n.tags, n.owners];
DROP INDEX names IF EXISTS;
