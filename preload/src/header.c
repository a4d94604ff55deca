/* What only the header of MPI knows: constants that are macros, and the predefined handles by name. */

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef HYPERCOLL_PROBE
#if MPI_VERSION >= 4
hypercoll_has_mpi4
#endif
#ifdef OPEN_MPI
hypercoll_has_open_mpi
#endif
/* Open MPI 5 has more than the version of the standard that it names. */
#if MPI_VERSION >= 4 || defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
hypercoll_has_persistent
hypercoll_has_revoke
hypercoll_has_sessions
#endif
#else

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of Fortran's integers are passed to C as they are");

/* What operations a type has, by the table of the standard ("Predefined Reduction Operations"). */
enum { C_INTEGER = 1, FORTRAN_INTEGER = 2, FLOATING = 4, LOGICAL = 8, COMPLEX = 16, BYTE = 32, ADDRESS = 64, PAIR = 128, NONE = 0 };

struct named {
    const char *name;
    uintptr_t handle;
    uint32_t group;
};

/* Whether this MPI has it: Open MPI's handles of what its compilers do not have stand for no data, and are refused by its functions. */
static int has(MPI_Datatype type) {
    int size = 0;
    return type != MPI_DATATYPE_NULL && PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0;
}

/* Writes the predefined datatypes, at most so many; how many there are. MPI is up. */
size_t hypercoll_types(struct named *types, size_t room) {
    size_t n = 0;
#define TYPE(type, kind)                                                              \
    if (n < room && has(type)) {                                                      \
        types[n].name = #type;                                                        \
        types[n].handle = (uintptr_t)(type);                                          \
        types[n++].group = (kind);                                                    \
    }
    TYPE(MPI_DOUBLE, FLOATING)
    TYPE(MPI_INT, C_INTEGER)
    TYPE(MPI_BYTE, BYTE)
    TYPE(MPI_FLOAT, FLOATING)
    TYPE(MPI_LONG, C_INTEGER)
    TYPE(MPI_CHAR, NONE)
    TYPE(MPI_INT64_T, C_INTEGER)
    TYPE(MPI_UINT64_T, C_INTEGER)
    TYPE(MPI_INT32_T, C_INTEGER)
    TYPE(MPI_UINT32_T, C_INTEGER)
    TYPE(MPI_UNSIGNED, C_INTEGER)
    TYPE(MPI_UNSIGNED_LONG, C_INTEGER)
    TYPE(MPI_LONG_LONG, C_INTEGER)
    TYPE(MPI_UNSIGNED_LONG_LONG, C_INTEGER)
    TYPE(MPI_SHORT, C_INTEGER)
    TYPE(MPI_UNSIGNED_SHORT, C_INTEGER)
    TYPE(MPI_SIGNED_CHAR, C_INTEGER)
    TYPE(MPI_UNSIGNED_CHAR, C_INTEGER)
    TYPE(MPI_INT8_T, C_INTEGER)
    TYPE(MPI_INT16_T, C_INTEGER)
    TYPE(MPI_UINT8_T, C_INTEGER)
    TYPE(MPI_UINT16_T, C_INTEGER)
    TYPE(MPI_LONG_DOUBLE, FLOATING)
    TYPE(MPI_WCHAR, NONE)
    TYPE(MPI_PACKED, NONE)
    TYPE(MPI_C_BOOL, LOGICAL)
    TYPE(MPI_C_FLOAT_COMPLEX, COMPLEX)
    TYPE(MPI_C_DOUBLE_COMPLEX, COMPLEX)
    TYPE(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX)
    TYPE(MPI_AINT, ADDRESS)
    TYPE(MPI_OFFSET, ADDRESS)
    TYPE(MPI_COUNT, ADDRESS)
    TYPE(MPI_FLOAT_INT, PAIR)
    TYPE(MPI_DOUBLE_INT, PAIR)
    TYPE(MPI_LONG_INT, PAIR)
    TYPE(MPI_2INT, PAIR)
    TYPE(MPI_SHORT_INT, PAIR)
    TYPE(MPI_LONG_DOUBLE_INT, PAIR)
    TYPE(MPI_CXX_BOOL, LOGICAL)
    TYPE(MPI_CXX_FLOAT_COMPLEX, COMPLEX)
    TYPE(MPI_CXX_DOUBLE_COMPLEX, COMPLEX)
    TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX)
    TYPE(MPI_INTEGER, FORTRAN_INTEGER)
    TYPE(MPI_REAL, FLOATING)
    TYPE(MPI_DOUBLE_PRECISION, FLOATING)
    TYPE(MPI_COMPLEX, COMPLEX)
    TYPE(MPI_DOUBLE_COMPLEX, COMPLEX)
    TYPE(MPI_LOGICAL, LOGICAL)
