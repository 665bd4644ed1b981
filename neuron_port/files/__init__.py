"""Files of a project besides its Python code: one inspector for each kind, on the text as it stands."""
