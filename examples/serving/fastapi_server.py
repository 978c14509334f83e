"""A model server on FastAPI, watched: `cd examples/serving && uvicorn fastapi_server:app --port 8000`.

The watch's metrics are in the program's own /metrics, with nothing to configure.
"""

import fastapi
import prometheus_client

import tfmemwatch

tfmemwatch.install()

from model import Scorer

app = fastapi.FastAPI()
score = Scorer()


@app.get("/score/{number}")
def scored(number: int):
    return score(number)


@app.get("/metrics")
def metrics():
    return fastapi.Response(prometheus_client.generate_latest(), media_type=prometheus_client.CONTENT_TYPE_LATEST)
