"""What a growth means and what to do about it: a table."""

from __future__ import annotations

from typing import Dict, NamedTuple


class Advice(NamedTuple):
    """One cause and one cure, a plain sentence each; `%s` stands for the name that was found."""

    kind: str
    cause: str
    cure: str


TABLE: Dict[str, Advice] = {
    "retrace": Advice(
        "retrace",
        "the tf.function %s is traced anew again and again, and every trace is kept",
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
        "compile() runs in a loop: each one drops the train function, so the next fit() traces it anew and the old "
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
        "a tf.custom_gradient is traced anew each time; TensorFlow registers its gradient for ever, and each entry "
        "pins the graph of its whole trace",
        "Trace once: make the tf.function around it outside the loop.",
    ),
    "variable": Advice(
        "variable",
        "a new tf.Variable is made here again and again and none goes away",
        "Make it once, before the loop, and assign() to it; or drop the reference that keeps it.",
    ),
    "kept_optimizer": Advice(
        "variable",
        "an optimizer is made anew here again and again, and all are kept with their variables",
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
        "a new tf.Graph is made here again and again and all are kept",
        "Build one graph and reuse it, or drop what keeps the old ones.",
    ),
    "session": Advice(
        "session_unclosed",
        "sessions are opened here and neither closed nor dropped; each keeps its executors and variables",
        "Use `with tf.Session(...) as session:` or call session.close(); one session serves many threads.",
    ),
    "model": Advice(
        "model_rebuild",
        "a model is built or loaded anew here again and again, and TensorFlow keeps something of each one",
        "Build or load it once and reuse it; where it must be anew, tf.keras.backend.clear_session() after each.",
    ),
    "iterator": Advice(
        "dataset_iterator",
        "dataset iterators are made here and kept; each holds its buffers and threads",
        "Share one iterator, or drop it when it is done.",
    ),
    "dataset_graph": Advice(
        "function_library",
        "datasets with Python functions are built here again and again and kept (%s)",
        "Build the dataset once and iterate over it again.",
    ),
    "cache_dataset": Advice(
        "dataset_iterator",
        "Dataset.cache() keeps every element that ever passed in memory, and new ones keep coming",
        "Cache before repeat() and random steps, cache to a file, or leave cache() out.",
    ),
    "hoarding_dataset": Advice(
        "dataset_iterator",
        "Dataset.%s() remembers elements of a dataset that never ends, and new ones keep coming",
        "Bound what it remembers, or apply it to a dataset that ends.",
    ),
    "tape": Advice(
        "tape",
        "gradient tapes are made again and again and kept; each holds what every operation under it took and gave",
        "Open a tape for each step in a `with` block, take the gradient, and drop it.",
    ),
    "open_tape": Advice(
        "tape",
        "a GradientTape that was opened here never ends, and holds all that every operation under it takes and gives",
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
        "Python functions are registered with TensorFlow here (py_function, from_generator) and never let go",
        "Build the dataset or the function around them once, outside the loop.",
    ),
    "pyfunc_token": Advice(
        "cache",
        "py_function is called eagerly: each call is a new token, and a new kernel in the eager cache",
        "Call the Python function itself, or call py_function inside one tf.function.",
    ),
    "optimizer": Advice(
        "cache",
        "an optimizer is made anew here again and again; its variables have new names, and each new name leaves a "
        "kernel in TensorFlow's eager cache",
        "Make the optimizer once, outside the loop.",
    ),
    "name": Advice(
        "cache",
        "variables with ever new names are made here; they are freed, but each new name leaves a kernel in "
        "TensorFlow's eager cache",
        "Make the object once and reuse it, or give it a fixed name; where it can't be avoided, "
        "tf.keras.backend.clear_session() now and then.",
    ),
    "seed": Advice(
        "cache",
        "a random op runs eagerly after tf.random.set_seed(): each call has a seed of its own, and leaves a kernel "
        "in TensorFlow's eager cache",
        "Use tf.random.Generator or tf.random.stateless_*, or call it inside a tf.function.",
    ),
    "queue": Advice(
        "cache",
        "a queue is made anew here again and again; each unique name leaves a kernel in TensorFlow's eager cache",
        "Make one queue for the process, or use queue.Queue.",
    ),
    "table": Advice(
        "cache",
        "a lookup table (or StringLookup layer) is made anew here again and again, and TensorFlow frees none",
        "Make the table once and reuse it.",
    ),
    "fetch": Advice(
        "cache",
        "the session is asked for an ever new list of fetches; each distinct list leaves a set of executors in it",
        "Fetch the same list each time and pick from the result, or make one callable with session.make_callable().",
    ),
    "kernel": Advice(
        "cache",
        "the operation %s runs eagerly with ever new attributes, and each leaves a kernel in TensorFlow's eager cache",
        "Pass what varies as a tensor, not as a Python attribute, or call it inside a tf.function.",
    ),
    "executable": Advice(
        "cache",
        "%s is compiled anew for each new shape, and XLA keeps every executable",
        "Pad to a few bucket sizes, or leave jit_compile out where shapes vary.",
    ),
    "scalar": Advice(
        "cache",
        "ever new Python numbers are made into tensors, and TensorFlow keeps a copy of each (%s)",
        "Make it a NumPy scalar first, tf.constant(np.float32(x)), or pass a tensor; TensorFlow keeps neither.",
    ),
    "live_tensors": Advice(
        "live_tensors",
        "tensors are put into %s and never taken out",
        "Keep what is needed of each (float(x), x.numpy().copy()) or bound the collection.",
    ),
    "growing_tensor": Advice(
        "live_tensors",
        "the tensor that %s makes here is larger each time: what was before is carried along",
        "Keep a window of it, or write into a tensor of fixed size.",
    ),
    "tensor_cache": Advice(
        "live_tensors",
        "%s has no maxsize and keeps a tensor for every new argument",
        "Give it a maxsize, or key it by something bounded.",
    ),
    "growing_value": Advice(
        "python_objects",
        "%s is larger each time: what was in it before is carried along, and more is added",
        "Keep a window of it, write it out now and then, or fill an array of fixed size.",
    ),
    "python_objects": Advice(
        "python_objects",
        "%s grows and nothing is ever taken out of it",
        "Bound the collection, write it out now and then, or keep a summary.",
    ),
    "native_heap": Advice(
        "native_heap",
        "memory in use outside Python rises steadily and no object that can be counted explains it (most of it in %s)",
        "Look at what this line makes anew each time; level='stacks' shows who called it.",
    ),
    "backlog": Advice(
        "native_heap",
        "more is put into something that TensorFlow keeps (a queue, a table) than is ever taken out of it (%s)",
        "Take out as much as is put in, or give it a small capacity, so that whoever fills it waits.",
    ),
    "asked": Advice(
        "cache",
        "TensorFlow's %s grows: emptied twice, it gave back more the second time",
        "Pass what varies from call to call as a tensor, not as a Python number or attribute; make layers, variables and "
        "queues once; tfmemwatch.remedies() empties the cache meanwhile.",
    ),
    "call_residue": Advice(
        "native_heap",
        "%s in native memory, and no Python object, tensor, collection or cache of TensorFlow's that can be seen grows with it",
        "Look at what this call hands to native code that never frees it: a custom operation, a ctypes or cffi call, a "
        "library's handle that is not closed. `heaptrack` or jemalloc's profiler shows the C stack; until it is mended, "
        "end workers after some calls.",
    ),
    "slow_rise": Advice(
        "native_heap",
        "memory in use rises slowly and steadily, and nothing that can be counted or seen to grow explains it (most of "
        "what was left behind in the last inquiry by %s)",
        "Compare two report()s some time apart: the owner of memory that grew says where to look.",
    ),
    "fragmentation": Advice(
        "fragmentation",
        "the allocator keeps ever more memory that nobody uses, while what is in use stands still: blocks of many "
        "sizes and threads leave gaps that it can't give back",
        "No object leaks: set MALLOC_ARENA_MAX=2, preload jemalloc or tcmalloc, or call malloc_trim(0) now and then.",
    ),
    "python_heap": Advice(
        "python_objects",
        "the number of Python objects rises steadily, and no collection that can be seen holds them",
        "tracemalloc or objgraph will name them.",
    ),
}  # fmt: skip


def advice(name: str, what: str = "") -> Advice:
    """The row of the table, with the name that was found put in."""
    row = TABLE[name]
    return row._replace(cause=row.cause % what) if "%s" in row.cause else row
