/* What requests of collectives are good for: several open at once, finished in other orders and together with those of messages;
 * waits of all kinds for something else, while other ranks wait for a collective; what they use freed before they are over; persistent
 * ones, again and again. Each rank says "all is well", or what is wrong.
 *
 * usage: requests WHAT      one of the names in main */

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4 || defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#define PREPARE(name, ...) MPI_##name(__VA_ARGS__)
#else
#define PREPARE(name, ...) MPIX_##name(__VA_ARGS__)
#endif

static int rank, size, wrong;
static MPI_Comm comm;

static void check(int right, const char *what) {
    if (!right) {
        printf("rank %d: wrong: %s\n", rank, what);
        fflush(stdout);
        wrong = 1;
    }
}

/* The same numbers on all ranks. */
static unsigned random_of(unsigned below) {
    static unsigned long long state = 88172645463325252ull;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 11) % below;
}

/* A call under way, and what should come of it. */
struct call {
    long *send, *receive, *expected;
    int received;
};

static void make(struct call *call, int sent, int received) {
    call->send = malloc((sent + 1) * sizeof(long));
    call->receive = malloc((received + 1) * sizeof(long));
    call->expected = malloc((received + 1) * sizeof(long));
    call->received = received;
    for (int i = 0; i < sent; i++) call->send[i] = 1000 * rank + i;
    for (int i = 0; i <= received; i++) call->receive[i] = call->expected[i] = -1 - i;
}

static void check_and_free(struct call *call, const char *what) {
    check(!memcmp(call->receive, call->expected, (call->received + 1) * sizeof(long)), what);
    free(call->send), free(call->receive), free(call->expected);
}

/* Starts a random collective call. */
static void start(struct call *call, MPI_Request *request) {
    int count = (int)random_of(random_of(4) ? 40 : 5000), root = (int)random_of(size), sum = size * (size - 1) / 2;
    switch (random_of(7)) {
    case 0:
        make(call, 0, 0);
        MPI_Ibarrier(comm, request);
        break;
    case 1:
        make(call, 0, count);
        for (int i = 0; i < count; i++) call->expected[i] = 1000 * root + i;
        if (rank == root) memcpy(call->receive, call->expected, count * sizeof(long));
        MPI_Ibcast(call->receive, count, MPI_LONG, root, comm, request);
        break;
    case 2:
        make(call, count, count);
        for (int i = 0; i < count; i++) call->expected[i] = 1000 * sum + size * i;
        MPI_Iallreduce(call->send, call->receive, count, MPI_LONG, MPI_SUM, comm, request);
        break;
    case 3:
        make(call, count, count * size);
        for (int i = 0; i < count * size; i++) call->expected[i] = 1000 * (i / count) + i % count;
        MPI_Iallgather(call->send, count, MPI_LONG, call->receive, count, MPI_LONG, comm, request);
        break;
    case 4:
        make(call, count * size, count * size);
        for (int i = 0; i < count * size; i++) call->expected[i] = 1000 * (i / count) + rank * count + i % count;
        MPI_Ialltoall(call->send, count, MPI_LONG, call->receive, count, MPI_LONG, comm, request);
        break;
    case 5:
        make(call, count, count * size);
        if (rank == root)
            for (int i = 0; i < count * size; i++) call->expected[i] = 1000 * (i / count) + i % count;
        MPI_Igather(call->send, count, MPI_LONG, call->receive, count, MPI_LONG, root, comm, request);
        break;
    case 6:
        make(call, count, count);
        for (int i = 0; i < count; i++) call->expected[i] = 1000 * rank * (rank + 1) / 2 + (rank + 1) * i;
        MPI_Iscan(call->send, call->receive, count, MPI_LONG, MPI_SUM, comm, request);
        break;
    }
}

