"""The command `bestbefore`: its help answers at once, since what takes long to import is imported where it is used."""

import os
import sys

import click

from bestbefore import __version__
from bestbefore.cli.advise import advise
from bestbefore.cli.db import db
from bestbefore.cli.demo import demo
from bestbefore.cli.explore import explore
from bestbefore.cli.keys import keys
from bestbefore.cli.log import log
from bestbefore.cli.play import play
from bestbefore.cli.replay import replay
from bestbefore.cli.reproduce import reproduce
from bestbefore.cli.seek import seek
from bestbefore.cli.serve import serve
from bestbefore.cli.theorems import theorems
from bestbefore.errors import UnknownStream


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="bestbefore")
def commands() -> None:
    """Find the best of what is still fresh, remembering only a few arms.

    Arms (movies, ads, prompts, models) arrive in a stream, only the last W are valid, and only a handful can be stored.
    Start with `bestbefore explore`, or `bestbefore reproduce` for the whole paper.
    """


commands.add_command(reproduce)
commands.add_command(explore)
commands.add_command(play)
commands.add_command(seek)
commands.add_command(replay)
commands.add_command(log)
commands.add_command(advise)
commands.add_command(theorems)
commands.add_command(db)
commands.add_command(serve)
commands.add_command(keys)
commands.add_command(demo)


def main() -> None:
    """Run the command: what a user can mend is a sentence and exit code 2, never a traceback; Ctrl-C is 130."""
    try:
        commands.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        sys.stdout.flush()
        os._exit(130)  # at once: a compilation in another thread would be waited for
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(2)
    except (ValueError, UnknownStream, OSError, OverflowError, MemoryError, ModuleNotFoundError) as wrong:
        notes = getattr(wrong, "__notes__", [])
        click.echo(" ".join([f"Error: {wrong or type(wrong).__name__}", *notes]), err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
