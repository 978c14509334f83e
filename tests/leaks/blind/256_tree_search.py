"""A player with a Monte Carlo search tree: 140 simulations for a move, of which its subtree stays; three in a game.
INNOCENT a tree is dropped with its game (bound: 420 steps until full, then a saw of uneven teeth)
"""

from __future__ import annotations

import random
from typing import Dict

import tensorflow as tf


class Node:
    def __init__(self, state: tf.Tensor) -> None:
        self.state = state
        self.children: Dict[int, Node] = {}
        self.visits = 0
        self.value = 0.0


class Search:
    MOVES = 5

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dynamics = tf.random.normal([self.MOVES, 48, 48], stddev=0.15)
        self.root = Node(tf.random.normal([40, 48]))
        self.done = 0
        self.moves = 0

    def simulate(self) -> None:
        node, path = self.root, [self.root]
        while len(node.children) == self.MOVES:
            node = max(node.children.values(), key=lambda child: (child.value + 1) / (child.visits + 1))
            path.append(node)
        move = len(node.children)
        child = Node(tf.tanh(tf.matmul(node.state, self.dynamics[move])))
        node.children[move] = child
        value = float(tf.reduce_mean(child.state)) + self.random.random()
        for seen in [*path, child]:
            seen.visits += 1
            seen.value += value

    def step(self) -> None:
        self.simulate()
        self.done += 1
        if self.done == 140:
            self.done = 0
            self.moves += 1
            if self.moves % 3:
                self.root = max(self.root.children.values(), key=lambda child: child.visits)
            else:
                self.root = Node(tf.random.normal([40, 48]))


def setup() -> Search:
    return Search(13)


def step(state: Search, i: int) -> None:
    state.step()
