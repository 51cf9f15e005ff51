"""The paper as data: its constructions and experiments, to be run with our agents or with yours."""
