//! What is native: MPI's own functions by their `PMPI_` names, and what only its header knows.

pub use ::mpi::ffi;
use ::mpi::ffi::{MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_Op};
use hypercoll::Error;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void, CStr};

// Handles are pointers in Open MPI, and integers in MPICH and its kin.
const _: () = assert!(
    (size_of::<MPI_Comm>() == size_of::<usize>()) == cfg!(open_mpi),
    "the bindings are of another MPI than mpicc: cargo clean --profile PROFILE -p mpi-sys"
);

/// A C string that lives as long as the program.
#[repr(C)]
#[derive(Clone, Copy)]
struct NamedType {
    name: *const c_char,
    handle: usize,
    group: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct NamedOperation {
    name: *const c_char,
    handle: usize,
    defined: u32,
    symmetric: u32,
    exact: u32,
}

extern "C" {
    fn hypercoll_types(types: *mut NamedType, room: usize) -> usize;
    fn hypercoll_operations(operations: *mut NamedOperation, room: usize) -> usize;
    fn hypercoll_of_a_precision(datatype: MPI_Datatype, name: *mut *const c_char, group: *mut u32) -> c_int;
    fn hypercoll_is_piece(datatype: MPI_Datatype, bytes: *mut ffi::MPI_Count, extent: *mut ffi::MPI_Aint) -> c_int;
    static hypercoll_in_place: *const c_void;
    #[cfg(open_mpi)]
    fn hypercoll_bottom() -> *const c_void;
    fn hypercoll_error_other() -> c_int;
    fn hypercoll_error_revoked() -> c_int;
    fn hypercoll_errors_are_fatal() -> MPI_Errhandler;
    fn hypercoll_null_operation() -> MPI_Op;
    fn hypercoll_built_for() -> *const c_char;
}

pub const SUCCESS: c_int = ffi::MPI_SUCCESS as c_int;

/// A predefined datatype: its name, and the group of types that it belongs to in the standard's table of operations, as a bit.
#[derive(Clone, Copy)]
pub struct Named {
    pub name: &'static str,
    pub group: u32,
}

/// A predefined operation: the groups of types that it is defined for, those for which either operand may be the left one, and those
/// for which the result does not depend on any order.
#[derive(Clone, Copy)]
pub struct Predefined {
    pub name: &'static str,
    pub defined: u32,
    pub symmetric: u32,
    pub exact: u32,
}

/// A handle as a number: MPI libraries have pointers, or integers.
pub fn word<H: Copy>(handle: H) -> usize {
    const { assert!(size_of::<H>() == 4 || size_of::<H>() == 8) };
    // SAFETY: of that size, and plain data.
    unsafe {
        match size_of::<H>() {
            4 => std::mem::transmute_copy::<H, i32>(&handle) as isize as usize,
            _ => std::mem::transmute_copy::<H, usize>(&handle),
        }
    }
}

/// # Safety
/// A string of C's that lives as long as the program.
unsafe fn text(name: *const c_char) -> &'static str {
    CStr::from_ptr(name).to_str().unwrap_or_default()
}

/// The predefined datatypes by their handles.
pub fn types() -> HashMap<usize, Named> {
    let unused = NamedType { name: std::ptr::null(), handle: 0, group: 0 };
    let mut types = [unused; 128];
    // SAFETY: room for so many, and strings that are constants there.
    let known = unsafe { hypercoll_types(types.as_mut_ptr(), types.len()) };
    let mut named = HashMap::new();
    for known in &types[..known] {
        // SAFETY: as above.
        let name = unsafe { text(known.name) };
        // Of several names of one type the first, which is the most usual one.
        named.entry(known.handle).or_insert(Named { name, group: known.group });
    }
    named
}

/// A datatype of Fortran that is predefined and has no name: it was asked for by its precision or its range
/// (`MPI_Type_create_f90_real` and the like).
pub fn of_a_precision(datatype: MPI_Datatype) -> Option<Named> {
    let (mut name, mut group) = (std::ptr::null(), 0);
    // SAFETY: valid out parameters; a constant is put there, if it is such a datatype.
    let is_one = unsafe { hypercoll_of_a_precision(datatype, &mut name, &mut group) } != 0;
    // SAFETY: a constant of C's.
    is_one.then(|| Named { name: unsafe { text(name) }, group })
}

/// Whether it is told by how a datatype was made that the data of an element lies in one piece, in the order in which it is sent.
pub fn is_piece(datatype: MPI_Datatype) -> bool {
    let (mut bytes, mut extent) = (0, 0);
    // SAFETY: a live datatype, valid out parameters.
    unsafe { hypercoll_is_piece(datatype, &mut bytes, &mut extent) != 0 }
}

