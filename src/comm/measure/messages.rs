//! Calls in which some ranks send messages to some others, as what is measured.

use super::in_a_row;
use crate::algorithm::{registry, Parameters, PortModel};
use crate::collective::{Call, Collective, Layout};
use crate::comm::Hypercube;
use crate::error::Result;
use crate::select::Options;

/// A call in which ranks send messages of one length to each other.
pub(super) struct Messages {
    call: Call,
    /// That this rank sends, and that it receives.
    pub(super) bytes: [usize; 2],
}

impl Messages {
    /// That in which this rank sends so many bytes to each of these, and receives as many from each of these.
    pub(super) fn of(cube: &Hypercube, bytes: usize, to: &[usize], from: &[usize]) -> Messages {
        let (mut sends, mut receives) = (vec![0; cube.size], vec![0; cube.size]);
        to.iter().for_each(|&rank| sends[rank] = bytes);
        from.iter().for_each(|&rank| receives[rank] = bytes);
        let call = Call::new(Collective::AllToAll, cube.size, bytes);
        let call = call.with_layout(Layout::of_row(cube.rank, &sends, &receives));
        Messages { call, bytes: [to.len() * bytes, from.len() * bytes] }
    }

    /// The seconds that these calls take, one after the other, in the mean of so many times. All ranks call this together.
    pub(super) fn send(cube: &Hypercube, calls: &[Messages], rounds: usize) -> Result<f64> {
        in_a_row(cube, rounds, || Messages::send_once(cube, calls))
    }

    /// Makes these calls, one after the other, as all ranks do.
    pub(super) fn send_once(cube: &Hypercube, calls: &[Messages]) -> Result<()> {
        let most = |which: usize| calls.iter().map(|messages| messages.bytes[which]).max().unwrap_or_default();
        let (send, mut receive) = (vec![1u8; most(0)], vec![0u8; most(1)]);
        calls.iter().try_for_each(|messages| messages.send_from(cube, &send, &mut receive))
    }

    /// Makes this call, as all ranks do, out of and into memory that is long enough.
    pub(super) fn send_from(&self, cube: &Hypercube, send: &[u8], receive: &mut [u8]) -> Result<()> {
        // All that the environment could ask for is said, as what is measured is this.
        let algorithm = registry::find(Collective::AllToAll, "shift")?;
        let options = Options::exactly(algorithm, &Parameters::new(PortModel::OnePort));
        let [sent, received] = self.bytes;
        cube.collective(self.call.clone()).options(&options).run(&send[..sent], &mut receive[..received])
    }
}
