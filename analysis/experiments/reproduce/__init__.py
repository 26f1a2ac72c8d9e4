"""Tables and figures of the paper, measured beside what it prints."""