/* Collectives, sends and receives in one list, finished in an order that differs between ranks, while blocking calls go on. */
static void several(void) {
    enum { MOST = 8 };
    for (int round = 0; round < 60; round++) {
        struct call calls[MOST];
        MPI_Request requests[MOST + 3];
        MPI_Status statuses[MOST + 3];
        int n = 1 + (int)random_of(MOST), flag = 0, index, count, indices[MOST + 3], way = (int)random_of(8);
        long out = 100 * round + rank, in = -1, all = 0;
        for (int i = 0; i < n; i++) start(&calls[i], &requests[i]);
        requests[n] = MPI_REQUEST_NULL;
        MPI_Irecv(&in, 1, MPI_LONG, (rank + size - 1) % size, round, comm, &requests[n + 1]);
        MPI_Isend(&out, 1, MPI_LONG, (rank + 1) % size, round, comm, &requests[n + 2]);
        if (round % 3 == 0) {
            MPI_Allreduce(&out, &all, 1, MPI_LONG, MPI_SUM, comm);
            check(all == 100L * round * size + (long)size * (size - 1) / 2, "blocking call meanwhile");
        }
        switch ((way + rank) % 8) {
        case 0: MPI_Waitall(n + 3, requests, statuses); break;
        case 1: MPI_Waitall(n + 3, requests, MPI_STATUSES_IGNORE); break;
        case 2:
            for (int done = 0; done < n + 2; done++) {
                MPI_Waitany(n + 3, requests, &index, &statuses[0]);
                check(index >= 0 && index != n && requests[index] == MPI_REQUEST_NULL, "waitany");
                if (index == n + 1) check(statuses[0].MPI_SOURCE == (rank + size - 1) % size && statuses[0].MPI_TAG == round, "status of a message");
            }
            MPI_Waitany(n + 3, requests, &index, MPI_STATUS_IGNORE);
            check(index == MPI_UNDEFINED, "waitany of none");
            break;
        case 3:
            for (int done = 0; done < n + 2; done += count) {
                MPI_Waitsome(n + 3, requests, &count, indices, statuses);
                check(count > 0, "waitsome");
            }
            break;
        case 4:
            for (int done = 0; done < n + 2; done += count) MPI_Testsome(n + 3, requests, &count, indices, MPI_STATUSES_IGNORE);
            break;
        case 5:
            while (!flag) MPI_Testall(n + 3, requests, &flag, statuses);
            break;
        case 6:
            for (int i = n + 2; i >= 0; i--) MPI_Wait(&requests[i], &statuses[i]);
            break;
        case 7:
            for (int done = 0; done < n + 2; done += flag) {
                MPI_Testany(n + 3, requests, &index, &flag, MPI_STATUS_IGNORE);
                if (flag) check(index >= 0, "testany");
            }
            break;
        }
        for (int i = 0; i < n + 3; i++) check(requests[i] == MPI_REQUEST_NULL, "request that is over");
        check(in == 100 * round + (rank + size - 1) % size, "message");
        for (int i = 0; i < n; i++) check_and_free(&calls[i], "result");
    }
}

