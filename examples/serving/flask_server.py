"""A model server on Flask, watched: `cd examples/serving && gunicorn -c gunicorn_conf.py flask_server:app`.

Each worker is watched by the hooks in gunicorn_conf.py, and /metrics shows all of them, added up.
"""

import flask
import prometheus_client
from model import Scorer
from prometheus_client import multiprocess

app = flask.Flask(__name__)
score = Scorer()


@app.get("/score/<int:number>")
def scored(number):
    return flask.jsonify(score(number))


@app.get("/metrics")
def metrics():
    registry = prometheus_client.CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    return flask.Response(prometheus_client.generate_latest(registry), mimetype=prometheus_client.CONTENT_TYPE_LATEST)
