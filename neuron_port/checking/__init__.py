"""One room for each way to read a file: what is found in a text, and what a fix makes of it."""