/* Rank 0 waits for a message in one of many ways; the others send it when a collective is over, of which rank 0 has a part. */
static void waits_for_something_else(void) {
    enum { WAYS = 14 };
    for (int way = 0; way < WAYS; way++) {
        MPI_Request request, other;
        MPI_Status status;
        MPI_Message message;
        MPI_Comm made;
        int flag = 0, token = way, got = -1, last = size - 1;
        long big[20000], sums[20000];
        for (int i = 0; i < 20000; i++) big[i] = rank + i;
        MPI_Iallreduce(big, sums, 20000, MPI_LONG, MPI_SUM, comm, &request);
        if (rank == 0) {
            switch (way) {
            case 0: MPI_Recv(&got, 1, MPI_INT, last, way, comm, MPI_STATUS_IGNORE); break;
            case 1: MPI_Probe(last, way, comm, &status), MPI_Recv(&got, 1, MPI_INT, last, way, comm, &status); break;
            case 2: MPI_Mprobe(last, way, comm, &message, &status), MPI_Mrecv(&got, 1, MPI_INT, &message, &status); break;
            case 3:
                while (!flag) MPI_Iprobe(last, way, comm, &flag, &status);
                MPI_Recv(&got, 1, MPI_INT, last, way, comm, &status);
                break;
            case 4: MPI_Ssend(&token, 1, MPI_INT, last, way, comm), got = token; break;
            case 5: MPI_Sendrecv(&token, 1, MPI_INT, last, way, &got, 1, MPI_INT, last, way, comm, &status); break;
            case 6: got = token, MPI_Sendrecv_replace(&got, 1, MPI_INT, last, way, last, way, comm, &status); break;
            case 7: MPI_Irecv(&got, 1, MPI_INT, last, way, comm, &other), MPI_Wait(&other, &status); break;
            case 8:
                MPI_Irecv(&got, 1, MPI_INT, last, way, comm, &other);
                while (!flag) MPI_Test(&other, &flag, &status);
                break;
            case 9: {
                long *much = calloc(200000, sizeof(long));
                MPI_Send(much, 200000, MPI_LONG, last, way, comm), got = token;
                free(much);
                break;
            }
            case 10: MPI_Comm_split(comm, 0, rank, &made), MPI_Comm_free(&made), got = token; break;
            case 11: MPI_Comm_dup(comm, &made), MPI_Comm_free(&made), got = token; break;
            case 12: MPI_Barrier(MPI_COMM_WORLD), got = token; break;
            case 13: {
                MPI_Win win;
                MPI_Win_create(&got, sizeof got, 1, MPI_INFO_NULL, comm, &win), MPI_Win_free(&win), got = token;
                break;
            }
            }
            check(got == token, "what rank 0 waited for");
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (way == 4 && rank == last) MPI_Recv(&got, 1, MPI_INT, 0, way, comm, &status);
            if ((way <= 3 || way == 7 || way == 8) && rank == last) MPI_Send(&token, 1, MPI_INT, 0, way, comm);
            if ((way == 5 || way == 6) && rank == last) MPI_Sendrecv(&token, 1, MPI_INT, 0, way, &got, 1, MPI_INT, 0, way, comm, &status);
            if (way == 9 && rank == last) {
                long *much = calloc(200000, sizeof(long));
                MPI_Recv(much, 200000, MPI_LONG, 0, way, comm, &status);
                free(much);
            }
            if (way == 10) MPI_Comm_split(comm, 0, rank, &made), MPI_Comm_free(&made);
            if (way == 11) MPI_Comm_dup(comm, &made), MPI_Comm_free(&made);
            if (way == 12) MPI_Barrier(MPI_COMM_WORLD);
            if (way == 13) {
                MPI_Win win;
                MPI_Win_create(&got, sizeof got, 1, MPI_INFO_NULL, comm, &win), MPI_Win_free(&win);
            }
        }
        for (int i = 0; i < 20000; i++) check(sums[i] == (long)size * i + (long)size * (size - 1) / 2, "sum");
    }
}

static MPI_Datatype seen_type;
static void add(void *in, void *inout, int *len, MPI_Datatype *type) {
    for (int i = 0; i < *len; i++) ((long *)inout)[2 * i] += ((long *)in)[2 * i];
    if (*type != seen_type) wrong = 1; /* the handle that the program has passed */
}

static int types_freed;
static int type_goes(MPI_Datatype type, int key, void *value, void *state) {
    (void)type, (void)key, (void)value, (void)state;
    types_freed++;
    return MPI_SUCCESS;
}

