/* hypercoll: what a program can ask of the collectives that run through libhypercoll_preload.so.
 *
 * A program needs none of this: see docs/unchanged-programs.md. One that includes it is linked with the library (pkg-config hypercoll; CMake:
 * find_package(hypercoll), hypercoll::hypercoll), before its MPI, and then needs no LD_PRELOAD.
 *
 * All functions return MPI_SUCCESS, or an error code after the communicator's error handler has been called. Except for
 * hypercoll_explain_last, all ranks of the communicator call them, with the same arguments and in the same order among their collective
 * calls; they do not wait for each other. */

#ifndef HYPERCOLL_H
#define HYPERCOLL_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes what the last collective call on the communicator did on this rank, and why: which algorithm or native MPI, rounds, bytes,
 * predicted time. At most `room` bytes, the zero that ends it included. (Before a program asks for the first time, calls that come again and
 * are known to be native MPI's leave no trace: the answer is then about the last call that left one. Ask once at the beginning to be told of all.) */
int hypercoll_explain_last(MPI_Comm comm, char *text, size_t room);

/* From now on, a collective runs by this algorithm on this communicator (NULL: the library chooses). `collective` is one of the names
 * that `hypercoll algorithms` lists; `packet` is the packet size in elements of the call (bytes, if nothing is reduced), 0 if the
 * library is to choose it, SIZE_MAX for whole messages. A call that the algorithm cannot serve is an error. */
int hypercoll_set_algorithm(MPI_Comm comm, const char *collective, const char *algorithm, size_t packet);

/* From now on, nothing is sent over these links, each a pair of ranks that are neighbours on the cube; `count` pairs, 0 ends it. */
int hypercoll_avoid_links(MPI_Comm comm, const int (*links)[2], int count);

/* Whether reductions on this communicator give the same bits in every run with as many ranks on as many hosts with as many cores: native
 * MPI is then never taken instead, nor does the choice depend on what was measured. HYPERCOLL_REPRODUCIBLE=1 is the same for all. */
int hypercoll_set_reproducible(MPI_Comm comm, int on);

#ifdef __cplusplus
}
#endif

#endif
