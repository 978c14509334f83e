"""Second modules of the programs of this folder."""