/* The datatype, the operation and the communicator are freed while the call is under way. */
static void freed(void) {
    int key;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_goes, &key, NULL);
    for (int round = 0; round < 20; round++) {
        MPI_Comm own;
        MPI_Datatype apart, vector;
        MPI_Op op;
        MPI_Request requests[3];
        long send[100], sums[100], all[8 * 100], moved[100];
        MPI_Comm_dup(comm, &own);
        MPI_Barrier(own);
        MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &apart);
        MPI_Type_commit(&apart);
        MPI_Type_set_attr(apart, key, NULL);
        MPI_Type_vector(10, 1, 2, MPI_LONG, &vector);
        MPI_Type_commit(&vector);
        MPI_Op_create(add, 1, &op);
        seen_type = apart;
        for (int i = 0; i < 100; i++) send[i] = rank + i, sums[i] = moved[i] = -i;
        memset(all, 0, sizeof all);
        if (rank == 0) memcpy(moved, send, sizeof send);
        int before = types_freed;
        /* Rank 0 comes last, so that nothing is over before. */
        if (rank == 0 && size > 1) MPI_Recv(NULL, 0, MPI_INT, 1, 7, comm, MPI_STATUS_IGNORE);
        MPI_Iallreduce(send, sums, 50, apart, op, own, &requests[0]);
        MPI_Ibcast(moved, 1, vector, 0, own, &requests[1]);
        MPI_Iallgather(send, 1, vector, all, 10, MPI_LONG, own, &requests[2]);
        MPI_Type_free(&apart), MPI_Type_free(&vector), MPI_Op_free(&op);
        check(apart == MPI_DATATYPE_NULL && vector == MPI_DATATYPE_NULL && op == MPI_OP_NULL, "handles that were freed");
        MPI_Comm_free(&own);
        if (rank == 1) MPI_Send(NULL, 0, MPI_INT, 0, 7, comm);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        check(types_freed == before + 1, "attribute of a type that was freed");
        for (int i = 0; i < 100; i++) check(sums[i] == (i % 2 ? -i : (long)size * i + (long)size * (size - 1) / 2), "sum of what was freed");
        for (int i = 0; i < 100; i++) check(moved[i] == (rank == 0 || (i < 20 && i % 2 == 0) ? i : -i), "broadcast of what was freed");
        for (int i = 0; i < 10 * size; i++) check(all[i] == i / 10 + i % 10 * 2, "all of what was freed");
    }
    MPI_Type_free_keyval(&key);
}

/* Persistent calls, several at once, started many times. */
static void again(void) {
    MPI_Request requests[5], null = MPI_REQUEST_NULL;
    MPI_Datatype apart;
    long mine[40], sums[40], all[8 * 40], out = 0, in = -1, data[30], blocks[8], got[8];
    int flag = 0;
    MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &apart);
    MPI_Type_commit(&apart);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    seen_type = apart;
    PREPARE(Allreduce_init, mine, sums, 20, apart, op, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Send_init(&out, 1, MPI_LONG, (rank + 1) % size, 3, comm, &requests[1]);
    PREPARE(Allgather_init, mine, 40, MPI_LONG, all, 40, MPI_LONG, comm, MPI_INFO_NULL, &requests[2]);
    MPI_Recv_init(&in, 1, MPI_LONG, (rank + size - 1) % size, 3, comm, &requests[3]);
    PREPARE(Bcast_init, data, 15, apart, size - 1, comm, MPI_INFO_NULL, &requests[4]);
    MPI_Type_free(&apart), MPI_Op_free(&op); /* they are used all the same */
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE); /* inactive */
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    check(flag, "test of an inactive one");
    for (int round = 0; round < 50; round++) {
        MPI_Request before[5];
        memcpy(before, requests, sizeof before);
        for (int i = 0; i < 40; i++) mine[i] = rank + i + round, sums[i] = -i;
        for (int i = 0; i < 30; i++) data[i] = rank == size - 1 ? i + round : -i;
        out = round;
        if (round % 2) MPI_Startall(5, requests);
        else
            for (int i = 0; i < 5; i++) MPI_Start(&requests[i]);
        if (round % 3 == 0) MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
        if (round % 3 == 1)
            for (int i = 4; i >= 0; i--) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        if (round % 3 == 2)
            for (flag = 0; !flag;) MPI_Testall(5, requests, &flag, MPI_STATUSES_IGNORE);
        check(!memcmp(before, requests, sizeof before), "persistent handles");
        for (int i = 0; i < 40; i++) check(sums[i] == (i % 2 ? -i : (long)size * (i + round) + (long)size * (size - 1) / 2), "sum again");
        for (int i = 0; i < 40 * size; i++) check(all[i] == i / 40 + i % 40 + round, "all again");
        for (int i = 0; i < 30; i++) check(data[i] == (i % 2 == 0 || rank == size - 1 ? i + round * (i % 2 == 0 || rank == size - 1) : -i), "broadcast again");
        check(in == round, "message again");
    }
    for (int i = 0; i < 5; i++) MPI_Request_free(&requests[i]), check(requests[i] == null, "request that was freed");
    /* Left to MPI_Finalize. */
    PREPARE(Alltoall_init, blocks, 1, MPI_LONG, got, 1, MPI_LONG, comm, MPI_INFO_NULL, &requests[0]);
    for (int i = 0; i < size; i++) blocks[i] = 10 * rank + i;
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++) check(got[i] == 10 * i + rank, "exchange");
}

