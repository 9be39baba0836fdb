"""SQL: parsing, the columns it reads, the columns it puts out, and the tables it changes."""
