"""Settings of Sphinx for the site: `make site` builds it, and fails on a broken link."""

project = "Headwater"
author = "The authors of Headwater"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Headwater"
exclude_patterns = ["reference/questions/*", "reference/cypher/outputs/*", "_build"]
myst_enable_extensions = ["colon_fence", "fieldlist"]
myst_heading_anchors = 4
# Outputs in the pages are cut with an ellipsis, which no highlighter can parse.
suppress_warnings = ["misc.highlighting_failure"]