#ifdef OPEN_MPI
/* Programs give up lists as soon as persistent calls are made of them. */
static void lists(void) {
    int *lists = malloc(3 * size * sizeof(int)), *ones = lists, *places = ones + size, *parts = places + size;
    MPI_Datatype *types = malloc(size * sizeof(MPI_Datatype));
    MPI_Request requests[5];
    long mine[3 * 8] = {0}, got[4][8], sum[8];
    for (int i = 0; i < size; i++) ones[i] = 1, places[i] = size - 1 - i, parts[i] = i % 3, types[i] = MPI_LONG;
    PREPARE(Reduce_scatter_init, mine, sum, parts, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    PREPARE(Alltoallv_init, mine, ones, places, MPI_LONG, got[0], ones, places, MPI_LONG, comm, MPI_INFO_NULL, &requests[1]);
    PREPARE(Allgatherv_init, mine, 1, MPI_LONG, got[1], ones, places, MPI_LONG, comm, MPI_INFO_NULL, &requests[2]);
    PREPARE(Gatherv_init, mine, 1, MPI_LONG, got[2], rank ? NULL : ones, rank ? NULL : places, MPI_LONG, 0, comm, MPI_INFO_NULL, &requests[3]);
    for (int i = 0; i < size; i++) places[i] = i * (int)sizeof(long);
    PREPARE(Alltoallw_init, mine, ones, places, types, got[3], ones, places, types, comm, MPI_INFO_NULL, &requests[4]);
    for (int i = 0; i < 3 * size; i++) lists[i] = 1 << 28;
    for (int i = 0; i < size; i++) types[i] = MPI_DATATYPE_NULL;
    free(lists), free(types);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3 * 8; i++) mine[i] = 100 * rank + i + round;
        MPI_Startall(5, requests), MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
        int first = 0;
        for (int i = 0; i < rank; i++) first += i % 3;
        for (int i = 0; i < rank % 3; i++) check(sum[i] == 50L * size * (size - 1) + size * (first + i + round), "sum with lists");
        for (int i = 0; i < size; i++) {
            int from = size - 1 - i;
            check(got[0][i] == 100 * from + size - 1 - rank + round, "exchange with lists");
            check(got[1][i] == 100 * from + round, "all with lists");
            if (rank == 0) check(got[2][i] == 100 * from + round, "gather with lists");
            check(got[3][i] == 100 * i + rank + round, "exchange with lists of types");
        }
    }
    for (int i = 0; i < 5; i++) MPI_Request_free(&requests[i]);
}
#endif

/* A persistent request among others that are none: nothing is started. */
static void started_with_none(void) {
    long one = 1, sum = -1;
    int class, codes[2];
    MPI_Request ours, list[2];
    PREPARE(Allreduce_init, &one, &sum, 1, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &ours);
    list[0] = ours, list[1] = MPI_REQUEST_NULL;
    codes[0] = MPI_Startall(2, list), codes[1] = PMPI_Startall(1, &list[1]);
    MPI_Error_class(codes[0], &codes[0]), MPI_Error_class(codes[1], &class);
    check(codes[0] == class && class != MPI_SUCCESS && list[0] == ours, "start of one that is none");
    check(MPI_Start(&ours) == MPI_SUCCESS, "start after a list that was refused");
    MPI_Wait(&ours, MPI_STATUS_IGNORE);
    check(sum == size, "sum after a list that was refused");
    MPI_Request_free(&ours);
}

