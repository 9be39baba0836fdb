"""The questions of Headwater as tools of the Model Context Protocol, for assistants."""
