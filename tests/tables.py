"""Writes what the catalogue says into the documentation and the dashboard of the examples: after a row is added to it.

make tables
"""

import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
DASHBOARD = TREE / "examples" / "serving" / "grafana" / "tfmemwatch.json"


def with_table(text, table):
    """The text, with this table in the place of the one that has the same head."""
    before, head, rest = text.partition(table.split("\n")[0] + "\n")
    return before + table + rest[rest.index("\n\n") :] if head else text


def main():
    sys.path.insert(0, str(TREE))
    from tfmemwatch import catalog
    from tfmemwatch.outputs import dashboard

    page = TREE / "docs" / "pages" / "metrics.md"
    text = page.read_text(encoding="utf-8")
    for table in (catalog.table(), catalog.metrics_table()):
        text = with_table(text, table)
    page.write_text(text, encoding="utf-8")
    DASHBOARD.write_text(dashboard.dashboard(), encoding="utf-8")


if __name__ == "__main__":
    main()
