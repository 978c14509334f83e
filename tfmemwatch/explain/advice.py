"""What a growth means and what to do about it: a table."""

from __future__ import annotations

from typing import Dict, NamedTuple, Tuple


class Advice(NamedTuple):
    """One cause and one cure, a plain sentence each; `%s` stands for the name that was found."""

    kind: str
    cause: str
    cure: str


TABLE: Dict[str, Advice] = {
    "retrace": Advice(
        "retrace",
        "the tf.function %s is traced again and again, and every trace is kept",
        "Pass tensors of a stable dtype instead of Python values or new objects, give it an input_signature with "
        "None where shapes vary, or reduce_retracing=True.",
    ),
    "budget": Advice(
        "retrace",
        "the tf.function %s has been traced more often than max_traces allows",
        "Pass tensors of a stable dtype instead of Python values or new objects, give it an input_signature with "
        "None where shapes vary, or raise max_traces.",
    ),
    "recompile": Advice(
        "retrace",
        "compile() runs in a loop: each call drops the train function, so the next fit() traces it again, and the old "
        "graph stays in the gradient registry",
        "Compile once; change the learning rate with optimizer.learning_rate.assign(...).",
    ),
    "function_library": Advice(
        "function_library",
        "objects with a tf.function of their own are made again and again and kept, each with its trace (%s)",
        "Keep the result and drop the object, or make the tf.function once, outside the loop, and pass it what varies.",
    ),
    "custom_gradient": Advice(
        "graph_growth",
        "a tf.custom_gradient is traced again each time; TensorFlow registers its gradient for ever, and each entry "
        "keeps the graph of the whole trace alive",
        "Trace once: make the tf.function around it outside the loop.",
    ),
    "variable": Advice(
        "variable",
        "a new tf.Variable is made here again and again, and none is freed",
        "Make it once, before the loop, and assign() to it; or drop the reference that keeps it.",
    ),
    "kept_optimizer": Advice(
        "variable",
        "a new optimizer is made here again and again, and all are kept with their variables",
        "Make one optimizer for the whole run, or drop the old ones.",
    ),
    "graph_variable": Advice(
        "variable",
        "a variable and its operations are added to a graph that a session already runs",
        "Make variables before the loop; tf.get_default_graph().finalize() shows who adds more.",
    ),
    "graph_op": Advice(
        "graph_growth",
        "operations are added to a graph that a session already runs, again and again (closing the session frees none)",
        "Build the graph once and feed a placeholder; tf.get_default_graph().finalize() shows who adds more.",
    ),
    "graph": Advice(
        "graph_growth",
        "a new tf.Graph is made here again and again, and all are kept",
        "Build one graph and reuse it, or drop what keeps the old ones.",
    ),
    "session": Advice(
        "session_unclosed",
        "sessions are opened here and neither closed nor dropped; each keeps its executors and variables",
        "Use `with tf.Session(...) as session:` or call session.close(); one session serves many threads.",
    ),
    "model": Advice(
        "model_rebuild",
        "a model is built or loaded here again and again, and TensorFlow keeps something of each one",
        "Build or load it once and reuse it; where a new one is needed, call tf.keras.backend.clear_session() after each.",
    ),
    "iterator": Advice(
        "dataset_iterator",
        "dataset iterators are made here and kept; each holds its buffers and threads",
        "Share one iterator, or drop each one when it is done.",
    ),
    "dataset_graph": Advice(
        "function_library",
        "datasets with Python functions are built here again and again and kept (%s)",
        "Build the dataset once and iterate over it again.",
    ),
    "cache_dataset": Advice(
        "dataset_iterator",
        "Dataset.cache() keeps every element in memory, and new elements keep coming",
        "Cache before repeat() and random steps, cache to a file, or leave cache() out.",
    ),
    "hoarding_dataset": Advice(
        "dataset_iterator",
        "Dataset.%s() remembers elements of a dataset that never ends, and new elements keep coming",
        "Bound what it remembers, or apply it to a dataset that ends.",
    ),
    "tape": Advice(
        "tape",
        "gradient tapes are made again and again and kept; each holds the inputs and outputs of every operation under it",
        "Open a tape for each step in a `with` block, take the gradient, and drop it.",
    ),
    "open_tape": Advice(
        "tape",
        "a GradientTape that was opened here never ends, and holds the inputs and outputs of every operation under it",
        "Open a new tape for each step (or every k steps) in a `with` block and take the gradient outside it.",
    ),
    "summed_under_tape": Advice(
        "tape",
        "a total is carried from step to step under a GradientTape that does not end, and the tape holds every step",
        "Take the gradient and open a new tape every k steps; or sum float(loss), outside the tape.",
    ),
    "writer": Advice(
        "python_objects",
        "summary writers are opened here and never closed; each keeps a thread and a file",
        "Close each writer, or use one for the whole run.",
    ),
    "pyfunc": Advice(
        "python_objects",
        "Python functions are registered with TensorFlow here (py_function, from_generator) and never released",
        "Build the dataset or the function around them once, outside the loop.",
    ),
    "pyfunc_token": Advice(
        "cache",
        "py_function is called eagerly: each call has a new token, and leaves a kernel in TensorFlow's eager cache",
        "Call the Python function itself, or call py_function inside one tf.function.",
    ),
    "optimizer": Advice(
        "cache",
        "a new optimizer is made here again and again; its variables have new names, and each new name leaves a "
        "kernel in TensorFlow's eager cache",
        "Make the optimizer once, outside the loop.",
    ),
    "name": Advice(
        "cache",
        "variables are made here under a new name each time; they are freed, but each new name leaves a kernel in "
        "TensorFlow's eager cache",
        "Make the object once and reuse it, or give it a fixed name; where new names can't be avoided, call "
        "tf.keras.backend.clear_session() now and then.",
    ),
    "seed": Advice(
        "cache",
        "a random op runs eagerly after tf.random.set_seed(): each call has a seed of its own and leaves a kernel "
        "in TensorFlow's eager cache",
        "Use tf.random.Generator or tf.random.stateless_*, or call it inside a tf.function.",
    ),
    "queue": Advice(
        "cache",
        "a new queue is made here again and again; each has a unique name, which leaves a kernel in TensorFlow's eager cache",
        "Make one queue for the process, or use queue.Queue.",
    ),
    "table": Advice(
        "cache",
        "a new lookup table (or StringLookup layer) is made here again and again, and TensorFlow frees none",
        "Make the table once and reuse it.",
    ),
    "fetch": Advice(
        "cache",
        "the session is run with a new list of fetches each time; each distinct list leaves a set of executors in the session",
        "Fetch the same list each time and pick from the result, or make one callable with session.make_callable().",
    ),
    "kernel": Advice(
        "cache",
        "the operation %s runs eagerly with new attributes each time; each new value leaves a kernel in TensorFlow's eager cache",
        "Pass what varies as a tensor, not as a Python attribute, or call it inside a tf.function.",
    ),
    "executable": Advice(
        "cache",
        "%s is compiled again for each new shape, and XLA keeps every executable",
        "Pad to a few bucket sizes, or leave jit_compile out where shapes vary.",
    ),
    "scalar": Advice(
        "cache",
        "new Python numbers are made into tensors again and again, and TensorFlow keeps a copy of each (%s)",
        "Make each a NumPy scalar first, tf.constant(np.float32(x)), or pass a tensor; TensorFlow keeps neither.",
    ),
    "live_tensors": Advice(
        "live_tensors",
        "tensors are put into %s and never taken out",
        "Keep what is needed of each (float(x), x.numpy().copy()) or bound the collection.",
    ),
    "growing_tensor": Advice(
        "live_tensors",
        "the tensor that %s makes here is larger each time: it carries all that was in it before",
        "Keep a window of the tensor, or write into a tensor of fixed size.",
    ),
    "growing_variable": Advice(
        "variable",
        "a variable is assigned a larger value here each time: it carries all that was in it before (%s now)",
        "Keep a window of it, or assign into a variable of fixed size.",
    ),
    "tensor_cache": Advice(
        "live_tensors",
        "%s has no maxsize and keeps a tensor for every new argument",
        "Give it a maxsize, or key it by something bounded.",
    ),
    "growing_value": Advice(
        "python_objects",
        "%s is larger each time: it carries all that was in it before, and more is added",
        "Keep a window of it, write it out now and then, or fill an array of fixed size.",
    ),
    "python_objects": Advice(
        "python_objects",
        "%s grows and nothing is ever taken out of it",
        "Bound the collection, write it out now and then, or keep a summary.",
    ),
    "native_heap": Advice(
        "native_heap",
        "memory in use outside Python rises steadily, and no object that can be counted explains it (most of it in %s)",
        "Look at what this line makes each time; level='stacks' shows who called it.",
    ),
    "backlog": Advice(
        "native_heap",
        "more is put into a queue or a table of TensorFlow's than is taken out of it (%s)",
        "Take out as much as is put in, or give the queue a small capacity, so that whoever fills it waits.",
    ),
    "asked": Advice(
        "cache",
        "TensorFlow's %s grows: it was emptied twice, and gave back more the second time",
        "Pass what varies from call to call as a tensor, not as a Python number or attribute; make layers, variables and "
        "queues once. Until then tfmemwatch.remedies() empties the cache.",
    ),
    "call_residue": Advice(
        "native_heap",
        "%s in native memory, and no Python object, tensor, collection or TensorFlow cache that can be seen grows with it",
        "Look at what this call hands to native code that never frees it: a custom operation, a ctypes or cffi call, a "
        "library's handle that is not closed. `heaptrack` or jemalloc's profiler shows the C stack. Until the leak is "
        "fixed, restart workers after a number of calls.",
    ),
    "slow_rise": Advice(
        "native_heap",
        "memory in use rises slowly and steadily, and nothing that can be counted or seen to grow explains it (%s left "
        "most of it behind in the last inquiry)",
        "Compare two report()s some time apart: the owner of memory that grew says where to look.",
    ),
    "fragmentation": Advice(
        "fragmentation",
        "the allocator keeps more and more memory that nobody uses, while memory in use stays level: blocks of many "
        "sizes and threads leave gaps that the allocator can't give back",
        "No object leaks. Set MALLOC_ARENA_MAX=2, preload jemalloc or tcmalloc, or call malloc_trim(0) now and then.",
    ),
    "python_heap": Advice(
        "python_objects",
        "the number of Python objects rises steadily, and no collection that can be seen holds them",
        "tracemalloc shows the lines that make them, and objgraph their types.",
    ),
}  # fmt: skip


