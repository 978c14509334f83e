"""A report in every state that the page can be in: written down, without TensorFlow."""

import dataclasses
import math

from tfmemwatch.catalog import ROWS
from tfmemwatch.explain.baked_in import BakedIn
from tfmemwatch.explain.excerpts import Excerpt
from tfmemwatch.growth.history import Timeline
from tfmemwatch.growth.memory_verdict import Verdict
from tfmemwatch.headline import Headline
from tfmemwatch.memory.account import Account
from tfmemwatch.memory.forecast import Outlook
from tfmemwatch.memory.limits import Limit
from tfmemwatch.memory.process import Memory
from tfmemwatch.model import FILLING, LEAK, Finding, Site
from tfmemwatch.reports import (
    Built,
    Calls,
    LeftOfModel,
    LivingModel,
    Made,
    Moment,
    OpenSessions,
    OwnCost,
    Program,
    Report,
    RetraceCause,
    Traced,
)

NOW = 1795125600.0
HANDLE = Site("/srv/recommender/serve.py", 42, "handle")
LOAD = Site("/srv/recommender/models.py", 17, "load")
TRAIN = Site("/srv/recommender/train.py", 88, "train_step")
MAIN = Site("/srv/recommender/serve.py", 71, "main")
DAY = 86400.0
SERVE = tuple(
    """class Server:
    @tf.function
    def score(self, features, boost):
        return tf.nn.softmax(tf.matmul(features, self.weights) * boost)

    def handle(self, request):
        boost = 1.0 + request.number / 1000
        return self.score(request.features, boost)

    def reload(self, path):""".splitlines()
)
KEEP = (
    "    def load(path):",
    "        model = keras.models.load_model(path)",
    "        _seen[path] = model",
    "        return model",
)

