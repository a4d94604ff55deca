/* Several threads a rank, each with a communicator of its own: while one waits in a collective for other ranks, the others go on. The
 * even ranks let their threads begin in one order, the odd ones in the other, so that calls that held each other up would never end.
 *
 * usage: threads [late]      with an argument, MPI is initialised by PMPI_, and the threads begin all at once */

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3

static MPI_Comm comms[THREADS];
static int rank, size, wrong, late;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
static int begun;

static void *work(void *argument) {
    int thread = (int)(long)argument, place = rank % 2 ? THREADS - 1 - thread : thread;
    /* One after another they begin; the one before is in its first call then, more or less. */
    pthread_mutex_lock(&lock);
    while (begun != place && !late) pthread_cond_wait(&next, &lock);
    begun++;
    pthread_cond_broadcast(&next);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 30; i++) {
        long mine = rank + i + thread, sum = 0, data[100] = {0};
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comms[thread]);
        if (sum != (long)size * (size - 1) / 2 + (long)size * (i + thread)) wrong = 1;
        if (rank == i % size)
            for (int k = 0; k < 100; k++) data[k] = i + k;
        MPI_Bcast(data, 100, MPI_LONG, i % size, comms[thread]);
        if (data[99] != i + 99) wrong = 1;
        if (i % 10 == 0) {
            MPI_Comm other;
            MPI_Comm_dup(comms[thread], &other);
            MPI_Barrier(other);
            MPI_Comm_free(&other);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    late = argc > 1;
    (late ? PMPI_Init_thread : MPI_Init_thread)(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI serves no threads\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) (late ? PMPI_Comm_dup : MPI_Comm_dup)(MPI_COMM_WORLD, &comms[t]);
    for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, (void *)(long)t);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&comms[t]);
    printf(wrong ? "rank %d: wrong\n" : "rank %d: all is well\n", rank);
    MPI_Finalize();
    return 0;
}
