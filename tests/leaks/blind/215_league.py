"""A self-play trainer that puts a copy of the policy's variables into its league after every game.
LEAK variable|python_objects
"""

# One step keeps two variables (some 18 KB); the league has no end.
from __future__ import annotations

import random
from typing import List

import numpy as np
import tensorflow as tf


class Policy:
    def __init__(self, variables: List[tf.Variable]) -> None:
        self.variables = variables

    @classmethod
    def fresh(cls) -> Policy:
        return cls([tf.Variable(tf.random.normal([128, 32])), tf.Variable(tf.random.normal([32, 9]))])

    def frozen(self) -> Policy:
        return Policy([tf.Variable(v, trainable=False) for v in self.variables])  # leak, made here

    def move(self, board: tf.Tensor) -> int:
        hidden, out = self.variables
        return int(tf.argmax(tf.matmul(tf.nn.relu(tf.matmul(board, hidden)), out)[0]))


class League:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.players: List[Policy] = []

    def enter(self, player: Policy) -> None:
        self.players.append(player.frozen())  # leak

    def opponent(self) -> Policy:
        return self.random.choice(self.players)


class SelfPlay:
    def __init__(self) -> None:
        self.policy = Policy.fresh()
        self.league = League(4)
        self.wins = 0

    def game(self, i: int) -> None:
        self.league.enter(self.policy)
        board = tf.constant(np.random.default_rng(i).normal(size=(1, 128)), tf.float32)
        won = self.policy.move(board) > self.league.opponent().move(board)
        self.wins += won
        for variable in self.policy.variables:
            variable.assign_add(tf.random.normal(variable.shape, stddev=0.01))


def setup() -> SelfPlay:
    return SelfPlay()


def step(state: SelfPlay, i: int) -> None:
    state.game(i)
