//! How MPICH's algorithms are forced: by a control variable a collective, which it reads at every call.
//!
//! Its values have no names but in the words that describe the variable, one `NAME - Force ...` after another in the order of their numbers,
//! on lines of their own in MPICH 5 and without anything between them in MPICH 4.0. An algorithm that cannot serve a call is replaced by
//! MPICH's own choice, without a word.

/// The value of no algorithm: MPICH chooses.
pub const OWN_CHOICE: i64 = 0;

/// What the names are followed by.
const FORCES: &str = "- Force ";

/// The names that there are in MPICH 4.0 to 5.0.
const NAMES: [&str; 26] = [
    "binomial",
    "brucks",
    "ccl",
    "dissemination",
    "k_brucks",
    "k_dissemination",
    "k_reduce_scatter_allgather",
    "nb",
    "noncommutative",
    "pairwise",
    "pairwise_sendrecv_replace",
    "pipelined_tree",
    "recexch",
    "recexch_doubling",
    "recexch_halving",
    "recursive_doubling",
    "recursive_halving",
    "recursive_multiplying",
    "reduce_scatter_allgather",
    "reduce_scatter_gather",
    "ring",
    "scatter_recursive_doubling_allgather",
    "scatter_ring_allgather",
    "scattered",
    "smp",
    "tree",
];

/// The variable of a collective, by its name in lower case.
pub fn variable(collective: &str) -> String {
    format!("MPIR_CVAR_{}_INTRA_ALGORITHM", collective.to_uppercase())
}

/// Numbers and names of the algorithms, out of the description of the variable. What has no known name has a number all the same.
pub fn algorithms(description: &str) -> Vec<(i64, String)> {
    let named = |before: &str| NAMES.into_iter().filter(|name| before.ends_with(name)).max_by_key(|name| name.len());
    let found = description.match_indices(FORCES).zip(1..);
    found.filter_map(|((at, _), number)| Some((number, named(description[..at].trim_end())?.to_string()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(description: &str) -> Vec<String> {
        algorithms(description).into_iter().map(|(number, name)| format!("{number} {name}")).collect()
    }

    /// As MPICH 4.0.2 and 5.0.1 say it.
    #[test]
    fn algorithms_are_in_the_description() {
        let without_lines = "Variable to select bcast algorithmauto - Internal algorithm selection (can be overridden with \
                             MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE)binomial   - Force Binomial Treenb  - Force nonblocking \
                             algorithmsmp    - Force smp algorithmscatter_recursive_doubling_allgather    - Force Scatter \
                             Recursive-Doubling Allgatherscatter_ring_allgather                  - Force Scatter Ring";
        let expected =
            ["1 binomial", "2 nb", "3 smp", "4 scatter_recursive_doubling_allgather", "5 scatter_ring_allgather"];
        assert_eq!(listed(without_lines), expected);
        let with_lines = "Variable to select allgather algorithm\nauto - Internal algorithm selection\n\
                          brucks             - Force brucks algorithm\nk_brucks           - Force brucks algorithm\n\
                          other_one - Force another one\nring               - Force ring algorithm\n";
        assert_eq!(listed(with_lines), ["1 brucks", "2 k_brucks", "4 ring"]);
        assert_eq!(listed("of something else - a number"), [""; 0]);
    }
}