#ifdef OPEN_MPI /* where its Fortran has them */
#ifdef MPI_LOGICAL1
    TYPE(MPI_LOGICAL1, LOGICAL)
#endif
#ifdef MPI_LOGICAL2
    TYPE(MPI_LOGICAL2, LOGICAL)
#endif
#ifdef MPI_LOGICAL4
    TYPE(MPI_LOGICAL4, LOGICAL)
#endif
#ifdef MPI_LOGICAL8
    TYPE(MPI_LOGICAL8, LOGICAL)
#endif
#endif
    TYPE(MPI_CHARACTER, NONE)
    TYPE(MPI_INTEGER1, FORTRAN_INTEGER)
    TYPE(MPI_INTEGER2, FORTRAN_INTEGER)
    TYPE(MPI_INTEGER4, FORTRAN_INTEGER)
    TYPE(MPI_INTEGER8, FORTRAN_INTEGER)
    TYPE(MPI_REAL4, FLOATING)
    TYPE(MPI_REAL8, FLOATING)
    TYPE(MPI_REAL16, FLOATING)
    TYPE(MPI_COMPLEX8, COMPLEX)
    TYPE(MPI_COMPLEX16, COMPLEX)
    TYPE(MPI_COMPLEX32, COMPLEX)
    TYPE(MPI_2REAL, PAIR)
    TYPE(MPI_2DOUBLE_PRECISION, PAIR)
    TYPE(MPI_2INTEGER, PAIR)
    return n;
}

/* How a datatype was made, and of how many integers and addresses, if these can be told. (What is made with large counts has none, and MPICH takes the
 * question for an error, of the program's.) */
static int envelope(MPI_Datatype type, int *integers, int *addresses) {
    int how;
#if MPI_VERSION >= 4
    MPI_Count ints, places, large, types;
    if (PMPI_Type_get_envelope_c(type, &ints, &places, &large, &types, &how) != MPI_SUCCESS || large > 0) return MPI_UNDEFINED;
    *integers = (int)ints, *addresses = (int)places;
    return how;
#else
    int types;
    return PMPI_Type_get_envelope(type, integers, addresses, &types, &how) == MPI_SUCCESS ? how : MPI_UNDEFINED;
#endif
}

/* The group of datatypes that were asked for by their precision, by how they were made; 0 if they were made in another way. */
static int precision(int combiner, const char **name, uint32_t *group) {
    switch (combiner) {
    case MPI_COMBINER_F90_REAL: *name = "MPI_Type_create_f90_real", *group = FLOATING; return 1;
    case MPI_COMBINER_F90_COMPLEX: *name = "MPI_Type_create_f90_complex", *group = COMPLEX; return 1;
    case MPI_COMBINER_F90_INTEGER: *name = "MPI_Type_create_f90_integer", *group = FORTRAN_INTEGER; return 1;
    default: return 0;
    }
}

/* The same of a datatype. */
int hypercoll_of_a_precision(MPI_Datatype type, const char **name, uint32_t *group) {
    int integers, addresses;
    return precision(envelope(type, &integers, &addresses), name, group);
}

/* How a datatype was made, if it is not a predefined one. */
static int combiner(MPI_Datatype type, int *integers, int *addresses) {
    const char *name;
    uint32_t group;
    int how = envelope(type, integers, addresses);
    return precision(how, &name, &group) ? MPI_COMBINER_NAMED : how;
}

/* So many elements, each a piece of bytes: whether they are one piece. */
static int repeated(MPI_Count count, MPI_Count *bytes, MPI_Aint *extent) {
    if (count == 1) return 1;
    if (count < 1 || *extent != *bytes || count > PTRDIFF_MAX / (*bytes + 1)) return 0;
    *bytes *= count, *extent = *bytes;
    return 1;
}

/* Whether it is told by how a datatype was made that the data of an element is one piece, in the order in which it is sent; its bytes, and those
 * from one element to the next. */