/// The predefined operations by their handles, the most usual ones first.
pub fn operations() -> Vec<(usize, Predefined)> {
    let unused = NamedOperation { name: std::ptr::null(), handle: 0, defined: 0, symmetric: 0, exact: 0 };
    let mut operations = [unused; 32];
    // SAFETY: room for so many, and strings that are constants there.
    let known = unsafe { hypercoll_operations(operations.as_mut_ptr(), operations.len()) };
    let predefined = operations[..known].iter().map(|known| {
        // SAFETY: as above.
        let name = unsafe { text(known.name) };
        let NamedOperation { defined, symmetric, exact, .. } = *known;
        (known.handle, Predefined { name, defined, symmetric, exact })
    });
    predefined.collect()
}

/// `MPI_IN_PLACE`.
#[inline]
pub fn in_place() -> *const c_void {
    // SAFETY: a constant.
    unsafe { hypercoll_in_place }
}

/// `MPI_BOTTOM`.
#[cfg(open_mpi)]
pub fn bottom() -> *const c_void {
    // SAFETY: returns a constant.
    unsafe { hypercoll_bottom() }
}

/// `MPI_OP_NULL`.
pub fn null_operation() -> MPI_Op {
    // SAFETY: returns a constant.
    unsafe { hypercoll_null_operation() }
}

/// `MPI_ERR_OTHER`.
pub fn error_other() -> c_int {
    // SAFETY: returns a constant.
    unsafe { hypercoll_error_other() }
}

/// The class of errors on a communicator that has been revoked, if this one has, where MPI knows such.
pub fn error_revoked(comm: MPI_Comm) -> Option<c_int> {
    type Function = unsafe extern "C" fn(MPI_Comm, *mut c_int) -> c_int;
    if !cfg!(revoke) {
        return None;
    }
    let mut revoked = 0;
    // SAFETY: a name that ends; a function that has this type wherever there is one, a live communicator, and a valid out parameter.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"PMPIX_Comm_is_revoked".as_ptr());
        if found.is_null() || std::mem::transmute::<*mut c_void, Function>(found)(comm, &mut revoked) != SUCCESS {
            return None;
        }
        (revoked != 0).then(|| hypercoll_error_revoked())
    }
}

/// What the version string of the MPI has in it that this is built for.
pub fn built_for() -> &'static str {
    // SAFETY: returns a constant.
    unsafe { text(hypercoll_built_for()) }
}

/// Whether errors on a communicator end the job.
pub fn errors_are_fatal(comm: MPI_Comm) -> bool {
    // SAFETY: a live communicator; the handle that is got is given back.
    unsafe {
        let mut handler: MPI_Errhandler = ffi::RSMPI_ERRORS_RETURN;
        if ffi::PMPI_Comm_get_errhandler(comm, &mut handler) != SUCCESS {
            return true;
        }
        let fatal = word(handler) == word(hypercoll_errors_are_fatal());
        ffi::PMPI_Errhandler_free(&mut handler);
        fatal
    }
}

type Reduction = unsafe extern "C" fn(*const c_void, *mut c_void, c_int, ffi::MPI_Datatype, MPI_Op, MPI_Comm) -> c_int;

/// Whether this MPI, as it is set, refuses buffers that are sent and received into at once in a reduction: it is tried, on a communicator
/// of this rank alone that returns errors.
pub fn refuses_aliases(reduction: Reduction, alone: MPI_Comm) -> bool {
    let mut number: c_int = 0;
    let at = (&raw mut number).cast::<c_void>();
    // SAFETY: a live communicator, and memory for one number.
    unsafe { reduction(at, at, 1, ffi::RSMPI_INT32_T, ffi::RSMPI_SUM, alone) != SUCCESS }
}

/// The same of a reduction to a rank, of Open MPI, which refuses none of one element to all, and more of them by the error handler of all ranks.
pub fn refuses_reduced_aliases(alone: MPI_Comm) -> bool {
    if cfg!(not(open_mpi)) {
        return false;
    }
    let mut number: c_int = 0;
    let at = (&raw mut number).cast::<c_void>();
    // SAFETY: a live communicator, and memory for one number.
    unsafe { ffi::PMPI_Reduce(at, at, 1, ffi::RSMPI_INT32_T, ffi::RSMPI_SUM, 0, alone) != SUCCESS }
}

