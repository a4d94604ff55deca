//! A call over links by an algorithm in one form, and what the algorithm's row says of it.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, Shape};
use crate::collective::Call;

/// Worked out once: some rows count over all ranks.
pub struct Case<'c> {
    pub algorithm: &'c Algorithm,
    pub call: &'c Call,
    /// Bytes of an element.
    pub element: usize,
    pub parameters: &'c Parameters,
    pub shape: Shape,
    /// What follows one another until the last rank has all.
    pub formula: Formula,
}

impl<'c> Case<'c> {
    pub fn new(algorithm: &'c Algorithm, call: &'c Call, element: usize, parameters: &'c Parameters) -> Case<'c> {
        let shape = algorithm.shape(call, parameters);
        let formula = algorithm.in_a_row(&shape);
        Case { algorithm, call, element, parameters, shape, formula }
    }

    /// Bytes of an element to divide by.
    pub fn bytes(&self) -> f64 {
        self.element.max(1) as f64
    }

    /// Of the messages between hosts that follow one another, the share in which all ranks, or leaders, pass on at the same time, where others go
    /// one way. In a tree several ranks do, which is taken for midway; along a path, and between a root and all others, one at most.
    pub fn exchanges(&self) -> f64 {
        let Case { algorithm, call, shape, formula, .. } = self;
        let hops = match algorithm.far.filter(|_| call.hosts.is_some()) {
            Some(far) => far(shape).1,
            None => formula.hops,
        };
        match algorithm.form {
            // Hosts beyond 2^n send before the exchanges, and get what comes of these; within hosts nothing goes far.
            Form::Between(..) => match shape.hosts.ilog2() {
                inside if shape.hosts.is_power_of_two() => f64::from(inside.min(1)),
                inside => f64::from(inside) / f64::from(inside + 2),
            },
            _ if hops > 1 && algorithm.paths == 0 => 0.5,
            _ => 0.0,
        }
    }

    /// Elements of the longest message that goes in one of so many rounds: where messages double or halve, with the dimensions of the cube
    /// or with the ranks reached, half of 2^n places, or what is left of others, in each pass of an all-reduce; otherwise the mean.
    pub fn longest_message(&self, rounds: f64) -> f64 {
        let Case { algorithm, call, shape, formula, .. } = self;
        let meaning = algorithm.collective.meaning();
        let (passes, most) = if meaning.passes == 2 { (2, call.count as f64) } else { (1, f64::INFINITY) };
        let (places, more) = if algorithm.cube_edges { (shape.nodes(), 1) } else { (shape.size, 0) };
        let few = formula.rounds > passes && formula.rounds <= passes * shape.n as usize + more;
        if !(meaning.gathers && few) {
            return formula.elements / rounds.max(1.0);
        }
        let half = shape.nodes() / 2;
        let longest = (half / 2).max(places - half) as f64 / (places - 1).max(1) as f64;
        (formula.elements * longest / passes as f64).min(most)
    }
}
