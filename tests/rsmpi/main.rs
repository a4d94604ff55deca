//! The calls of rsmpi's collective examples, moved over: each program makes those of the example that it is named after, in the same shape.
//!
//! `moved` stands for the line that makes the communicator. What else is not as with rsmpi is an `unwrap`, or is said in a comment.
//! docs/moving-from-rsmpi.md has the table.
#![cfg(all(feature = "mpi", target_os = "linux"))]

mod equal;
mod immediate;
mod messages;
#[path = "../common/mpirun.rs"]
mod mpirun;
#[path = "../common/process.rs"]
mod process;
#[path = "../common/ranks.rs"]
mod ranks;
mod reductions;
mod split;
mod varcount;

use hypercoll::{Hypercube, MpiHypercube};
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use ranks::on_ranks;

/// With rsmpi: `universe.world()`.
fn moved() -> MpiHypercube {
    MpiHypercube::new(SimpleCommunicator::world()).unwrap()
}

/// All programs, one after another.
const PROGRAMS: &[(&str, fn())] = &[
    ("all_gather", equal::all_gather),
    ("all_gather_bool", equal::all_gather_bool),
    ("all_gather_varcount", varcount::all_gather),
    ("all_to_all", equal::all_to_all),
    ("barrier", messages::barrier),
    ("broadcast", equal::broadcast),
    ("complex_numbers", equal::complex_numbers),
    ("gather", equal::gather),
    ("gather_varcount", varcount::gather),
    ("immediate", messages::immediate),
    ("immediate_all_gather", immediate::all_gather),
    ("immediate_all_gather_varcount", varcount::immediate_all_gather),
    ("immediate_all_to_all", immediate::all_to_all),
    ("immediate_barrier", messages::immediate_barrier),
    ("immediate_broadcast", immediate::broadcast),
    ("immediate_gather", immediate::gather),
    ("immediate_gather_varcount", varcount::immediate_gather),
    ("immediate_multiple_barrier", immediate::multiple_barrier),
    ("immediate_multiple_requests", messages::multiple_requests),
    ("immediate_multiple_test", messages::multiple_test),
    ("immediate_reduce", reductions::immediate_reduce),
    ("immediate_scan", reductions::immediate_scan),
    ("immediate_scatter", immediate::scatter),
    ("immediate_scatter_varcount", varcount::immediate_scatter),
    ("reduce", reductions::reduce),
    ("scan", reductions::scan),
    ("scatter", equal::scatter),
    ("scatter_varcount", varcount::scatter),
    ("split", split::split),
    // Beyond the examples.
    ("column", equal::column),
    ("struct", equal::structs),
    ("waiting", messages::waiting),
    ("making", messages::making),
];

fn all(_: &SimpleCommunicator) {
    for (name, program) in PROGRAMS {
        eprintln!("{name}");
        program();
    }
}

/// What the first rank of all is asked for counts on parts of them, whose first rank has another environment.
#[test]
fn parts_of_the_ranks_go_by_the_environment_of_rank_0() {
    on_ranks("parts_of_the_ranks_go_by_the_environment_of_rank_0", 3, &[], |world| {
        let asked = if world.rank() == 0 { "all-reduce=ring" } else { "all-reduce=sbt" };
        std::env::set_var("HYPERCOLL_ALGORITHM", asked);
        let algorithm = |communicator: &SimpleCommunicator| {
            let cube = Hypercube::new(communicator).unwrap();
            cube.all_reduce_in_place(&mut [1u8; 6][..], hypercoll::SystemOperation::sum()).unwrap();
            cube.last().unwrap().algorithm
        };
        let turned = world.split_by_color_with_key(Color::with_value(0), -world.rank()).unwrap();
        assert_eq!(algorithm(&turned), "sbt", "nobody has been told yet");
        assert_eq!(algorithm(world), "ring");
        assert_eq!(algorithm(&turned), "ring");
    });
}

#[test]
fn programs_on_one_rank() {
    on_ranks("programs_on_one_rank", 1, &[], all);
}

#[test]
fn programs_on_three_ranks() {
    on_ranks("programs_on_three_ranks", 3, &[], all);
}

#[test]
fn programs_on_four_ranks() {
    on_ranks("programs_on_four_ranks", 4, &[], all);
}

#[test]
fn programs_without_shared_memory() {
    on_ranks("programs_without_shared_memory", 3, &[("HYPERCOLL_SHARED_MEMORY", "none")], all);
}

/// A program that nobody names is not run.
#[test]
fn every_program_is_on_the_page() {
    let page = include_str!("../../docs/moving-from-rsmpi.md");
    for (name, _) in &PROGRAMS[..29] {
        assert!(page.contains(&format!("| `{name}` |")), "{name} is missing in docs/moving-from-rsmpi.md");
    }
}