int hypercoll_is_piece(MPI_Datatype type, MPI_Count *bytes, MPI_Aint *extent) {
    static const int known[][3] = {{MPI_COMBINER_DUP, 0, 0}, {MPI_COMBINER_RESIZED, 0, 2}, {MPI_COMBINER_CONTIGUOUS, 1, 0}, {MPI_COMBINER_VECTOR, 3, 0}, {MPI_COMBINER_HVECTOR, 2, 1}};
    int integers, addresses, n[3], at = 0, how = combiner(type, &integers, &addresses);
    MPI_Aint places[2], first, span;
    MPI_Datatype inner;
    if (how == MPI_COMBINER_NAMED) {
        return PMPI_Type_size_x(type, bytes) == MPI_SUCCESS && PMPI_Type_get_true_extent(type, &first, &span) == MPI_SUCCESS
               && PMPI_Type_get_extent(type, &first, extent) == MPI_SUCCESS && *bytes == span;
    }
    while (at < 5 && (known[at][0] != how || known[at][1] != integers || known[at][2] != addresses)) at++;
    if (at == 5 || PMPI_Type_get_contents(type, integers, addresses, 1, n, places, &inner) != MPI_SUCCESS) return 0;
    int told = hypercoll_is_piece(inner, bytes, extent);
    if (combiner(inner, &integers, &addresses) != MPI_COMBINER_NAMED) PMPI_Type_free(&inner);
    if (!told) return 0;
    switch (how) {
    case MPI_COMBINER_RESIZED: *extent = places[1]; return 1;
    case MPI_COMBINER_CONTIGUOUS: return repeated(n[0], bytes, extent);
    case MPI_COMBINER_VECTOR: return (n[0] == 1 || n[2] == n[1]) && repeated((MPI_Count)n[0] * n[1], bytes, extent);
    case MPI_COMBINER_HVECTOR:
        told = n[0] == 1 || (n[1] > 0 && places[0] / n[1] == *bytes && places[0] % n[1] == 0);
        return told && repeated((MPI_Count)n[0] * n[1], bytes, extent);
    default: return 1;
    }
}

/* What is true of an operation: the groups of types that it is defined for, and of those the ones for which it gives the same
 * bits whichever operand is the left one. (The maximum of floating-point numbers does not, for the sake of NaN and of signed zeros.)
 * Exact are those for which the bits do not depend on the order of all operands, either. */
struct operation {
    const char *name;
    uintptr_t handle;
    uint32_t defined;
    uint32_t symmetric;
    uint32_t exact;
};

size_t hypercoll_operations(struct operation *operations, size_t room) {
    size_t n = 0;
    const uint32_t integers = C_INTEGER | FORTRAN_INTEGER | ADDRESS;
    const uint32_t without_rounding = integers | LOGICAL | BYTE;
#define OPERATION(operation, groups, same)                                            \
    if (n < room) {                                                                   \
        operations[n].name = #operation;                                              \
        operations[n].handle = (uintptr_t)(operation);                                \
        operations[n].defined = (groups);                                             \
        operations[n].symmetric = (same);                                             \
        operations[n++].exact = (same) & without_rounding;                            \
    }
    OPERATION(MPI_SUM, integers | FLOATING | COMPLEX, integers | FLOATING | COMPLEX)
    OPERATION(MPI_MAX, integers | FLOATING, integers)
    OPERATION(MPI_MIN, integers | FLOATING, integers)
    OPERATION(MPI_PROD, integers | FLOATING | COMPLEX, integers | FLOATING)
    OPERATION(MPI_LAND, C_INTEGER | LOGICAL, C_INTEGER | LOGICAL)
    OPERATION(MPI_LOR, C_INTEGER | LOGICAL, C_INTEGER | LOGICAL)
    OPERATION(MPI_LXOR, C_INTEGER | LOGICAL, C_INTEGER | LOGICAL)
    OPERATION(MPI_BAND, integers | BYTE, integers | BYTE)
    OPERATION(MPI_BOR, integers | BYTE, integers | BYTE)
    OPERATION(MPI_BXOR, integers | BYTE, integers | BYTE)
    OPERATION(MPI_MAXLOC, PAIR, 0)
    OPERATION(MPI_MINLOC, PAIR, 0)
    OPERATION(MPI_REPLACE, 0, 0)
    OPERATION(MPI_NO_OP, 0, 0)
    OPERATION(MPI_OP_NULL, 0, 0)
    return n;
}

/* Looked at in every call: not a function, nor found by way of a table of this library. */
__attribute__((visibility("hidden"))) const void *const hypercoll_in_place = MPI_IN_PLACE;
const void *hypercoll_bottom(void) { return MPI_BOTTOM; }
MPI_Op hypercoll_null_operation(void) { return MPI_OP_NULL; }

/* Errors that calls of ours may end with. */
int hypercoll_error_other(void) { return MPI_ERR_OTHER; }

int hypercoll_error_revoked(void) {
#if defined(MPI_ERR_REVOKED)
    return MPI_ERR_REVOKED;
#elif defined(MPIX_ERR_REVOKED)
    return MPIX_ERR_REVOKED;
#else
    return MPI_ERR_OTHER;
#endif
}

MPI_Errhandler hypercoll_errors_are_fatal(void) { return MPI_ERRORS_ARE_FATAL; }

/* How the version string of this MPI begins, or what it has somewhere. */
const char *hypercoll_built_for(void) {
#if defined(OPEN_MPI)
    return "Open MPI";
#elif defined(I_MPI_VERSION)
    return "Intel";
#elif defined(MPICH_NAME) || defined(MPICH)
    return "MPICH";
#else
    return "";
#endif
}

#endif
