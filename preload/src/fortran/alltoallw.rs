//! `MPI_Alltoallw` and `MPI_Ialltoallw` of Fortran, which take a datatype for every rank.

use super::behind::behind;
use super::{answer, Buffer, Comm, Integers, Passed};
use crate::c::ints;
use crate::calls::{self, How, List, Native};
use crate::kind::Kind;
use crate::native::{self, ffi, SUCCESS};
use ffi::{MPI_Comm, MPI_Datatype};
use std::ffi::{c_int, c_void};

type Types = *const c_int;

/// What both pass.
#[derive(Clone, Copy)]
struct Given {
    from: Buffer,
    sent: Integers,
    sent_from: Integers,
    send_types: Types,
    into: Buffer,
    received: Integers,
    received_at: Integers,
    receive_types: Types,
    comm: Comm,
}

impl Given {
    /// Datatypes of what is sent and of what is received.
    unsafe fn types(&self) -> [Vec<MPI_Datatype>; 2] {
        let (from, into, comm) = (self.from.passed(), self.into.passed(), self.comm.passed());
        [(self.send_types, from), (self.receive_types, into)].map(|(list, at)| types(list, comm, at))
    }
}

/// Datatypes of all ranks; what is in place has none.
unsafe fn types(list: *const c_int, comm: MPI_Comm, at: *mut c_void) -> Vec<MPI_Datatype> {
    let mut size = 0;
    if at == native::in_place().cast_mut() || ffi::PMPI_Comm_size(comm, &mut size) != SUCCESS {
        return Vec::new();
    }
    let mut inter = 0;
    if ffi::PMPI_Comm_test_inter(comm, &mut inter) == SUCCESS && inter != 0 {
        ffi::PMPI_Comm_remote_size(comm, &mut size);
    }
    (0..size as usize).map(|rank| ffi::PMPI_Type_f2c(*list.add(rank))).collect()
}

unsafe fn alltoallw(given: Given) -> c_int {
    let Given { from, sent, sent_from, into, received, received_at, comm, .. } = given;
    let [sends, receives] = given.types();
    let (from, into, comm) = (from.passed(), into.passed(), comm.passed());
    let (sends, receives) = (sends.as_ptr(), receives.as_ptr());
    ints::MPI_Alltoallw(from, sent.0, sent_from.0, sends, into, received.0, received_at.0, receives, comm)
}

/// MPI looks at the datatypes until the call is over: of one that is left to it, its own function of Fortran, which has our function's name, has to
/// keep the list.
unsafe fn ialltoallw(given: Given, request: *mut c_int, name: &str, ours: *const c_void) -> c_int {
    type Function = unsafe extern "C" fn(
        Buffer,
        Integers,
        Integers,
        Types,
        Buffer,
        Integers,
        Integers,
        Types,
        Comm,
        *mut c_int,
        *mut c_int,
    );
    let Given { from, sent, sent_from, send_types, into, received, received_at, receive_types, comm } = given;
    let mut made = ffi::RSMPI_REQUEST_NULL;
    let place = &raw mut made;
    let native = || {
        let Some(native) = behind::<Function>(name, ours) else { return native::error_other() };
        let mut code = SUCCESS;
        native(from, sent, sent_from, send_types, into, received, received_at, receive_types, comm, request, &mut code);
        if code == SUCCESS {
            *place = ffi::PMPI_Request_f2c(*request);
        }
        code
    };
    let native = Native { kind: Kind::Alltoallw, how: How::Starts(place), call: &native };
    let [sends, receives] = given.types();
    let (from, into, comm) = (from.passed(), into.passed(), comm.passed());
    let (sends, receives) = (sends.as_ptr(), receives.as_ptr());
    let [sent, sent_from, received, received_at] =
        [sent, sent_from, received, received_at].map(|list| List::Ints(list.0));
    let code = calls::alltoallw(&native, from, sent, sent_from, sends, into, received, received_at, receives, comm);
    if code == SUCCESS {
        *request = ffi::PMPI_Request_c2f(made);
    }
    code
}

macro_rules! entries {
    ($serve:ident $more:tt: $($name:ident)*) => {$(entries!(@one $serve $more $name);)*};
    (@one $serve:ident ($($request:ident)?) $name:ident) => {
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As MPI says.
        #[no_mangle]
        #[allow(clippy::too_many_arguments)] // MPI's
        pub unsafe extern "C" fn $name(
            from: Buffer,
            sent: Integers,
            sent_from: Integers,
            send_types: Types,
            into: Buffer,
            received: Integers,
            received_at: Integers,
            receive_types: Types,
            comm: Comm,
            $($request: *mut c_int,)?
            error: *mut c_int,
        ) {
            let given =
                Given { from, sent, sent_from, send_types, into, received, received_at, receive_types, comm };
            answer(error, $serve(given $(, $request, concat!(stringify!($name), "\0"), $name as *const c_void)?));
        }
    };
}

entries!(alltoallw (): mpi_alltoallw_ mpi_alltoallw_f08_);
entries!(ialltoallw (request): mpi_ialltoallw_ mpi_ialltoallw_f08_);
