// Collectives as one of SimGrid's selectors makes them, in simulated time: `selector SECONDS COLLECTIVE BYTES ...`. Every rank prints a
// line for each of them: its number, and how long after the common start the rank is through. One that takes more real seconds than that
// ends the program.
//
// They do what the actions of a trace do: in a replay, SMPI moves no data. Three things of SimGrid 3.32 keep them from being a trace.
// Actions of reductions have no operation, and MPICH's and MVAPICH2's selectors look at it; the communicators of hosts are made in the
// first call, by messages that would count, and that fail in a replay. So they are made beforehand.
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <smpi/smpi.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

// Simulated seconds between two collectives: far longer than any takes.
static const double TURN = 1e4;

static void nothing(void*, void*, int*, MPI_Datatype*) {}

int main(int argc, char** argv) {
    if (argc < 4 || argc % 2 == 1) return 2;
    MPI_Init(&argc, &argv);
    int rank;
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Op sum;
    MPI_Op_create(nothing, 1, &sum);
    char nowhere[8] = {0};
    void* from = nowhere;
    void* to = nowhere + 4;
    MPI_Bcast(from, 1, MPI_BYTE, 0, world);
    MPI_Allreduce(from, to, 1, MPI_BYTE, sum, world);
    MPI_Reduce(from, to, 1, MPI_BYTE, sum, 0, world);
    smpi_replay_init("selector", rank, 0);
    for (int at = 2; at < argc; at += 2) {
        const std::string collective = argv[at];
        const int bytes = std::atoi(argv[at + 1]);
        // All at the same moment, as ours: out of a barrier some ranks come before others, and a root that did would have a start.
        const double start = at / 2 * TURN;
        simgrid::s4u::this_actor::sleep_until(start);
        // All ranks are one process.
        if (rank == 0) alarm(std::atoi(argv[1]));
        int outcome;
        if (collective == "broadcast") outcome = MPI_Bcast(from, bytes, MPI_BYTE, 0, world);
        else if (collective == "scatter") outcome = MPI_Scatter(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, world);
        else if (collective == "gather") outcome = MPI_Gather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, world);
        else if (collective == "all-gather") outcome = MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, world);
        else if (collective == "all-to-all") outcome = MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, world);
        else if (collective == "reduce") outcome = MPI_Reduce(from, to, bytes, MPI_BYTE, sum, 0, world);
        else if (collective == "reduce-scatter") outcome = MPI_Reduce_scatter_block(from, to, bytes, MPI_BYTE, sum, world);
        else if (collective == "all-reduce") outcome = MPI_Allreduce(from, to, bytes, MPI_BYTE, sum, world);
        else if (collective == "barrier") outcome = MPI_Barrier(world);
        else return 2;
        if (outcome != MPI_SUCCESS) continue;
        std::printf("clock %d %.9e\n", at / 2 - 1, simgrid::s4u::Engine::get_clock() - start);
        std::fflush(stdout);
    }
    return 0;
}
