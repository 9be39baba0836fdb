"""The stories, one module each: tables, jobs, a fault, its repair, and what must be found."""
