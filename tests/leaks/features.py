"""What a pair may need of the TensorFlow at hand. Each says in its docstring what is missing otherwise."""

import inspect

import tensorflow as tf

from tfmemwatch.seams import runtime


def missing(needs):
    """Why a pair does not hold here; empty where it does."""
    return "; ".join("needs " + need.__doc__ for need in needs if not need())


def keras_3():
    """Keras 3, which gives every variable a name of its own"""
    return hasattr(tf.keras, "KerasTensor")


def keras_2():
    """Keras 2, whose models can be built into a graph"""
    return not keras_3()


def named_kernels():
    """a TensorFlow that caches a kernel for every name of a variable (the attribute debug_name)"""
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get("VarHandleOp") if hasattr(op_def_registry, "get") else None
    return definition is not None and "debug_name" in [attribute.name for attribute in definition.attr]


def gradients_are_kept():
    """a TensorFlow whose gradient registry pins the graph"""
    return named_kernels()


def tensorflow_2():
    """TensorFlow 2"""
    return hasattr(tf.random, "set_seed")


def layers():
    """tf.layers, which Keras 3 took away"""
    return keras_2()


def reduce_retracing():
    """tf.function(reduce_retracing=)"""
    return "reduce_retracing" in inspect.signature(tf.function).parameters


def jit_compile():
    """tf.function(jit_compile=)"""
    return "jit_compile" in inspect.signature(tf.function).parameters


def dataset_functions_stay():
    """a TensorFlow that never frees what a dataset's functions were made into: 2.10 to 2.14, as measured"""
    return (2, 10) <= runtime.version() <= (2, 14)


def freed_dataset_functions():
    """a TensorFlow that frees the functions of a dataset (1.15 keeps them, eagerly, and 2.10 to 2.14 in part)"""
    return tensorflow_2() and not dataset_functions_stay()
