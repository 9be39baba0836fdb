"""The formats in which a command prints an answer: for people, programs, spreadsheets, pictures."""
