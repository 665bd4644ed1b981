"""What a project says about the versions that it wants: its requirement files, read and never run."""
