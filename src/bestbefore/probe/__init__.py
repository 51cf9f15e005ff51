"""Probe rules: how an arriving arm is tested, and whether stored arms are pulled again for it.  One file each."""
