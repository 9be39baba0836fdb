"""Settings of Sphinx for the site: `make site` builds it, and fails on a broken link."""

project = "Headwater"
author = "The authors of Headwater"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Headwater"
exclude_patterns = ["reference/questions/*", "reference/cypher/outputs/*", "_build"]
myst_enable_extensions = ["colon_fence", "fieldlist"]
myst_heading_anchors = 4
# The pages link to files of the repository too: those links are checked by tests/repo/test_docs.py.
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]
