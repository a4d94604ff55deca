//! Calls of which it is known who makes them: see [`quick`](crate::quick).

/// `known!(bcast Kind::Bcast, PMPI_Bcast [] (...))`, with the parameters of that, returns what comes of the call if it is known. Of those that are
/// only started, `[request]`, only those are known that are MPI's; with `[last]` only the last one that was found so, in less time.
macro_rules! known {
    (barrier $kind:path, $native:ident $how:tt ($comm:ident)) => {
        known!(@made $kind, $comm, Key::NOTHING, std::ptr::null(), std::ptr::null(), $native $how ($comm))
    };
    (bcast $kind:path, $native:ident $how:tt ($buffer:ident $count:ident $datatype:ident $root:ident $comm:ident)) => {
        known!(@made $kind, $comm, Key::of($count.given(), $datatype, $root.given(), $buffer), std::ptr::null(), $buffer,
            $native $how ($buffer, $count, $datatype, $root, $comm))
    };
    (allreduce $kind:path, $native:ident $how:tt ($from:ident $into:ident $count:ident $datatype:ident $op:ident $comm:ident)) => {
        known!(@made $kind, $comm, Key::of_reduction($count.given(), $datatype, $op, 0, $from, $into), $from, $into,
            $native $how ($from, $into, $count, $datatype, $op, $comm))
    };
    (scan $($rest:tt)*) => {
        known!(allreduce $($rest)*)
    };
    (exscan $($rest:tt)*) => {
        known!(allreduce $($rest)*)
    };
    (reduce $kind:path, $native:ident $how:tt
        ($from:ident $into:ident $count:ident $datatype:ident $op:ident $root:ident $comm:ident)
    ) => {
        known!(@made $kind, $comm,
            Key::of_reduction($count.given(), $datatype, $op, $root.given(), $from, $into), $from, $into,
            $native $how ($from, $into, $count, $datatype, $op, $root, $comm))
    };
    (reduce_scatter_block $($rest:tt)*) => {
        known!(allreduce $($rest)*)
    };
    (alltoall $kind:path, $native:ident $how:tt
        ($from:ident $sent:ident $send_type:ident $into:ident $received:ident $receive_type:ident $comm:ident)
    ) => {
        known!(@made $kind, $comm,
            Key::of_blocks([$sent.given(), $received.given()], [$send_type, $receive_type], 0, $from, $into), $from, $into,
            $native $how ($from, $sent, $send_type, $into, $received, $receive_type, $comm))
    };
    (allgather $($rest:tt)*) => {
        known!(alltoall $($rest)*)
    };
    (scatter $kind:path, $native:ident $how:tt
        ($from:ident $sent:ident $send_type:ident $into:ident $received:ident $receive_type:ident $root:ident $comm:ident)
    ) => {
        known!(@made $kind, $comm,
            Key::of_blocks([$sent.given(), $received.given()], [$send_type, $receive_type], $root.given(), $from, $into),
            $from, $into, $native $how ($from, $sent, $send_type, $into, $received, $receive_type, $root, $comm))
    };
    (gather $($rest:tt)*) => {
        known!(scatter $($rest)*)
    };
    (alltoallv $kind:path, $native:ident []
        ($from:ident $sent:ident $sent_from:ident $send_type:ident
            $into:ident $received:ident $received_at:ident $receive_type:ident $comm:ident)
    ) => {
        let see = |entries: usize| {
            let sends = if calls::is_in_place($from) { 0 } else { entries };
            $sent.given().most(&$sent_from.given(), sends)?;
            $received.given().most(&$received_at.given(), entries).map(|_| 0)
        };
        known!(@listed $kind, $comm, Key::of_lists([$send_type, $receive_type], 0, $from, $into), see, $from, $into,
            $native ($from, $sent, $sent_from, $send_type, $into, $received, $received_at, $receive_type, $comm))
    };
    (gatherv $kind:path, $native:ident []
        ($from:ident $sent:ident $send_type:ident
            $into:ident $received:ident $places:ident $receive_type:ident $root:ident $comm:ident)
    ) => {
        let see = |entries: usize| {
            $received.given().most(&$places.given(), entries).filter(|_| calls::is_short($sent.given())).map(|_| 0)
        };
        known!(@listed $kind, $comm, Key::of_lists([$send_type, $receive_type], $root.given(), $from, $into), see, $from, $into,
            $native ($from, $sent, $send_type, $into, $received, $places, $receive_type, $root, $comm))
    };
    (allgatherv $kind:path, $native:ident []
        ($from:ident $sent:ident $send_type:ident $into:ident $received:ident $places:ident $receive_type:ident $comm:ident)
    ) => {
        let see = |entries: usize| {
            $received.given().most(&$places.given(), entries).filter(|_| calls::is_short($sent.given()))
        };
        known!(@listed $kind, $comm, Key::of_lists([$send_type, $receive_type], 0, $from, $into), see, $from, $into,
            $native ($from, $sent, $send_type, $into, $received, $places, $receive_type, $comm))
    };
    (reduce_scatter $kind:path, $native:ident []
        ($from:ident $into:ident $counts:ident $datatype:ident $op:ident $comm:ident)
    ) => {
        let counts = $counts.given();
        let see = |entries: usize| counts.seen(entries);
        known!(@listed $kind, $comm, Key::of_reduction(counts.first(), $datatype, $op, 0, $from, $into), see, $from, $into,
            $native ($from, $into, $counts, $datatype, $op, $comm))
    };
    (scatterv $kind:path, $native:ident []
        ($from:ident $sent:ident $places:ident $send_type:ident
            $into:ident $received:ident $receive_type:ident $root:ident $comm:ident)
    ) => {
        let see = |entries: usize| {
            $sent.given().most(&$places.given(), entries).filter(|_| calls::is_short($received.given())).map(|_| 0)
        };
        known!(@listed $kind, $comm, Key::of_lists([$send_type, $receive_type], $root.given(), $from, $into), see, $from, $into,
            $native ($from, $sent, $places, $send_type, $into, $received, $receive_type, $root, $comm))
    };
    (@listed $kind:path, $comm:ident, $key:expr, $see:ident, $send:expr, $receive:expr, $native:ident $arguments:tt) => {
        known!(@by quick::who_of_lists($kind, $comm, $key, $see), $kind, $comm, $send, $receive, $native $arguments)
    };
    (@made $kind:path, $comm:ident, $key:expr, $send:expr, $receive:expr, $native:ident [last] ($($argument:ident),*)) => {
        known!(@by quick::who_is_last($kind, [$(native::word($argument)),*]), $kind, $comm, $send, $receive,
            $native ($($argument),*))
    };
    (@made $kind:path, $comm:ident, $key:expr, $send:expr, $receive:expr,
        $native:ident [$request:ident] ($($argument:ident),*)
    ) => {
        if quick::is_native_if_started($kind, $comm, $key) {
            return ffi::$native($($argument,)* $request);
        }
    };
    (@made $kind:path, $comm:ident, $key:expr, $send:expr, $receive:expr, $native:ident [] ($($argument:ident),*)) => {
        known!(@by quick::who($kind, $comm, $key, [$(native::word($argument)),*]), $kind, $comm, $send, $receive,
            $native ($($argument),*))
    };
    (@by $who:expr, $kind:path, $comm:ident, $send:expr, $receive:expr, $native:ident $arguments:tt) => {
        match $who {
            Who::Native => return ffi::$native $arguments,
            Who::Ours(again) => return quick::again($kind, $comm, again, $send, $receive),
            Who::Unknown => (),
        }
    };
    ($other:ident $($rest:tt)*) => {};
}
