"""A model server on BentoML, watched: `cd examples/serving && bentoml serve bento_server:Server --port 8000`.

BentoML gives its workers a folder for their metrics: its own /metrics shows them, added up, with nothing to configure.
"""

import os

import bentoml

import tfmemwatch


@bentoml.service(workers=2)
class Server:
    """One worker."""

    def __init__(self):
        tfmemwatch.install()
        from model import Scorer

        self.score_of = Scorer()

    @bentoml.api
    def score(self, number: int) -> dict:
        """What a POST to /score with {"number": 3} says, and which worker says it."""
        return {"worker": os.getpid(), "score": self.score_of(number)}
