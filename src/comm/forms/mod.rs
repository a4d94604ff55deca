//! The forms of every collective with options: run, started (`start`), and made to be started again and again (`init`).
//!
//! Each collective says once what its arguments have to be; its forms differ in what becomes of them.

mod all_ranks;
mod ends;
mod in_place;
mod rooted;

use super::prepared::Prepared;
use crate::buffer::Element;
use crate::error::{Error, Result};
use crate::operation::Reduction;
use std::panic::Location;

type At = &'static Location<'static>;

/// Whether an operation serves elements of a type, and what it asks of the call.
pub(super) fn reduces<T: Element, O: Reduction<T>>(prepared: &mut Prepared, operation: &O) -> Result<()> {
    if !operation.defined() || align_of::<T>() > align_of::<u128>() {
        return Err(Error::Operation { operation: operation.name(), element: std::any::type_name::<T>() });
    }
    prepared.call.ordered = !operation.commutes();
    Ok(())
}

/// Whether this is the root, as it has to be for calls in place that only the root makes.
pub(super) fn only_root(prepared: &Prepared, call: &'static str) -> Result<()> {
    let (rank, root, size) = (prepared.cube.rank, prepared.call.root, prepared.call.size);
    match rank == root {
        _ if root >= size => Err(Error::Root { root, size }),
        true => Ok(()),
        false => Err(Error::Role { call, rank, root, instead: "run, start or init" }),
    }
}
