"""What requests and answers look like: pydantic at the edge, and nowhere else."""

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, WithJsonSchema, with_config
from typing_extensions import TypedDict

MOST_AT_ONCE: Final = 1000
"""How many calls a request may have."""

_PLAIN: Final[list[dict[str, Any]]] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
_NAME: Final = {
    "title": "Arm",
    "description": "The name of an arm: a string, a number, a boolean, or a list of these; 2000 bytes at most.",
    "anyOf": [*_PLAIN, {"type": "array", "items": {"$ref": "#/components/schemas/Arm"}}],
}
ARM_MARK: Final = "x-arm"
"""Marks where the description has to say that an arm's name is meant, which is a list of such names at most."""

ARM: Final = _NAME
_SETTINGS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "window": {
            "description": 'How long an arm is valid: so many arrivals, or a time such as "24h".',
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "string", "pattern": "^[1-9][0-9]{0,3} (s|min|h|days)$"},
            ],
        },
        "memory": {"type": "integer", "minimum": 1, "maximum": 10_000, "description": "How many arms are stored."},
        "epsilon": {"type": "number", "minimum": 0.001, "maximum": 1, "description": "For an Explorer: how near."},
        "delta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "description": "How unsure."},
        "tests": {"type": "integer", "minimum": 1, "description": "For an Explorer: pulls of each arm."},
        "pull": {"type": "string", "description": 'For a Player: its pull rule, such as "moss".'},
        "keep": {"type": "string", "description": 'Which arms are stored, such as "staircase".'},
        "seed": {"type": "integer", "minimum": 0},
    },
}
Arm = Annotated[Any, WithJsonSchema({ARM_MARK: True})]
Id = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="The id of a pull.",
        json_schema_extra={"pattern": r"^[^\x00]+$"},  # the verbs check that, and need less time than a pattern
    ),
]
Reward = Annotated[float, Field(allow_inf_nan=False, description="From 0 to 1, unless the stream has a scale.")]
Count = Annotated[int, Field(ge=1, le=MOST_AT_ONCE)]
Time = Annotated[
    int | float | AwareDatetime,  # a number of an arm must stay a whole one
    Field(
        description="Seconds since 1970, or a date with its time zone; with a window by count, the number of an arm."
    ),
]


class Model(BaseModel):
    """A request: nothing is guessed, and nothing is left over."""

    model_config = ConfigDict(extra="forbid", strict=True)


def example(**fields: Any) -> ConfigDict:
    """Return the settings of a model that has an example."""
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [fields]})


class Stream(Model):
    """How a stream is made."""

    model_config = example(
        agent="Explorer", settings={"window": "24h", "epsilon": 0.2}, patience="10 min", otherwise=0.0
    )
    agent: Annotated[str, Field(pattern="^(Explorer|Player|Seeker)$")] = "Explorer"
    settings: Annotated[dict[str, Any], WithJsonSchema(_SETTINGS)] = Field(
        default_factory=dict, description="The arguments of the agent: see docs/agent.md, and here those used most."
    )
    state: dict[str, Any] | None = Field(None, description="An agent's saved state to go on from, without settings.")
    patience: Annotated[str, Field(max_length=100)] | None = Field(None, description='How long a pull waits: "10 min".')
    otherwise: float | None = Field(0.0, description="What a pull counts as that nobody told; null gives it up.")
    remember: Annotated[str, Field(max_length=100)] = Field(
        "1 day", description="How long ids of ended pulls are kept."
    )


class Arrival(Model):
    """An arm that arrives."""

    model_config = example(arm="Storm closes airports")
    arm: Arm
    at: Time | None = Field(None, description="When; by count, the arm's number. Unless given, now.")
    budget: int | None = Field(None, description="For a Player: how many pulls may be spent until the next arrival.")


class Withdrawal(Model):
    """An arm that is to go at once."""

    model_config = example(arm="Storm closes airports")
    arm: Arm


class Question(Model):
    """Which arms to pull."""

    model_config = example(id="request 4711")
    id: Id | None = Field(None, description="Yours: asked again with it, the answer is the same. Needed to retry.")
    k: Count | None = Field(None, description="A slate: up to so many different arms; ids end in /1, /2 ...")
    count: Count | None = Field(None, description="So many pulls, one after the other; ids end in /1, /2 ...")


