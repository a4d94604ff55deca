//! A call over links by an algorithm in one form, and what the algorithm's row says of it.

use crate::algorithm::{Algorithm, Form, Formula, Parameters, Shape};
use crate::collective::Call;

/// How many ranks pass messages on at the same time.
#[derive(Clone, Copy)]
pub enum PassOn {
    /// One at most, as along a path and between a root and all others.
    One,
    /// As in a tree.
    Several,
    /// As in an exchange.
    All,
}

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

    /// How many ranks pass messages on to other hosts at the same time, where messages go one way, or to leaders and from them.
    pub fn passes_on(&self) -> PassOn {
        let Case { algorithm, call, shape, formula, .. } = self;
        let hops = match algorithm.far.filter(|_| call.hosts.is_some()) {
            Some(far) => far(shape).1,
            None => formula.hops,
        };
        match algorithm.form {
            // Leaders exchange messages, and within hosts nothing goes far. With one rank a host, some go one way to leaders, and back.
            Form::Between(..) if call.hosts.is_some() => PassOn::All,
            _ if hops > 1 && algorithm.paths == 0 => PassOn::Several,
            _ => PassOn::One,
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
