/* Included before a program of blocking collectives: makes each of them a nonblocking one (or, with PERSISTENT, a persistent one) and
 * waits for it, in one of many ways. */

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>

static inline void check(int right, const char *what) {
    if (right) return;
    fprintf(stderr, "%s: wrong\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Waits for a request. */
static inline int finish(int code, MPI_Request *request) {
    static int calls;
    MPI_Status status;
    MPI_Request requests[3] = {MPI_REQUEST_NULL, *request, MPI_REQUEST_NULL}, handle = *request;
    int flag = 0, index = -1, indices[3], count = 0;
    if (code != MPI_SUCCESS) return code;
    switch (calls++ % 9) {
    case 0: MPI_Wait(&requests[1], MPI_STATUS_IGNORE); break;
    case 1: MPI_Waitall(3, requests, MPI_STATUSES_IGNORE); break;
    case 2:
        MPI_Waitany(3, requests, &index, &status);
        check(index == 1, "index of waitany");
        break;
    case 3:
        MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
        check(count == 1 && indices[0] == 1, "index of waitsome");
        break;
    case 4:
        while (!flag) MPI_Test(&requests[1], &flag, &status);
        break;
    case 5:
        while (!flag) MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
        break;
    case 6:
        while (!flag) MPI_Testany(3, requests, &index, &flag, &status);
        check(index == 1, "index of testany");
        break;
    case 7:
        while (count == 0) MPI_Testsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
        check(count == 1 && indices[0] == 1, "index of testsome");
        break;
    case 8:
        while (!flag) MPI_Request_get_status(requests[1], &flag, &status);
        check(requests[1] == handle, "request after its status");
        MPI_Wait(&requests[1], &status);
        break;
    }
#ifdef PERSISTENT
    check(requests[1] == handle, "request of a persistent call");
    MPI_Wait(&requests[1], &status); /* inactive: at once */
    MPI_Request_free(&requests[1]);
#endif
    check(requests[1] == MPI_REQUEST_NULL, "request that is over");
    return MPI_SUCCESS;
}

static inline int begin(int code, MPI_Request *request) {
    return code == MPI_SUCCESS ? finish(MPI_Start(request), request) : code;
}

#ifndef PERSISTENT
#define STARTED(name, ...) ({ MPI_Request request_; finish(MPI_I##name(__VA_ARGS__, &request_), &request_); })
#elif MPI_VERSION >= 4 || defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#define STARTED(name, ...) ({ MPI_Request request_; begin(INIT(MPI_, name, __VA_ARGS__, MPI_INFO_NULL, &request_), &request_); })
#else
#define STARTED(name, ...) ({ MPI_Request request_; begin(INIT(MPIX_, name, __VA_ARGS__, MPI_INFO_NULL, &request_), &request_); })
#endif
#define INIT(prefix, name, ...) prefix##name##_init(__VA_ARGS__)

#ifndef PERSISTENT
#define MPI_Bcast(...) STARTED(bcast, __VA_ARGS__)
#define MPI_Gather(...) STARTED(gather, __VA_ARGS__)
#define MPI_Gatherv(...) STARTED(gatherv, __VA_ARGS__)
#define MPI_Scatter(...) STARTED(scatter, __VA_ARGS__)
#define MPI_Scatterv(...) STARTED(scatterv, __VA_ARGS__)
#define MPI_Allgather(...) STARTED(allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) STARTED(allgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) STARTED(alltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) STARTED(alltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) STARTED(alltoallw, __VA_ARGS__)
#define MPI_Reduce(...) STARTED(reduce, __VA_ARGS__)
#define MPI_Allreduce(...) STARTED(allreduce, __VA_ARGS__)
#define MPI_Scan(...) STARTED(scan, __VA_ARGS__)
#define MPI_Exscan(...) STARTED(exscan, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) STARTED(reduce_scatter_block, __VA_ARGS__)
#define MPI_Reduce_scatter(...) STARTED(reduce_scatter, __VA_ARGS__)
#else
#define MPI_Bcast(...) STARTED(Bcast, __VA_ARGS__)
#define MPI_Gather(...) STARTED(Gather, __VA_ARGS__)
#define MPI_Gatherv(...) STARTED(Gatherv, __VA_ARGS__)
#define MPI_Scatter(...) STARTED(Scatter, __VA_ARGS__)
#define MPI_Scatterv(...) STARTED(Scatterv, __VA_ARGS__)
#define MPI_Allgather(...) STARTED(Allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) STARTED(Allgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) STARTED(Alltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) STARTED(Alltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) STARTED(Alltoallw, __VA_ARGS__)
#define MPI_Reduce(...) STARTED(Reduce, __VA_ARGS__)
#define MPI_Allreduce(...) STARTED(Allreduce, __VA_ARGS__)
#define MPI_Scan(...) STARTED(Scan, __VA_ARGS__)
#define MPI_Exscan(...) STARTED(Exscan, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) STARTED(Reduce_scatter_block, __VA_ARGS__)
#define MPI_Reduce_scatter(...) STARTED(Reduce_scatter, __VA_ARGS__)
#endif
