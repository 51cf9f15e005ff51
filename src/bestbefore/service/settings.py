"""How a service is set up: each setting is an option of `bestbefore serve`, or a variable of the environment."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

from bestbefore.arguments import between, whole
from bestbefore.clock import window_of

PREFIX: Final = "BESTBEFORE_"
"""What the variables begin with: `BESTBEFORE_PORT` is the port."""

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def default_db() -> str:
    """Return the address of a file in the user's data folder."""
    from platformdirs import user_data_path

    return f"sqlite:///{user_data_path('bestbefore') / 'streams.db'}"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a service is set up."""

    db: str = ""
    """The database; unless given, a file in the user's data folder."""
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    """How many processes serve; more than one needs PostgreSQL."""
    sweep: str = "1 min"
    """How often what is due is done where nobody calls."""
    most_bytes: int = 1_000_000
    """The longest body of a request."""
    most_calls: int = 1000
    """How many requests are served at once; more are answered 429."""
    patience: float = 20.0
    """For how many seconds a client may take to send a request."""
    silent: str = "1 h"
    """After how long without a reward a stream that is asked for pulls counts as silent."""
    notice: str = ""
    """A line that the page shows on top: what this service is for, say."""
    secret: str = ""
    """What sessions of the page are signed with; unless given, made at the start, and sessions end with the service."""
    log: str = "info"
    """What is logged: "info" has a line for each request, "warning" only what is wrong."""

    def __post_init__(self) -> None:
        if not self.db:
            object.__setattr__(self, "db", default_db())
        for name, least in (("port", 0), ("workers", 1), ("most_bytes", 1000), ("most_calls", 1)):
            whole(name, getattr(self, name), least)
        if self.port > 65535:
            raise ValueError(f"port must be at most 65535, not {self.port}")
        between("patience", self.patience, 0, 3600, closed="right")
        for name in ("sweep", "silent"):
            if not window_of(getattr(self, name), name).by_time:
                raise ValueError(f'{name} must be a time such as "1 min", not {getattr(self, name)!r}')
        if self.log not in ("info", "warning"):
            raise ValueError(f"log must be 'info' or 'warning', not {self.log!r}")
        if self.workers > 1 and self.db.startswith("sqlite"):
            raise ValueError(
                f"workers must be 1 with SQLite, not {self.workers}: one process at a time can write a file, so that "
                "more would only wait for one another; PostgreSQL takes any number"
            )

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return self.host in LOOPBACK

    @property
    def silent_after(self) -> int:
        """The same in microseconds."""
        return window_of(self.silent, "silent").length

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, **given: Any) -> Self:
        """Return the settings of the environment, with those that were given in their place."""
        found = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for field in fields(cls):
            text = found.get(PREFIX + field.name.upper())
            if text is not None:
                values[field.name] = _read(field.name, text, type(field.default))
        return cls(**(values | {name: value for name, value in given.items() if value is not None}))

    def environment(self) -> dict[str, str]:
        """Return the variables that say the same: worker processes are told by them."""
        return {PREFIX + name.upper(): str(value) for name, value in asdict(self).items()}

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all settings."""
        return [field.name for field in fields(cls)]

    def make_folder(self) -> None:
        """Make the folder of the default database, for this user alone."""
        if self.db == default_db():
            folder = Path(self.db.removeprefix("sqlite:///")).parent
            try:
                folder.mkdir(0o700, parents=True, exist_ok=True)
            except OSError as wrong:
                raise ValueError(
                    f"db must be given, such as sqlite:////srv/streams.db: your data folder {str(folder)!r} cannot be "
                    f"made ({wrong.strerror})"
                ) from None


def _read(name: str, text: str, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{PREFIX}{name.upper()} must be a number, not {text!r}") from None