/* What cannot be done with a request is refused, and the empty status is empty. */
static void refused(void) {
    MPI_Request request, copy;
    MPI_Status status;
    int class, flag = 1, count = -1;
    long one = 1, sum = 0;
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* Rank 0 begins when all others have looked. */
    for (int other = 1; rank == 0 && other < size; other++) MPI_Recv(NULL, 0, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm, &request);
    copy = request;
    MPI_Request_get_status(request, &flag, &status);
    if (rank > 0) {
        check(!flag, "a call that rank 0 has not begun");
        MPI_Error_class(MPI_Cancel(&request), &class);
        check(class == MPI_ERR_REQUEST && request == copy, "cancel");
        MPI_Error_class(MPI_Request_free(&request), &class);
        check(class == MPI_ERR_REQUEST && request == copy, "free");
        MPI_Error_class(MPI_Start(&request), &class);
        check(class == MPI_ERR_REQUEST && request == copy, "start");
        MPI_Send(NULL, 0, MPI_INT, 0, 1, comm);
    }
    /* No handle at all. */
    int codes[][2] = {{MPI_Start(NULL), PMPI_Start(NULL)}, {MPI_Cancel(NULL), PMPI_Cancel(NULL)}, {MPI_Request_free(NULL), PMPI_Request_free(NULL)},
        {MPI_Startall(2, NULL), PMPI_Startall(2, NULL)}, {MPI_Startall(-1, &copy), PMPI_Startall(-1, &copy)}};
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
        MPI_Error_class(codes[i][0], &codes[i][0]), MPI_Error_class(codes[i][1], &codes[i][1]);
        check(codes[i][0] == codes[i][1] && codes[i][0] != MPI_SUCCESS, "no handle");
    }
    started_with_none();
    memset(&status, 77, sizeof status);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_LONG, &count);
    MPI_Test_cancelled(&status, &flag);
    check(sum == size && count == 0 && !flag, "empty status");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
}

static int calls_of_handler;
static MPI_Request *to_free;
static void handle(MPI_Comm *which, int *code, ...) {
    (void)which, (void)code;
    calls_of_handler++;
    if (to_free && *to_free != MPI_REQUEST_NULL) MPI_Request_free(to_free);
}

static void check_error(int code, const char *text, const char *what) {
    char said[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_SUCCESS, len;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, said, &len);
    check(code != MPI_SUCCESS && class == MPI_ERR_OTHER && strstr(said, text), what);
}

/* Persistent calls are initialised in one order, and may be started in any. A call of one form has not to wait for one of another. */
static void order(void) {
    /* What is wrong on one rank alone the others do not wait for. */
    MPI_Comm own;
    long value = 1;
    MPI_Request one = MPI_REQUEST_NULL;
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    int code = PREPARE(Bcast_init, &value, rank == size - 1 ? -1 : 1, MPI_LONG, 0, own, MPI_INFO_NULL, &one);
    check((code == MPI_SUCCESS) == (rank != size - 1), "arguments that are wrong on one rank");
    if (code == MPI_SUCCESS) MPI_Request_free(&one);
    MPI_Comm_free(&own);

    enum { FEW = 5, MANY = 70 };
    MPI_Request requests[MANY], request;
    long mine[MANY], said[MANY];
    for (int round = 0; round < 8; round++) {
        int many = round < 6 ? 1 + round % FEW : MANY;
        for (int i = 0; i < many; i++) {
            if (i % 2) PREPARE(Bcast_init, &said[i], 1, MPI_LONG, i % size, comm, MPI_INFO_NULL, &requests[i]);
            else PREPARE(Allreduce_init, &mine[i], &said[i], 1, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]);
        }
        for (int turn = 0; turn < 3; turn++) {
            long other = -1;
            for (int i = 0; i < many; i++) mine[i] = 10 * turn + i, said[i] = i % 2 && rank == i % size ? 100 * round + i : -1;
            /* From a first one on, round and round, forwards or backwards. */
            for (int i = 0; i < many; i++) {
                if (i == (rank + turn) % many && rank % 2) MPI_Allreduce(&mine[0], &other, 1, MPI_LONG, MPI_MAX, comm);
                MPI_Start(&requests[((rank % 3 ? i : many - 1 - i) + rank) % many]);
            }
            if (rank % 2 == 0) MPI_Allreduce(&mine[0], &other, 1, MPI_LONG, MPI_MAX, comm);
            MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
            check(other == 10 * turn, "blocking call between starts");
            for (int i = 0; i < many; i++) check(said[i] == (i % 2 ? 100 * round + i : (long)size * (10 * turn + i)), "calls started in another order");
        }
        for (int i = 0; i < many; i++) MPI_Request_free(&requests[rank % 2 ? i : many - 1 - i]);
        /* mpi4py's tests do so. */
        long sum = 0;
        if (rank == round % size) MPI_Iallreduce(mine, &sum, 1, MPI_LONG, MPI_SUM, comm, &request);
        MPI_Barrier(comm);
        if (rank != round % size) MPI_Iallreduce(mine, &sum, 1, MPI_LONG, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(sum == (long)size * mine[0], "nonblocking call before or after a barrier");
    }
}

