"""A model server on Ray Serve, watched: `cd examples/serving && python ray_server.py`.

Ray does not export a replica's own metrics. So the replicas of a host share a folder and ask for the same port: one of
them serves it and shows all, added up; another one takes over when that one ends.
"""

import os
import tempfile

from ray import serve

PORT, METRICS_PORT = int(os.environ.get("PORT", "8000")), int(os.environ.get("METRICS_PORT", "9464"))
FOLDER = os.environ.get("PROMETHEUS_MULTIPROC_DIR") or tempfile.mkdtemp(prefix="metrics-")
SHARED = {"env_vars": {"PROMETHEUS_MULTIPROC_DIR": FOLDER}}


@serve.deployment(num_replicas=2, ray_actor_options={"num_cpus": 0.5, "runtime_env": SHARED})
class Server:
    """One replica."""

    def __init__(self):
        import tfmemwatch

        tfmemwatch.install(port=METRICS_PORT)
        from model import Scorer

        self.score = Scorer()

    async def __call__(self, request):
        """What /score/3 says, and which worker says it."""
        return {"worker": os.getpid(), "score": self.score(int(request.url.path.split("/")[-1]))}


if __name__ == "__main__":
    serve.start(http_options={"host": "127.0.0.1", "port": PORT})
    serve.run(Server.bind(), blocking=True)