class Told(Model):
    """The reward of a pull."""

    model_config = example(id="request 4711", reward=1.0)
    id: Id
    reward: Reward


@with_config(ConfigDict(extra="forbid", strict=True, title="Told"))
class OneTold(TypedDict):
    """The reward of a pull, one of many: a dictionary takes half the time of a model."""

    id: Id
    reward: Reward


class Rewards(Model):
    """The rewards of many pulls."""

    model_config = example(rewards=[{"id": "request 4711", "reward": 1.0}, {"id": "request 4712", "reward": 0.0}])
    rewards: Annotated[list[OneTold], Field(min_length=1, max_length=MOST_AT_ONCE)]


class Lost(Model):
    """A pull that will never report."""

    model_config = example(id="request 4713")
    id: Id


class Advance(Model):
    """How far time goes on."""

    model_config = example(to=None)
    to: Time | None = None


class Learnt(Model):
    """Whether an arm is valid."""

    model_config = example(arm="Storm closes airports", valid=True)
    arm: Arm
    valid: bool


class Finish(Model):
    """How a stream ends, for a Seeker."""

    model_config = example(time="stops")
    time: Annotated[str, Field(max_length=100)] = "stops"


class Call(Model):
    """One call of a batch."""

    stream: Annotated[str, Field(min_length=1, max_length=200)]
    verb: Annotated[str, Field(pattern="^(arrive|ask|tell|give_up|withdraw|advance|learn|tick|finish)$")]
    arguments: dict[str, Any] = Field(default_factory=dict, description="The body of the call of that name.")


class Batch(Model):
    """Many calls at once."""

    model_config = example(
        calls=[{"stream": "front page", "verb": "tell", "arguments": {"id": "request 4711", "reward": 1.0}}]
    )
    calls: Annotated[list[Call], Field(min_length=1, max_length=MOST_AT_ONCE)]


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:bestbefore:problem:conflict",
                    "title": "It was done before, and otherwise",
                    "status": 409,
                    "detail": "pull 'request 4711' was told 0.0: reward must be the same again, not 1.0",
                }
            ]
        }
    )
    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, str]] | None = None


class Streams(BaseModel):
    """The names of all streams."""

    streams: list[str]


class Made(BaseModel):
    """A stream that is there."""

    stream: str
    made: bool = Field(description="Whether this call has made it.")


class Gone(BaseModel):
    """The arms that memory let go; their names are deleted already."""

    gone: list[Arm]


class Pull(BaseModel):
    """A pull: tell its reward by its id."""

    id: str
    arm: Arm
    arrival: int
    asked: datetime
    deadline: datetime | None


class Pulls(BaseModel):
    """Pulls to make; none when nothing is to be pulled now."""

    pulls: list[Pull]


class Done(BaseModel):
    """It is done, now or before."""

    done: bool


class Result(BaseModel):
    """How one call of many went: its answer, or what was wrong with it."""

    answer: Any = None
    problem: Problem | None = None


class Results(BaseModel):
    """How each call went, in the order of the calls."""

    results: list[Result]


class Best(BaseModel):
    """The best arm, null when there is none; with `k`, a list of arms."""

    best: Annotated[Any, WithJsonSchema({"anyOf": [{ARM_MARK: True}, {"type": "null"}]})]


class Erased(BaseModel):
    """What a retention officer asks, without names."""

    arms: int
    swept: datetime | None
    oldest: float | None = Field(description="The age of the oldest arm held, in seconds.")
    waiting: bool


class State(BaseModel):
    """All that an agent knows, names included."""

    state: dict[str, Any]


class Facts(BaseModel):
    """What a stream is and what has happened in it."""

    model_config = ConfigDict(extra="allow")
    name: str


class Swept(BaseModel):
    """What a sweep has done."""

    streams: int
    gone: dict[str, list[Arm]]
    forgotten: int
    erased: bool
    failed: dict[str, str]


class Health(BaseModel):
    """Whether the service can do its work."""

    status: str
