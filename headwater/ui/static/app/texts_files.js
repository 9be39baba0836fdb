// The texts of the explorer's files and of its written selector, part of the catalogue of texts.js.

export const FILE_TEXTS = {
  "explorer.save": "Save",
  "explorer.save.title": "Lineage of {name}",
  "explorer.save.saved": "Saved at {time}",
  "explorer.save.asOf": "As of {time}",
  "explorer.save.compared": "Compared with {time}",
  "explorer.save.only": "Only {only}",
  "explorer.save.shown": "{shown} of {total} nodes",
  "explorer.save.hidden": "Nodes that the key does not see: {count}",
  "explorer.save.svg": "Picture (SVG)",
  "explorer.save.png": "Picture (PNG)",
  "explorer.save.mermaid": "Mermaid",
  "explorer.save.json": "JSON",
  "explorer.save.csv": "Nodes (CSV)",
  "explorer.save.failed": "The file could not be made: {message}",
  "explorer.only": "Only",
  "explorer.only.example": "+orders+2 tag:pii",
  "explorer.only.help":
    "Names with *, or tag: owner: state: kind: namespace: type: with a value. + before a term adds what lies upstream, + after it what lies downstream, with a number the steps. A space joins, a comma narrows.",
  "explorer.only.found": "selected: {count}",
  "explorer.only.method": "Sign {at}: “{word}” is none of {names}.",
  "explorer.only.kind": "Sign {at}: “{word}” is no kind of node. Write dataset, job, run, version, answer or column.",
  "explorer.only.value": "Sign {at}: write a value after “{word}:”.",
  "explorer.only.empty": "Sign {at}: write a name or method:value here.",
  "explorer.only.quote": "Sign {at}: close the quotes.",
};
