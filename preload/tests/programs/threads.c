/* Several threads a rank, each with a communicator of its own: while one waits in a collective for other ranks, the others go on. The
 * even ranks let their threads begin in one order, the odd ones in the other, so that calls that held each other up would never end. Then a
 * datatype and an operation are freed while another thread waits in calls that use them.
 *
 * usage: threads [late]      with an argument, MPI is initialised by PMPI_, and the threads begin all at once */

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Every other one of some. */
static MPI_Datatype pairs;
static MPI_Op add;

static void adds(void *from, void *into, int *count, MPI_Datatype *datatype) {
    (void)datatype;
    for (int i = 0; i < *count; i++) ((long *)into)[i] += ((long *)from)[i];
}

/* The calls wait for rank 0, which comes late. */
static void *use(void *nothing) {
    long data[200], mine = rank, sum = 0;
    for (int i = 0; i < 200; i++) data[i] = rank ? -i : i;
    MPI_Datatype datatype = pairs;
    MPI_Op op = add;
    MPI_Bcast(data, 1, datatype, 0, comms[0]);
    for (int i = 0; i < 200; i++)
        if (data[i] != (rank && i % 2 ? -i : i)) wrong = 1;
    if (rank == 0) usleep(200000);
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, op, comms[0]);
    if (sum != (long)size * (size - 1) / 2) wrong = 1;
    return nothing;
}

static void free_what_is_used(void) {
    pthread_t user;
    MPI_Type_vector(100, 1, 2, MPI_LONG, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Op_create(adds, 0, &add);
    if (rank == 0) usleep(200000);
    pthread_create(&user, NULL, use, NULL);
    if (rank) {
        usleep(100000);
        MPI_Type_free(&pairs);
        /* What is made next may lie where they lay. */
        MPI_Datatype others[8];
        for (int i = 0; i < 8; i++) MPI_Type_vector(2, 1, 60, MPI_LONG, &others[i]), MPI_Type_commit(&others[i]);
        usleep(200000);
        MPI_Op_free(&add);
        for (int i = 0; i < 8; i++) MPI_Type_free(&others[i]);
    }
    pthread_join(user, NULL);
    if (rank == 0) MPI_Type_free(&pairs), MPI_Op_free(&add);
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
    if (!late) free_what_is_used();
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&comms[t]);
    printf(wrong ? "rank %d: wrong\n" : "rank %d: all is well\n", rank);
    MPI_Finalize();
    return 0;
}
