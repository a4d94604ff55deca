//! Ranks that are threads of one process: the same public API as over MPI, so a user's code and its tests run without
//! any MPI.
//!
//! ```
//! use hypercoll::{threads, Hypercube, Result, SystemOperation};
//!
//! /// The scalar product of two vectors that are spread over the ranks: over MPI in the program, on threads in its tests.
//! fn dot(cube: &Hypercube, x: &[f64], y: &[f64]) -> Result<f64> {
//!     let mut sum = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
//!     cube.all_reduce_in_place(&mut sum, SystemOperation::sum())?;
//!     Ok(sum)
//! }
//!
//! let results = threads::run(3, |cube| dot(cube, &[1.0, 2.0], &[10.0, cube.rank() as f64]));
//! // 3 * 1 * 10 + 2 * (0 + 1 + 2)
//! assert_eq!(results, [Ok(36.0), Ok(36.0), Ok(36.0)]);
//! ```

use crate::engine::end_all;
use crate::executor::patience::Patience;
use crate::executor::threads::Threads;
use crate::select::{Machine, Overrides};
use crate::Hypercube;

/// Runs `code` on `ranks` threads, each with the [`Hypercube`] of its rank, and returns their results by rank.
///
/// # Panics
/// If `ranks` is 0 or more than 65,536, if the system has no threads for so many, or if the code panics on some rank (the first panic
/// is passed on).
///
/// Of the [environment](crate#environment), what asks for algorithms and their parameters is read; if it asks for what does not
/// exist, every call returns [`Error::Environment`](crate::Error::Environment). No tuning file is read.
///
/// As over MPI, ranks whose calls do not fit together, and those that wait for one whose code has ended or panicked, get an error.
///
/// # Examples
/// ```
/// let sums = hypercoll::threads::run(6, |cube| {
///     let mine = [cube.rank() as u64];
///     let mut sum = [0];
///     cube.all_reduce_into(&mine, &mut sum, hypercoll::SystemOperation::sum()).unwrap();
///     sum[0]
/// });
/// assert_eq!(sums, [15; 6]);
/// ```
pub fn run<R: Send>(ranks: usize, code: impl Fn(&Hypercube) -> R + Sync) -> Vec<R> {
    assert!((1..=1 << 16).contains(&ranks), "threads::run: {ranks} ranks; 1 to 65,536 are possible");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let overrides = Overrides::parse(variable);
    let (patience, overrides) = match Patience::of(|name| variable(name).unwrap_or_default()) {
        Ok(patience) => (patience, overrides),
        Err(refused) => (Patience::default(), Err(refused)),
    };
    // Before any thread: should there be no more threads, the ranks without one leave too, and nobody waits for them.
    let (transports, panicked) = Threads::between(ranks);
    std::thread::scope(|scope| {
        let spawn = |transport: Threads| {
            let (code, overrides) = (&code, overrides.clone());
            scope.spawn(move || {
                let machine = Machine::shared_memory(cores);
                let outcome = code(&Hypercube::over(Box::new(transport), machine, overrides, patience));
                end_all();
                outcome
            })
        };
        let threads: Vec<_> = transports.into_iter().map(spawn).collect();
        let mut joined: Vec<_> = threads.into_iter().map(|t| t.join()).collect();
        // The panic that came first is the one to show; the others may only have heard of it.
        if let Some(&rank) = panicked.get() {
            if let Err(panic) = joined.swap_remove(rank) {
                std::panic::resume_unwind(panic);
            }
        }
        joined.into_iter().map(|r| r.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
