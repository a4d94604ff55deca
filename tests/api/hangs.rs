//! How these tests are watched: what hangs is found out, and what is slow is not taken for it.

use super::*;
use std::sync::{mpsc, Mutex};
use watch::{watched, Outcome, Watch};

#[test]
fn a_rank_that_hangs_is_reported() {
    let (leave, left) = mpsc::channel::<()>();
    let left = Mutex::new(left);
    let Outcome { end, calls } = watched(Duration::from_secs(2), 3, move |cube| {
        cube.barrier().unwrap();
        if cube.rank() == 1 {
            // Neither calls nor goes, so that the others wait, until the test is over.
            _ = left.lock().unwrap().recv();
        } else {
            _ = cube.barrier();
        }
    });
    drop(leave);
    assert!(end.is_none(), "the others cannot have left the second barrier");
    assert!(calls.iter().all(|&calls| calls <= 1), "{calls:?}");
}

#[test]
fn every_call_is_progress_and_every_rank_is_watched() {
    let Outcome { end, calls } = watched(Duration::from_secs(60), 3, |cube| {
        cube.barrier().unwrap();
        // One of arguments that are wrong is not made at all.
        assert!(cube.all_gather_into(&[1u8, 2], &mut [0u8; 3]).is_err());
        cube.broadcast(2).run(&mut [7u64; 4]).unwrap();
        cube.rank()
    });
    assert_eq!((end.unwrap().unwrap(), calls), (vec![0, 1, 2], vec![2; 3]));
}

/// However slow the rest is: only looks in a row count.
#[test]
fn any_progress_is_enough() {
    let mut watch = Watch::default();
    for progress in 1..100 {
        assert!((0..Watch::LOOKS).all(|_| !watch.stands_still(progress)), "{progress}");
    }
    assert!(watch.stands_still(99));
    assert!(!watch.stands_still(100));
    // Nothing has ever moved.
    let mut watch = Watch::default();
    let looks: Vec<bool> = (0..=Watch::LOOKS).map(|_| watch.stands_still(0)).collect();
    assert_eq!(looks.iter().position(|stands_still| *stands_still), Some(Watch::LOOKS as usize - 1));
}
