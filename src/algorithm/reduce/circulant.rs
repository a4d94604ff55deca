//! Reduce along a circulant graph, however many ranks there are: [`broadcast::circulant`] backwards.
//!
//! Reference: Traeff 2024, arXiv:2407.18004 (T24), on reduction. Cost and requirements are those of the broadcast; the operation must
//! commute, as every packet's partial results join the ranks in another order.
//!
//! Memory: what a rank receives, but for what its result begins with: n - 1 + q packets at most, and n more where hosts have several
//! ranks. (It is a bound unless the root has the most of all, as it has in place: what other ranks receive depends on P and n in no
//! simple way. The path is one where the last packet is shorter, and where hosts have several ranks and there are fewer than q packets.)
//!
//! Correctness condition: that of the broadcast, backwards: a rank sends each packet once, after the last round in which it receives it.

use crate::algorithm::{broadcast, Algorithm, Form};
use crate::collective::Collective;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    summary:
        "long vectors, any number of ranks: the fewest rounds of packets there can be; each leaves every host once",
    source: "T24 n-block reduction",
    formula: broadcast::circulant::reduced,
    form: Form::Backward(broadcast::circulant::write),
    ..broadcast::circulant::ALGORITHM
};
