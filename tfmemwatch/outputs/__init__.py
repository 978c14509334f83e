"""One file for each form or place that results go to. May import reports, and what is below.

Forms, each a function or class that is given values:

- `text`: the report as text, for a terminal or a log.
- `notebook`: the report as a notebook shows it.
- `log`: findings as lines of the log.
- `series`: the metrics as series, with names, labels in their bound and counters that never fall.
- `dashboard`: a dashboard for Grafana, from the catalogue.
- `rules`: alerts for Prometheus, from the catalogue.

Places:

- `prometheus`: a registry of prometheus_client.
- `server`: a port that is scraped.
- `otel`: OpenTelemetry.
- `final_push`: a file or a Pushgateway, for a job that ends.
- `workers`: the folder that many workers share.
- `all_workers`: what all of them have written, added up.

What they stand on:

- `worker_files`: the files in that folder.
- `worker_lock`: whose place in it is whose.
- `port_lock`: which worker has the port, where they share no folder.
- `deadline`: a request over HTTP that is over in time.
- `folder`: whether a folder can be written to, and files that are written whole.
"""
