"""One file for each form or place that results go to. May import reports, and what is below.

Forms, each a function or class that is given values:

- `text`: the report as text, for a terminal or a log.
- `html_page`: the report as one page of HTML; its style and script are in `page/`.
- `markdown`: the report for an issue at GitHub, without data of the program's.
- `formats`: all forms of a report, by name or by the ending of a file.
- `screen`: a report as the lines of a terminal of any size.
- `recording`: a recording as values: its runs, their samples, events and findings.
- `recording_text`: the same as text.
- `comparison`: two recordings: what has gone, what is new, what is still there.
- `notebook`: the report as a notebook shows it.
- `log`: findings as lines of the log.
- `series`: the metrics as series, with names, labels in their bound and counters that never fall.
- `dashboard`: a dashboard for Grafana, from the catalogue.
- `rules`: alerts for Prometheus, from the catalogue.

Places:

- `prometheus`: a registry of prometheus_client.
- `server`: a port that is scraped, and at which a browser may look.
- `live_page`: what a browser may ask for, made once for each look.
- `kept_json`: reports that follow each other, as JSON.
- `mounted`: the page in the program's own server, as an ASGI or WSGI application.
- `otel`: OpenTelemetry.
- `final_push`: a file or a Pushgateway, for a job that ends.
- `recording_file`: frames that are appended to a file, each checked by itself.
- `workers`: the folder that many workers share.
- `all_workers`: what all of them have written, added up.

What they stand on:

- `report_from`: a report from what `as_dict` made of it.
- `worker_files`: the files in that folder.
- `worker_lock`: whose place in it is whose.
- `port_lock`: which worker has the port, where they share no folder.
- `http_message`: one request over HTTP, read, and its answer, written.
- `deadline`: a request over HTTP that is over in time.
- `folder`: whether a folder can be written to, and files that are written whole.
"""
