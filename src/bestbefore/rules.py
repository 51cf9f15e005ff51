"""The rules by name, and the small whole numbers by which compiled code knows them.

Nothing here is compiled: the command line can name the rules without waiting for the compiler.
"""

from typing import Final

FIFO: Final = 0
RESERVOIR: Final = 1
TOPK: Final = 2
BUCKET: Final = 3
STAIRCASE: Final = 4
KING: Final = 5

KEEP: Final = {
    "fifo": FIFO,
    "reservoir": RESERVOIR,
    "topk": TOPK,
    "bucket": BUCKET,
    "staircase": STAIRCASE,
    "king": KING,
}