# What is put into a collection, where a general cure would be none: by the kind of its items.
ITEMS: Dict[str, Tuple[str, str]] = {
    "tasks": (
        "tasks",
        "Take each out when it is done, task.add_done_callback(collection.discard); a task keeps its variables and its result.",
    ),
    "exceptions": (
        "exceptions",
        "Keep str(error) or traceback.format_exc(): an exception keeps its frames, and all the variables in them.",
    ),
    "records": (
        "log records",
        "Keep the text, handler.format(record), or bound the handler; a record keeps the arguments of its message.",
    ),
    "callbacks": (
        "callbacks",
        "Register each once, or take it out when its owner is done; a function keeps what it closes over, a bound method "
        "its object.",
    ),
    "threads": ("threads", "Take each out when it has ended; a thread keeps what it was given."),
}


def of_items(row: Advice, items: str, what: str, is_taken_from: bool) -> Advice:
    """The row, as it is for these items, and where some of them are taken out again."""
    if items in ITEMS:
        noun, cure = ITEMS[items]
        row = row._replace(cause="%s are put into %s and never taken out" % (noun, what), cure=cure)
    if is_taken_from:
        cure = "Take out as much as is put in, or give it a bound (maxlen, maxsize), so that whoever fills it waits or drops."
        row = row._replace(cause="more is put into %s than is taken out" % what, cure=cure)
    return row


def advice(name: str, what: str = "") -> Advice:
    """The row of the table, with the name that was found put in."""
    row = TABLE[name]
    return row._replace(cause=row.cause % what) if "%s" in row.cause else row
