//! Scatter: block i of the root's vector to rank i.
//!
//! ```
//! hypercoll::threads::run(4, |cube| {
//!     let all = [10, 11, 20, 21, 30, 31, 40, 41];
//!     let send = (cube.rank() == 1).then_some(&all);
//!     let mut mine = [0; 2];
//!     cube.scatter(1).algorithm("sbnt").run(send, &mut mine).unwrap();
//!     let first = 10 * (cube.rank() as i32 + 1);
//!     assert_eq!(mine, [first, first + 1]);
//! });
//! ```

pub mod balanced_tree;
pub mod bst;
pub mod direct;
pub mod distribute;
pub mod distribute_waves;
pub mod msbt;
pub mod multinode;
pub mod sbg;
pub mod sbnt;
pub mod sbt;
pub mod tcbt;
pub mod two_level;

#[cfg(test)]
mod transfers {
    use crate::algorithm::{Parameters, PortModel, Route, Write};
    use crate::collective::{Call, Collective};
    use crate::schedule::Problem;

    /// A message: round, from, to, block.
    pub type Transfer = (usize, usize, usize, usize);

    /// All messages of blocks of one element on a whole cube of all ports.
    pub fn sent(collective: Collective, n: u32, write: Write) -> Vec<Transfer> {
        let call = Call::new(collective, 1 << n, 1);
        let problem = Problem::new(&call);
        let mut sent = Vec::new();
        for node in 0..1 << n {
            let mut route = Route::new();
            write(&problem, &Parameters::new(PortModel::AllPorts), node, &mut route);
            for transfer in route.transfers().iter().filter(|transfer| transfer.sends) {
                let blocks = route.pieces(transfer).iter();
                sent.extend(blocks.map(|block| (transfer.round, node, transfer.peer, block.start)));
            }
        }
        sent.sort_unstable();
        sent
    }

    /// Those of a scatter along the balanced tree of the 3-cube, by hand.
    pub const ON_THE_3_CUBE: [Transfer; 12] = [
        (0, 0, 1, 7),
        (1, 0, 1, 3),
        (1, 0, 2, 6),
        (1, 0, 4, 5),
        (1, 1, 3, 7),
        (2, 0, 1, 1),
        (2, 0, 2, 2),
        (2, 0, 4, 4),
        (2, 1, 3, 3),
        (2, 2, 6, 6),
        (2, 3, 7, 7),
        (2, 4, 5, 5),
    ];
}
