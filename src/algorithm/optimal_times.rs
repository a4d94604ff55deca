//! Table 1 of Bertsekas et al. 1991, from the schedules: the least times, and the least numbers of transmissions.

use super::registry::find;
use super::verify::schedules;
use super::{Algorithm, Parameters, PortModel};
use crate::collective::{Call, Collective};
use crate::executor::simulator::{simulate, Machine};
use std::collections::BTreeSet;

fn parameters() -> Parameters {
    Parameters { symmetrized: false, ..Parameters::new(PortModel::AllPorts) }
}

/// The three problems, gather and reduce-scatter as the first two backwards: collective, algorithm, and for d = 1, 2, ..., 10
/// the paper's time and number of transmissions (with erratum 33), worked out by hand.
type Row = (Collective, &'static str, [usize; 10], [usize; 10]);

const TIME: [usize; 10] = [1, 2, 3, 4, 7, 11, 19, 32, 57, 103];
const SCATTERED: [usize; 10] = [1, 4, 12, 32, 80, 192, 448, 1024, 2304, 5120];
const BROADCAST: [usize; 10] = [2, 12, 56, 240, 992, 4032, 16256, 65280, 261632, 1047552];

const TABLE: [Row; 5] = [
    (Collective::Scatter, "balanced_tree", TIME, SCATTERED),
    (Collective::Gather, "balanced_tree", TIME, SCATTERED),
    (Collective::AllGather, "multinode_broadcast", TIME, BROADCAST),
    (Collective::ReduceScatter, "multinode_broadcast", TIME, BROADCAST),
    (
        Collective::AllToAll,
        "total_exchange",
        [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
        [2, 16, 96, 512, 2560, 12288, 57344, 262144, 1179648, 5242880],
    ),
];

fn rows() -> impl Iterator<Item = (&'static Algorithm, Row)> {
    TABLE.into_iter().map(|row| (find(row.0, row.1).expect("in the registry"), row))
}

#[test]
fn table_1() {
    for (algorithm, (collective, _, times, transmissions)) in rows() {
        for d in 1..=10 {
            let call = Call::new(collective, 1 << d, 1);
            let mut rounds = BTreeSet::new();
            let mut sent = 0;
            for rank in 0..call.size {
                let messages = algorithm.messages(&call, &parameters(), rank);
                for message in messages.list().iter().filter(|message| message.sends) {
                    rounds.insert(message.round);
                    sent += messages.pieces(message).iter().map(ExactSizeIterator::len).sum::<usize>();
                }
            }
            assert_eq!((rounds.len(), sent), (times[d - 1], transmissions[d - 1]), "{algorithm:?} d = {d}");
            assert_eq!(rounds.last(), Some(&(times[d - 1] - 1)), "{algorithm:?} d = {d}: an idle round");
        }
    }
}

/// Without a clock, nodes that go on as soon as they can are done at the same time.
#[test]
fn the_times_need_no_common_clock() {
    let machine = Machine::new(1.0, 0.0, PortModel::AllPorts);
    for (algorithm, (collective, _, times, _)) in rows() {
        for d in 1..=6 {
            let call = Call::new(collective, 1 << d, 1);
            let timeline = simulate(&schedules(algorithm, &call, &parameters()), &machine).expect("no deadlock");
            assert_eq!(timeline.time, times[d - 1] as f64, "{algorithm:?} d = {d}");
        }
    }
}
