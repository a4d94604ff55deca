//! Under `mpirun`, on the MPI library that there is, or as on one that cannot count far: messages of few kilobytes are split.

#[path = "../../../tests/common/mpirun.rs"]
mod mpirun;
#[path = "../../../tests/common/process.rs"]
mod process;
#[path = "../../../tests/common/ranks.rs"]
mod ranks;

use super::control_variables::ControlVariables;
use super::MpiTransport;
use crate::executor::patience::Patience;
use crate::select::{Machine, Overrides};
use crate::Hypercube;
use ::mpi::topology::SimpleCommunicator;
use ranks::on_ranks;

const THROUGH_MPI: [(&str, &str); 1] = [("HYPERCOLL_SHARED_MEMORY", "off")];

/// A communicator whose messages are split as if MPI could count only so many bytes.
fn cube(world: &SimpleCommunicator) -> Hypercube {
    let (mut transport, _) =
        MpiTransport::duplicate(world, Ok(Patience::default()), &|_| String::new(), &|| ()).expect("a transport");
    transport.messages.largest = 16_383;
    Hypercube::over(Box::new(transport), Machine::network(), Ok(Overrides::default()), Patience::default())
}

#[test]
fn split_messages_are_put_together() {
    on_ranks("executor::mpi::tests::split_messages_are_put_together", 3, &THROUGH_MPI, |world| {
        let cube = cube(world);
        for count in [2047, 2048, 5000, 20_000] {
            // One range, which is not packed, and several, which are.
            let mut data = if cube.rank() == 2 { (0..count).map(|at| at as f64).collect() } else { vec![0.0; count] };
            cube.broadcast(2).algorithm("sbt").packet(count).run(&mut data).expect("a broadcast");
            assert!((0..count).all(|at| data[at] == at as f64), "{count} elements");
            let send: Vec<usize> = (0..3 * count).map(|at| 100_000 * cube.rank() + at).collect();
            let mut receive = vec![0; 3 * count];
            cube.all_to_all().algorithm("complete_exchange").run(&send, &mut receive).expect("an exchange");
            let expected = |at: usize| 100_000 * (at / count) + cube.rank() * count + at % count;
            assert!((0..3 * count).all(|at| receive[at] == expected(at)), "blocks of {count} elements");
        }
    });
}

#[test]
fn control_variables_are_found_and_read() {
    on_ranks("executor::mpi::tests::control_variables_are_found_and_read", 1, &[], |_| {
        let variables = ControlVariables::open().expect("control variables");
        let names = variables.names().expect("names");
        let read = names.iter().filter(|name| matches!(variables.read(name), Ok(Some(_)))).count();
        assert!(read >= 10, "{read} of {} variables can be read", names.len());
        assert_eq!(variables.read("no_such_variable"), Ok(None));
    });
}
