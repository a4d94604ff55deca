// Loads a library in Fortran for itself alone, as Python loads its modules: MPI's functions of Fortran are then not the whole program's.
//
// usage: plugin LIBRARY
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*check)(MPI_Fint *);
    void *library;
    int bad;
    MPI_Fint comm;

    MPI_Init(&argc, &argv);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    *(void **) &check = dlsym(library, "check");
    comm = MPI_Comm_c2f(MPI_COMM_WORLD);
    bad = check(&comm);
    printf(bad == 0 ? "all is well\n" : "%d are wrong\n", bad);
    MPI_Finalize();
    return bad != 0;
}
