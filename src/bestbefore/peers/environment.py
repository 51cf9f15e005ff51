"""The model as an environment of Gymnasium, for people who bring learners.

One step is one pull.  The observation is what is in the slots: how often each stored arm was pulled, its mean reward,
and its age.  The action is the number of a slot.  After each `budget` pulls the stream's clock goes on: the next arm
arrives, and the oldest expires.  The episode ends when the last arm has had its pulls.

Arms, their order and their rewards are those of `simulate.play`: after `reset(seed=s)` come the arms of run 0 of seed
s, and each `reset()` goes on to the next run.
"""

from typing import Any, Final

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from bestbefore.agents import Player
from bestbefore.arguments import whole
from bestbefore.simulate.seeds import generators
from bestbefore.simulate.tape import Tape, Tapes
from bestbefore.streams import Stream

Observation = dict[str, npt.NDArray[Any]]

RENDERS: Final = "ansi"


class StreamEnv(gym.Env[Observation, np.int64]):
    """A stream of arms that expire, pulled one step at a time.

    The observation is a dict of three arrays, with a place for each slot, oldest arm first: `pulls`, `means` (0 before
    the first pull) and `ages` (1 for the newest arm, 0 for an empty slot).  `info` has `action_mask` (1 for each slot
    that can be pulled), `stored` (the arms, by number of arrival), `arrival` (the newest), and of the last pull
    `regret`.  To pull an empty slot is a request without an answer: its reward is 0, and its regret the best mean.

    Parameters
    ----------
    stream
        The arms, such as `streams.uniform(200)`.
    window
        Only the last W arrivals are valid.
    budget
        Pulls after each arrival.
    memory
        Slots; unless given, as many as arms are valid.
    keep
        The keep rule that decides which arms stay in the slots; the learner decides which of them is pulled.
    render_mode
        "ansi" makes `render` return the slots as text.
    """

    metadata = {"render_modes": [RENDERS], "render_fps": 1}  # noqa: RUF012  as Gymnasium declares it

    def __init__(
        self,
        stream: Stream,
        window: int,
        budget: int = 10,
        memory: int | None = None,
        keep: str = "fifo",
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, RENDERS):
            raise ValueError(f"render_mode must be None or {RENDERS!r}, not {render_mode!r}")
        self.stream, self.window, self.budget = stream, whole("window", window), whole("budget", budget)
        self.memory = self.window if memory is None else whole("memory", memory)
        self.keep, self.render_mode = keep, render_mode
        self._seed, self._run = 0, -1
        self._player = self._new_player(np.random.default_rng(0))
        self._known: dict[int, list[Any]] = {}  # tape, pulls, total
        self._recent: list[float] = []  # means of the valid arms
        self._arrival = self._spent = 0
        beyond = 0.0 if stream.noise.bounded else 40 * stream.noise.sigma  # no normal reward is ever so far off
        shape, most = (self.memory,), self.window * self.budget
        self.observation_space = spaces.Dict(  # type: ignore[assignment]
            {
                "pulls": spaces.Box(0, most, shape, np.int64),
                "means": spaces.Box(-beyond, 1 + beyond, shape, np.float64),
                "ages": spaces.Box(0, self.window, shape, np.int64),
            }
        )
        self.action_space = spaces.Discrete(self.memory)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next run, or run 0 of a seed; `options={"run": 3}` begins that run.

        Parameters
        ----------
        seed
            A seed: begin with its run 0.
        options
            None, or {"run": number}.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._run = seed, -1
        elif self._run < 0:  # never told a seed: any will do
            self._seed = int(self.np_random.integers(2**31))
        self._run = whole("run", (options or {}).get("run", self._run + 1), at_least=0)
        arms, _, rule = generators(self._seed, self._run)
        self._player = self._new_player(rule)
        self._blocks, self._tapes = self.stream.blocks(arms), Tapes(self._seed, self._run)
        self._coming: list[Tape] = []
        self._known, self._recent = {}, []
        self._arrival = self._spent = 0
        self._arrive()
        return self._seen(), self._info(0.0)

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pull the arm in a slot; return what is seen, the reward, and whether the stream is over.

        Parameters
        ----------
        action
            The number of a slot.
        """
        if not self.action_space.contains(action):
            raise ValueError(f"action must be the number of a slot, from 0 to {self.memory - 1}, not {action!r}")
        if not self._recent or self._spent == self.budget:
            raise ValueError("step must come after reset, and before the end of the episode")
        stored, reward, earned = self._player.stored, 0.0, 0.0
        if action < len(stored):
            arm = stored[int(action)]
            known = self._known[arm]
            reward, earned = known[0].one(), known[0].mean
            self._player.tell(arm, reward)
            known[1] += 1
            known[2] += reward
        regret = max(self._recent) - earned
        self._spent += 1
        over = self._spent == self.budget and not self._arrive()
        return self._seen(), float(reward), over, False, self._info(regret)

    def render(self) -> str | None:
        """Return the slots as text, if made with render_mode="ansi"."""
        if self.render_mode is None:
            return None
        rows = ((arm, *self._known[arm][1:]) for arm in self._player.stored)
        return "\n".join(f"arm {arm}: {pulls} pulls, total {total:g}" for arm, pulls, total in rows)

    def _new_player(self, rng: np.random.Generator) -> Player:
        """Return what keeps the slots; its pull rule has no say."""
        bounded = self.stream.noise.bounded
        sigma = None if bounded else self.stream.noise.sigma
        return Player(self.window, self.memory, self.keep, "ucb", rng, sigma=sigma)

    def _arrive(self) -> bool:
        """Let the next arm arrive, if there is one."""
        if not self._coming:
            block = next(self._blocks, None)
            if block is None:
                return False
            self._coming = list(self._tapes.of_block(block))[::-1]
        tape = self._coming.pop()
        self._arrival, self._spent = self._arrival + 1, 0
        self._known[self._arrival] = [tape, 0, 0.0]
        self._recent = [*self._recent, tape.mean][-self.window :]
        self._player.arrive(self._arrival, budget=self.budget)
        self._known = {arm: self._known[arm] for arm in self._player.stored}
        return True

    def _seen(self) -> Observation:
        """Return what is in the slots."""
        pulls, means, ages = np.zeros(self.memory, np.int64), np.zeros(self.memory), np.zeros(self.memory, np.int64)
        for slot, (arm, (_, count, total)) in enumerate(self._known.items()):
            pulls[slot], means[slot], ages[slot] = count, total / max(count, 1), self._arrival - arm + 1
        return {"pulls": pulls, "means": means, "ages": ages}

    def _info(self, regret: float) -> dict[str, Any]:
        mask = np.zeros(self.memory, np.int8)
        mask[: len(self._known)] = 1
        return {"action_mask": mask, "stored": list(self._known), "arrival": self._arrival, "regret": regret}
