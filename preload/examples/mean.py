"""The mean of the numbers of all ranks, with mpi4py.

    mpirun -n 4 hypercoll preload python3 mean.py
"""
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD
mine, total = array("d", [2.0 * world.rank]), array("d", [0.0])
world.Allreduce(mine, total, MPI.SUM)
assert world.allreduce(world.rank) == sum(range(world.size))
everyone = world.bcast({"name": "everyone"} if world.rank == 0 else None)
if world.rank == 0:
    print(f"the mean is {total[0] / world.size:6.2f} for {everyone['name']}")
