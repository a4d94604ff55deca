//! Broadcast by two waves, one step apart.
//!
//! Algorithm: as [`super::wave`], but the root starts a second wave one step after the first, with packet w + 1 in the place of
//! packet w. It brings the farthest nodes but one what the first would return to them in its last step, which falls away.
//!
//! Reference: Stout and Wagar 1990, section 2, BROADCAST 3B (errata, section B: Q_w = P_(w+1 mod d), from stage 1, for d - 1 stages).
//! d there is n here, m is M; tau there is t_c here, beta there is tau here.
//!
//! Requirements: all ports at once; reductions must commute, as the packets join the ranks in different orders.
//!
//! Cost: M t_c + n tau. No link carries more than 2 M/n elements (for n = 1, M).
//!
//! Memory: none besides the vector.
//!
//! Correctness condition: packet i goes along tree i of [`crate::topology::wave`], which joins every node to the sender of the
//! packet that is first to arrive; what would arrive again is left out.
//!
//! Example, n = 3, root 0, packet 0: step 0: 0 to 1; step 1: 0 to 4, 1 to 3 and 5; step 2: 3 to 2 and 7, 4 to 6.

use super::pipelined_wave;
use crate::algorithm::{Algorithm, DEFAULTS};

/// The pipelined wave with a single group, the last one.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "double_wave",
    summary: "n start-ups, and no link carries more than 2/n of the vector",
    source: "SW BROADCAST 3B",
    packets: &[],
    cost: "M t_c + n tau",
    best_packet: DEFAULTS.best_packet,
    ..pipelined_wave::ALGORITHM
};
