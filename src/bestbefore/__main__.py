"""`python -m bestbefore` is the command `bestbefore`."""

from bestbefore.cli import main

if __name__ == "__main__":
    main()