RETRACE = Finding(
    kind="retrace",
    site=HANDLE,
    since=0.55 * 3600,
    grown=817,
    rate=2360.0,
    per="hour",
    bytes=412 << 20,
    verdict=LEAK,
    cause="the tf.function score is traced again and again, and every trace is kept",
    cure="Pass tensors instead of Python numbers, or set reduce_retracing=True. Each new Python value makes a trace.",
    confidence=0.97,
    holder="",
    stack=(HANDLE, MAIN),
    outlook="at this rate the container limit of 2 GiB is reached in 3 h 10 min (2 h 40 min – 4 h)",
    why="835 traces of `score`: `boost` a new Python float each time (835)",
    examples=("boost: a Python float → another Python float",),
    suggestion="@tf.function(input_signature=[tf.TensorSpec([1, 16], tf.float32), tf.TensorSpec([], tf.float32)])\n"
    "def score(self, features, boost): ...\n"
    "self.score(features, tf.constant(np.float32(boost)))  # 835 traces become 1",
    short="`tf.constant(np.float32(boost))` (the first 128 traces become 1)",
    trail=tuple(float(step * step // 9 + 3 * step) for step in range(32)),
    began=NOW - 0.6 * 3600,
    known="Known as tf#38561 (all versions): Python values are compared by value, and each new value is a trace.",
)
CACHE = Finding(
    kind="model_rebuild",
    site=LOAD,
    since=0.8 * 3600,
    grown=14,
    rate=38.0,
    per="hour",
    bytes=96 << 20,
    verdict=LEAK,
    cause="models are loaded again and again and kept",
    cure="Drop a model from `_seen` when another takes its place.",
    confidence=0.9,
    holder="models._seen (dict, 14 items) → ['/models/v14'] → Sequential",
    stack=(LOAD,),
    trail=tuple(float(step // 3) for step in range(32)),
    began=NOW - 0.3 * 3600,
)


def account(resident):
    parts = {"python": 0.25, "python_kept": 0.01, "variables": 0.12, "malloc": 0.33, "malloc_kept": 0.05, "files": 0.24}
    known = {name: int(share * resident) for name, share in parts.items()}
    return Account(
        NOW, resident, known, int(0.5 * resident), int(0.05 * resident), int(0.04 * resident), {}, {}, "glibc", ()
    )


def history(seconds, start, end, alive=None):
    """Memory that goes from `start` to `end`, with a daily swing and some noise: what is kept of all looks."""
    each = max(5.0, seconds / 20_000)
    kept = Timeline()
    for number in range(int(seconds / each)):
        kept.add(number)
    return tuple(moment(number * each, seconds, start, end, alive or {}) for number in kept.values)


def moment(at, seconds, start, end, alive):
    swing = 0.012 * math.sin(at / DAY * 2 * math.pi) + 0.004 * math.sin(at * 1.7) * math.sin(at * 0.13)
    resident = int(start + (end - start) * at / seconds + start * swing)
    own = resident - 0.24 * start
    count = {kind: int(first + (last - first) * at / seconds) for kind, (first, last) in alive.items()}
    return Moment(at, resident, int(0.72 * own), count, int(0.1 * own), int(1.1e6), int(0.12 * start))


COUNTS = {
    "variable": (240, 240),
    "function": (6, 6),
    "function_graph": (24, 841),
    "model": (1, 14),
    "graph": (3, 3),
    "session": (1, 2),
    "iterator": (2, 2),
}
ABOUT = {
    "program": Program(4711, "recommender-7d9c", "serve.py", NOW - 3600),
    "level": "sites",
    "level_since": NOW - 3600,
    "versions": {"tensorflow": "2.21.0", "keras": "3.12.0", "python": "3.11.9", "tfmemwatch": "0.1.0"},
    "off": {"sessions": "TensorFlow 2 without sessions", "writers": "no summary writers"},
    "functions": 841,
    "own": OwnCost(0.41, 380_000, 720, NOW, 0, {}),
    "limits": (
        Limit("container limit", 2 << 30, int(1.1 * (1 << 30)), True),
        Limit("machine", 62 << 30, 9 << 30, False),
    ),
}
TABLES = {
    "made": (
        Made("function_graph", HANDLE, 835, 0, 0),
        Made("model", LOAD, 14, 1, 96 << 20),
        Made("variable", LOAD, 560, 320, 38_000_000),
        Made("iterator", TRAIN, 40, 38, 0),
    ),
    "traces": (
        Traced("score", HANDLE, True, 834, 41.2, 412 << 20),
        Traced("embed", LOAD, True, 6, 0.9, 2_000_000),
        Traced("score", HANDLE, False, 1, 0.06, 600_000),
        Traced("train_step", TRAIN, False, 2, 1.4, 9_000_000),
    ),
    "retrace_causes": (
        RetraceCause("score", "boost", "a new Python float", HANDLE, 834),
        RetraceCause("embed", "ids", "a new batch size", LOAD, 6),
    ),
    "builds": (Built("score", HANDLE, 49, 1, 1.4, 19_800_000),),
    "baked_in": (BakedIn("score", HANDLE, "`self.scale` was 1.0 when it was traced, and has changed since", 0),),
    "sessions": (OpenSessions(LOAD, 2, 4210.0),),
    "models": (LivingModel("Sequential recommender", 50, 38_000_000, 6, 148_000),),
    "left_of_models": (
        LeftOfModel(
            "Sequential recommender_12",
            LOAD,
            50,
            48,
            1_200_000,
            "models._seen (dict, 14 items) → ['/models/v12'] → Sequential",
        ),
    ),
    "calls": (
        Calls("recommender", "__call__", 118_000, 4000, 4_680_000, 0.3),
        Calls("recommender", "predict", 12, 0, 0),
    ),
}


def leak():
    """Two leaks, and memory that will end the process."""
    moments = history(3600, 560e6, 1.19e9, COUNTS)
    return Report(
        title="as of 14:00:00",
        seconds=NOW,
        findings=(RETRACE, CACHE),
        memory=Memory(1_190_000_000, 640_000_000, 60_000_000, 1_100_000, 140_000_000),
        account=account(1_190_000_000),
        headline=Headline("LEAK", "LEAK at serve.py:42 handle() (retrace, 412 MiB kept), and 1 more", RETRACE.cause),
        history=moments,
        rise="the process has grown by 638 MiB an hour since 13:24 (19 Nov)",
        verdict=Verdict("leak", "memory in use rises, by 210 MiB in the last third of the time"),
        outlook=Outlook("container limit", 2 << 30, 11400.0, 9600.0, 14400.0, 177_000.0, "container"),
        sources=(Excerpt(HANDLE.file, 42, 35, SERVE), Excerpt(LOAD.file, 17, 15, KEEP, True)),
        **ABOUT,
        **TABLES,
    )


def clean(days=0.05):
    """Nothing grows."""
    counts = {kind: (first, first) for kind, (first, _) in COUNTS.items()}
    seconds = days * DAY
    why = "memory use is level, give or take 5.6 MiB"
    about = dict(ABOUT, program=ABOUT["program"]._replace(began=NOW - seconds), level_since=NOW - seconds)
    return Report(
        title="as of 14:00:00",
        seconds=NOW,
        findings=(),
        headline=Headline("CLEAN", "CLEAN (watched for 1 h 12 min, 864 looks)", why),
        memory=Memory(562_000_000, 250_000_000, 21_000_000, 1_100_000, 140_000_000),
        account=account(562_000_000),
        history=history(seconds, 560e6, 562e6, counts),
        verdict=Verdict("steady", why),
        made=TABLES["made"][3:],
        traces=TABLES["traces"][2:],
        models=TABLES["models"],
        calls=TABLES["calls"][:1],
        **about,
    )


def month():
    """Thirty days, with a slow leak, and all that TensorFlow can make."""
    counts = {row.kind: (10, 10 + 40 * number) for number, row in enumerate(ROWS)}
    finding = RETRACE._replace(since=9 * DAY, began=NOW - 21 * DAY, outlook="")
    about = dict(ABOUT, program=ABOUT["program"]._replace(began=NOW - 30 * DAY), level_since=NOW - 30 * DAY)
    shown = dataclasses.replace(leak(), **about)
    return dataclasses.replace(
        shown, history=history(30 * DAY, 520e6, 1.19e9, dict(COUNTS, **counts)), findings=(finding,), outlook=None
    )


def growing():
    """Something grows, and it is too early to tell."""
    finding = CACHE._replace(verdict=FILLING, trail=CACHE.trail[:14], grown=6, bytes=41_000_000)
    why = "%s: %s; may be a %s" % (finding.site.short, finding.cause, finding.verdict)
    return dataclasses.replace(
        leak(),
        findings=(finding,),
        outlook=None,
        headline=Headline("GROWING", "GROWING, too early to tell", why),
        rise="",
        history=history(900, 560e6, 610e6, COUNTS),
        sources=leak().sources[1:],
        memory=Memory(610_000_000, 250_000_000, 21_000_000, 1_100_000, 140_000_000),
        account=account(610_000_000),
    )


def rises():
    """Memory rises, and no line is known."""
    why = "memory in use rises, by 40 MiB in the last third of the time; the process has grown by 120 MiB an hour"
    told = Headline("MEMORY RISES", "MEMORY RISES, no line known", why)
    return dataclasses.replace(leak(), findings=(), headline=told, sources=(), traces=(), retrace_causes=())


def not_watched():
    """The level is off."""
    told = Headline("NOT WATCHED", "NOT WATCHED, because level is off since 13:40")
    return dataclasses.replace(clean(), headline=told, level="off", verdict=None, level_since=NOW - 1200)


def empty():
    """It has only begun."""
    told = Headline("NOT WATCHED", "NOT WATCHED, because it has only begun (4 s, 1 of about 112 looks)")
    about = dict(ABOUT, program=ABOUT["program"]._replace(began=NOW - 4))
    return Report(
        title="as of 14:00:00",
        seconds=NOW,
        findings=(),
        memory=Memory(402_000_000, None, None, 900_000),
        headline=told,
        **about,
    )


def block():
    """A block of 200 steps."""
    moments = tuple(one._replace(at=number) for number, one in enumerate(history(600, 560e6, 700e6, COUNTS)[:120], 1))
    finding = RETRACE._replace(per="step", since=12, rate=1.0, grown=107, began=0.0, outlook="")
    return dataclasses.replace(
        leak(),
        title="epoch: 120 steps, 4.1 s",
        history=moments,
        history_in="steps",
        is_of_block=True,
        outlook=None,
        findings=(finding,),
        memory_before=Memory(560_000_000, 200_000_000, 1, 1, 1),
        account_before=account(560_000_000),
    )


NASTY = "</script><script>alert(1)</script>\"'&<!-- \u202e evil \u2067 شخص " + "x" * 10_000


def nasty():
    """Names that would be something else in HTML, turn the text around them, or never end."""
    site = Site("/srv/" + NASTY + ".py", 7, NASTY)
    finding = RETRACE._replace(
        site=site,
        cause=NASTY,
        why=NASTY,
        cure=NASTY,
        short=NASTY,
        suggestion=NASTY,
        holder=NASTY,
        known=NASTY,
        examples=(NASTY,),
        stack=(site, site),
        more=NASTY,
        outlook=NASTY,
        counted=NASTY,
        kind="retrace",
    )
    return dataclasses.replace(
        leak(),
        title=NASTY,
        findings=(finding,),
        headline=Headline("LEAK", "LEAK at " + NASTY, NASTY),
        made=(Made("model", site, 3, 1, 7),),
        traces=(Traced(NASTY, site, True, 9, 1.0, 1),),
        retrace_causes=(RetraceCause(NASTY, NASTY, NASTY, site, 9),),
        models=(LivingModel(NASTY, 1, 1, 1, 1),),
        left_of_models=(LeftOfModel(NASTY, site, 1, 1, 1, NASTY),),
        calls=(Calls(NASTY, NASTY, 7, 1, 1),),
        baked_in=(BakedIn(NASTY, site, NASTY),),
        sources=(Excerpt(site.file, 7, 6, (NASTY, NASTY)),),
        rise=NASTY,
        program=Program(1, NASTY, NASTY, 1.0, NASTY),
        off={NASTY: NASTY},
        versions={"tensorflow": NASTY},
        level_why=NASTY,
    )


STATES = {one.__name__: one for one in (leak, clean, month, growing, rises, not_watched, empty, block, nasty)}
