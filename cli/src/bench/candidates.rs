//! What native MPI can be made to do: Open MPI's algorithms, each with the segment sizes that it takes, and those of MPICH.

use super::sizes::show_bytes;
use hypercoll::collective::{Collective, MpiFunction};

/// Segment sizes that are tried, in bytes; 0 is whole messages.
const SEGMENTS: [usize; 7] = [0, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10];

/// The segment size that an algorithm is tried with before all others.
const USUAL_SEGMENT: usize = 32 << 10;

/// A native algorithm by number, instead of the one that MPI would choose.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Forced {
    /// The collective as Open MPI calls it.
    pub collective: &'static str,
    pub algorithm: i64,
    pub name: String,
    /// In bytes; 0: whole messages.
    pub segment: usize,
}

/// `native:binomial seg 8 KiB`, as tables and files call it.
impl std::fmt::Display for Forced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", super::jobs::NATIVE, self.name)?;
        match self.segment {
            0 => Ok(()),
            bytes => write!(f, " seg {}", show_bytes(bytes)),
        }
    }
}

/// What Open MPI calls a collective of which the algorithm can be forced.
pub fn open_mpi_name(collective: Collective) -> Option<&'static str> {
    Some(match collective.meaning().native? {
        MpiFunction::Bcast => "bcast",
        MpiFunction::Scatter => "scatter",
        MpiFunction::Gather => "gather",
        MpiFunction::Allgather => "allgather",
        MpiFunction::Alltoall => "alltoall",
        MpiFunction::Reduce => "reduce",
        MpiFunction::ReduceScatterBlock => "reduce_scatter_block",
        MpiFunction::Allreduce => "allreduce",
        MpiFunction::Scan => "scan",
        MpiFunction::Exscan => "exscan",
        MpiFunction::Barrier => "barrier",
        MpiFunction::NeighborAlltoallv | MpiFunction::PointToPoint => return None,
    })
}

/// Whether an algorithm of Open MPI cuts messages into segments. (The variable for their size is there for all of them.)
fn takes_segments(collective: &str, name: &str) -> bool {
    match collective {
        "bcast" => ["chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"].contains(&name),
        "reduce" => ["chain", "pipeline", "binary", "binomial", "in-order_binary"].contains(&name),
        "allreduce" => name == "segmented_ring",
        // The size of its first message.
        "gather" => name == "linear_sync",
        _ => false,
    }
}

/// Everything that can be tried for a vector or block of so many bytes, given the numbers and names of the algorithms: every
/// algorithm once, and then, where this MPI has any, their other segment sizes.
pub fn candidates(
    collective: &'static str,
    algorithms: &[(i64, String)],
    segments: bool,
    ranks: usize,
    bytes: usize,
) -> (Vec<Forced>, Vec<Forced>) {
    let (mut once, mut others) = (Vec::new(), Vec::new());
    for (algorithm, name) in algorithms {
        // 0 is MPI's own choice. An algorithm for two ranks fails, and ends the program, on any other number.
        if *algorithm == 0 || name == "two_proc" && ranks != 2 {
            continue;
        }
        let of_segment = |segment| Forced { collective, algorithm: *algorithm, name: name.clone(), segment };
        if segments && takes_segments(collective, name) {
            let fitting: Vec<usize> = SEGMENTS.into_iter().filter(|segment| *segment < bytes).collect();
            let usual = fitting.iter().rev().find(|segment| **segment <= USUAL_SEGMENT).copied().unwrap_or(0);
            for segment in fitting {
                let place = if segment == usual { &mut once } else { &mut others };
                place.push(of_segment(segment));
            }
        } else {
            once.push(of_segment(0));
        }
    }
    (once, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(collective: &'static str, names: &[&str], ranks: usize, bytes: usize) -> Vec<String> {
        let algorithms: Vec<(i64, String)> = (0..).zip(names.iter().map(|name| name.to_string())).collect();
        let (once, others) = candidates(collective, &algorithms, true, ranks, bytes);
        once.iter().chain(&others).map(Forced::to_string).collect()
    }

    #[test]
    fn every_algorithm_comes_first_once_then_the_other_segments() {
        let names = ["ignore", "basic_linear", "pipeline", "scatter_allgather"];
        assert_eq!(
            named("bcast", &names, 8, 64 << 10),
            [
                "native:basic_linear",
                "native:pipeline seg 32 KiB",
                "native:scatter_allgather",
                "native:pipeline",
                "native:pipeline seg 4 KiB",
                "native:pipeline seg 8 KiB",
                "native:pipeline seg 16 KiB",
            ]
        );
        assert_eq!(
            named("bcast", &names, 8, 4 << 10),
            names[1..].iter().map(|n| format!("native:{n}")).collect::<Vec<_>>()
        );
        assert_eq!(named("bcast", &names, 8, 4 << 20).len(), 2 + SEGMENTS.len());
    }

    #[test]
    fn without_segments_every_algorithm_is_tried_once() {
        let algorithms = [(0, "ignore".into()), (1, "binomial".into())];
        let (once, others) = candidates("bcast", &algorithms, false, 8, 1 << 20);
        assert_eq!((once.len(), once[0].segment, others.len()), (1, 0, 0));
    }

    #[test]
    fn algorithms_for_two_ranks_are_for_two_ranks() {
        let names = ["ignore", "linear", "two_proc"];
        assert_eq!(named("alltoall", &names, 8, 1 << 20), ["native:linear"]);
        assert_eq!(named("alltoall", &names, 2, 1 << 20), ["native:linear", "native:two_proc"]);
    }
}
