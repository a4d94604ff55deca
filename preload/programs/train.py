"""Training on all ranks, each with data of its own, whose gradients are summed: train.py WIDTH STEPS"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
width, steps = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(1)
first = random.standard_normal((64, width), dtype=np.float32) / 8
second = random.standard_normal((width, width), dtype=np.float32) / np.float32(np.sqrt(width))
last = random.standard_normal((width, 1), dtype=np.float32) / np.float32(np.sqrt(width))
weights = [first, second, last]
for weight in weights:
    comm.Bcast(weight, root=0)
random = np.random.default_rng(100 + comm.rank)
for step in range(steps):
    inputs = random.standard_normal((32, 64), dtype=np.float32)
    wanted = np.sin(inputs.sum(axis=1, keepdims=True))
    one = np.tanh(inputs @ first)
    two = np.tanh(one @ second)
    error = two @ last - wanted
    back_two = (error @ last.T) * (1 - two * two)
    back_one = (back_two @ second.T) * (1 - one * one)
    gradients = [inputs.T @ back_one, one.T @ back_two, two.T @ error]
    for weight, gradient in zip(weights, gradients):
        total = np.empty_like(gradient)
        comm.Allreduce(gradient, total, op=MPI.SUM)
        weight -= 0.01 / 32 / comm.size * total
    loss = comm.allreduce(float((error * error).mean()))
    if comm.rank == 0 and step % 5 == 4:
        print(f"loss {loss / comm.size:.5f}")