/// Whether this MPI takes an `MPI_Alltoallw` of no elements of a datatype that is none: it is tried, as above.
pub fn takes_any_type_of_nothing(alone: MPI_Comm) -> bool {
    let (sent, mut received) = ([0u8], [0u8]);
    let (from, into) = (sent.as_ptr().cast(), received.as_mut_ptr().cast());
    let zero: c_int = 0;
    // SAFETY: a live communicator of one rank, lists with an entry for it, and memory of which nothing is read or written.
    unsafe {
        let none = ffi::RSMPI_DATATYPE_NULL;
        ffi::PMPI_Alltoallw(from, &zero, &zero, &none, into, &zero, &zero, &none, alone) == SUCCESS
    }
}

pub fn is_null_type(datatype: MPI_Datatype) -> bool {
    is_null_word(word(datatype))
}

/// The same of what [`word`] makes of a datatype.
pub fn is_null_word(of_type: usize) -> bool {
    // SAFETY: a constant of the support library.
    of_type == word(unsafe { ffi::RSMPI_DATATYPE_NULL }) || of_type == 0
}

pub fn is_null_comm(comm: MPI_Comm) -> bool {
    // SAFETY: a constant of the support library.
    word(comm) == word(unsafe { ffi::RSMPI_COMM_NULL }) || word(comm) == 0
}

/// Whether all ranks of a communicator of one group are ranks of `MPI_COMM_WORLD`.
///
/// # Safety
/// A live communicator.
pub unsafe fn is_of_this_job(comm: MPI_Comm) -> bool {
    if word(comm) == word(ffi::RSMPI_COMM_WORLD) {
        return true;
    }
    let (mut group, mut world) = (ffi::RSMPI_GROUP_NULL, ffi::RSMPI_GROUP_NULL);
    if ffi::PMPI_Comm_group(comm, &mut group) != SUCCESS {
        return false;
    }
    let mut all = false;
    if ffi::PMPI_Comm_group(ffi::RSMPI_COMM_WORLD, &mut world) == SUCCESS {
        let mut size = 0;
        ffi::PMPI_Group_size(group, &mut size);
        let ranks: Vec<c_int> = (0..size).collect();
        let mut places = vec![ffi::RSMPI_UNDEFINED; ranks.len()];
        let code = ffi::PMPI_Group_translate_ranks(group, size, ranks.as_ptr(), world, places.as_mut_ptr());
        all = code == SUCCESS && !places.contains(&ffi::RSMPI_UNDEFINED);
        ffi::PMPI_Group_free(&mut world);
    }
    ffi::PMPI_Group_free(&mut group);
    all
}

/// Whether an operation that is not predefined commutes; `None` of what is no operation, which a communicator of this rank alone that returns
/// errors is asked first: the other question would be an error of that of all ranks.
pub fn commutes(op: MPI_Op, alone: MPI_Comm) -> Option<bool> {
    let (mut commutes, mut nothing): (c_int, c_int) = (0, 0);
    let at = (&raw mut nothing).cast::<c_void>();
    // SAFETY: a live communicator, of no elements of which nothing is read or written, and a valid out parameter.
    let known = unsafe {
        ffi::PMPI_Allreduce(in_place(), at, 0, ffi::RSMPI_INT32_T, op, alone) == SUCCESS
            && ffi::PMPI_Op_commutative(op, &mut commutes) == SUCCESS
    };
    known.then_some(commutes != 0)
}

/// Values of all ranks of a communicator combined, which meet in that call of the program's; `None` if MPI could not do it. Other threads
/// have their turns meanwhile, and calls under way are moved: a rank may come only when one is over that it has started on another communicator.
///
/// # Errors
/// Ranks that do not come for longer than the user is patient.
///
/// # Safety
/// A live communicator, and a datatype and an operation for such values.
pub unsafe fn agree<T, V: AsMut<[T]>>(
    call: &'static str,
    values: V,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> Result<Option<V>, Error> {
    let start = |values: &mut V, request: &mut ffi::MPI_Request| {
        let values = values.as_mut();
        let (at, count) = (values.as_mut_ptr().cast::<c_void>(), values.len() as c_int);
        ffi::PMPI_Iallreduce(in_place(), at, count, datatype, op, comm, request)
    };
    match hypercoll::raw::together(comm, call, values, start, &crate::requests::give_way) {
        Ok(values) => Ok(Some(values)),
        Err(error @ Error::Timeout { .. }) => Err(error),
        Err(_) => Ok(None),
    }
}