/* Ranks differ in a call: an error on all ranks, and of all later calls of its form, by the communicator's error handler. */
static void differ(void) {
    MPI_Errhandler handler;
    MPI_Request request, persistent;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_create_errhandler(handle, &handler);
    for (int form = 0; form < 2; form++) {
        MPI_Comm own;
        long mine[5] = {0}, sums[5];
        int count = rank == 1 ? 5 : 4, code;
        MPI_Comm_dup(comm, &own);
        MPI_Comm_set_errhandler(own, handler);
        MPI_Barrier(own);
        PREPARE(Allreduce_init, mine, sums, count, MPI_LONG, MPI_SUM, own, MPI_INFO_NULL, &persistent);
        calls_of_handler = 0;
        if (form == 0) {
            check(MPI_Iallreduce(mine, sums, count, MPI_LONG, MPI_SUM, own, &request) == MPI_SUCCESS, "start of calls that differ");
            to_free = rank % 2 ? &request : NULL;
            check_error(MPI_Wait(&request, MPI_STATUS_IGNORE), "iallreduce at differ (", "wait for calls that differ");
            check(request == MPI_REQUEST_NULL, "request that has failed");
            to_free = NULL;
        } else {
            check(MPI_Start(&persistent) == MPI_SUCCESS, "start of persistent calls that differ");
            code = MPI_Wait(&persistent, MPI_STATUS_IGNORE);
            check(code == MPI_ERR_TRUNCATE, "wait for persistent calls that differ");
        }
        check(calls_of_handler == 1, "error handler");
        if (form == 0) {
            check_error(MPI_Ibarrier(own, &request), "ibarrier at differ (", "call on a broken communicator");
            check(calls_of_handler == 2, "error handler again");
            MPI_Request_free(&persistent);
        } else {
            check(MPI_Ibarrier(own, &request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "call of another form");
        }
        check(MPI_Barrier(own) == MPI_SUCCESS, "blocking call");
        MPI_Comm_free(&own);
    }
    MPI_Errhandler_free(&handler);
}

/* More persistent calls than are served at a time: the others are MPI's. */
static void plenty(void) {
    enum { PLENTY = 260 };
    static long mine[PLENTY], sums[PLENTY];
    static MPI_Request requests[PLENTY];
    for (int i = 0; i < PLENTY; i++) PREPARE(Allreduce_init, &mine[i], &sums[i], 1, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]);
    for (int i = 0; i < PLENTY; i++) mine[i] = rank + i;
    MPI_Startall(PLENTY, requests), MPI_Waitall(PLENTY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PLENTY; i++) check(sums[i] == (long)size * i + size * (size - 1) / 2, "one of plenty"), MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv) {
    struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"several", several}, {"waits", waits_for_something_else}, {"freed", freed}, {"again", again}, {"order", order},
#ifdef OPEN_MPI
             {"lists", lists},
#endif
             {"refused", refused}, {"differ", differ}};
    int provided;
    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (argc < 2 || !strcmp(argv[1], all[i].name) || !strcmp(argv[1], "all")) all[i].run();
    if (argc > 1 && !strcmp(argv[1], "plenty")) plenty();
    /* Some are never freed. */
    static long left[2];
    static MPI_Request open[2];
    for (int i = 0; i < 2; i++) PREPARE(Bcast_init, &left[i], 1, MPI_LONG, 0, comm, MPI_INFO_NULL, &open[i]);
    MPI_Start(&open[1]);
    MPI_Wait(&open[1], MPI_STATUS_IGNORE);
    if (!wrong) printf("rank %d: all is well\n", rank);
    MPI_Finalize();
    return 0;
}
