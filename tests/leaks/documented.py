"""Run the programs of a page of the documentation, and print what was named: a line of JSON for each.

python documented.py FOLDER retrace_leak retrace_cured ...
"""

import importlib
import json
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
STEPS = 160  # most is named long before


def main(folder, names):
    import tfmemwatch

    sys.path.insert(0, folder)
    for name in names:
        step = importlib.import_module(name).step
        with tfmemwatch.watch(name, log=False) as block:
            for number in range(STEPS):
                step(number)
                block.step()
                if block.findings:
                    break
        found = [[one.kind, os.path.basename(one.site.file), one.site.line] for one in block.findings]
        print(json.dumps({"name": name, "named": found, "report": str(block.report())}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)
