//! Under `mpirun`, on the MPI library that there is, or as on one that cannot count far: messages of few kilobytes are split.

#[path = "../../../tests/common/mpirun.rs"]
mod mpirun;
#[path = "../../../tests/common/process.rs"]
mod process;
#[path = "../../../tests/common/ranks.rs"]
mod ranks;
#[path = "../../../tests/common/said.rs"]
mod said;

use super::control_variables::ControlVariables;
use super::departed;
use super::lobby::Guests;
use super::messages::Messages;
use super::MpiTransport;
use crate::executor::board::{Board, Presence};
use crate::executor::memory::Span;
use crate::executor::patience::Patience;
use crate::executor::{Stamp, Token};
use crate::select::{Machine, Overrides};
use crate::{Error, Hypercube, SystemOperation};
use ::mpi::topology::{Color, SimpleCommunicator};
use ::mpi::traits::*;
use ::mpi::Threading;
use ranks::{on_ranks, on_ranks_with};
use std::time::Duration;

const THROUGH_MPI: [(&str, &str); 1] = [("HYPERCOLL_SHARED_MEMORY", "off")];

/// A communicator whose messages are split as if MPI could count only so many bytes.
fn cube(world: &SimpleCommunicator) -> Hypercube {
    let (mut transport, _) =
        MpiTransport::duplicate(world, Ok(Patience::default()), &|_| String::new(), &|| ()).expect("a transport");
    transport.messages.largest = 16_383;
    Hypercube::over(Box::new(transport), Machine::network(), Ok(Overrides::default()), Patience::default())
}

#[test]
fn split_messages_are_put_together() {
    on_ranks("executor::mpi::tests::split_messages_are_put_together", 3, &THROUGH_MPI, |world| {
        let cube = cube(world);
        for count in [2047, 2048, 5000, 20_000] {
            // One range, which is not packed, and several, which are.
            let mut data = if cube.rank() == 2 { (0..count).map(|at| at as f64).collect() } else { vec![0.0; count] };
            cube.broadcast(2).algorithm("sbt").packet(count).run(&mut data).expect("a broadcast");
            assert!((0..count).all(|at| data[at] == at as f64), "{count} elements");
            let send: Vec<usize> = (0..3 * count).map(|at| 100_000 * cube.rank() + at).collect();
            let mut receive = vec![0; 3 * count];
            cube.all_to_all().algorithm("complete_exchange").run(&send, &mut receive).expect("an exchange");
            let expected = |at: usize| 100_000 * (at / count) + cube.rank() * count + at % count;
            assert!((0..3 * count).all(|at| receive[at] == expected(at)), "blocks of {count} elements");
        }
    });
}

#[test]
fn control_variables_are_found_and_read() {
    on_ranks("executor::mpi::tests::control_variables_are_found_and_read", 1, &[], |_| {
        let variables = ControlVariables::open().expect("control variables");
        let names = variables.names().expect("names");
        let read = names.iter().filter(|name| matches!(variables.read(name), Ok(Some(_)))).count();
        assert!(read >= 10, "{read} of {} variables can be read", names.len());
        assert_eq!(variables.read("no_such_variable"), Ok(None));
    });
}

/// A thread may end before others have left the communicator that it has left.
#[test]
fn what_a_thread_has_left_is_freed_by_another() {
    let test = "executor::mpi::tests::what_a_thread_has_left_is_freed_by_another";
    on_ranks_with(Threading::Serialized, test, 2, &[("HYPERCOLL_SHARED_MEMORY", "none")], |world| {
        let make = || Hypercube::new(&SimpleCommunicator::world()).map(drop).expect("a communicator");
        std::thread::spawn(make).join().expect("no panic");
        for _ in 0..1000 {
            // By then the others have left the first, and perhaps the last.
            world.barrier();
            departed::free_those_that_all_have_left();
        }
        assert_eq!(departed::count(), 0);
    });
}

/// On a host where a rank can have no more files open, the one that is to make the memory or another one.
fn no_memory(test: &str, without: i32) {
    on_ranks(test, 2, &[("HYPERCOLL_TUNING", ""), ("HYPERCOLL_MEASURE", "off")], |world| {
        said::listen();
        is_right(world);
        if world.rank() == without {
            let limit = libc::rlimit { rlim_cur: 0, rlim_max: 1000 };
            // SAFETY: a valid limit.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
        }
        is_right(world);
        is_right(world);
        let said = said::said();
        let is_told = |text: &String| text.contains("no memory is shared") && text.contains("Too many open files");
        assert!(said.iter().all(is_told) && said.len() == usize::from(world.rank() == without), "{said:?}");
    });
}

#[test]
fn memory_that_cannot_be_made_is_missed_aloud() {
    no_memory("executor::mpi::tests::memory_that_cannot_be_made_is_missed_aloud", 0);
}

#[test]
fn memory_that_cannot_be_had_is_missed_aloud() {
    no_memory("executor::mpi::tests::memory_that_cannot_be_had_is_missed_aloud", 1);
}

const STAMP: Stamp = Stamp { number: 1, signature: 2 };
const TOKEN: Token = Token { execution: 3, operation: 4 };
/// Longer than any of these tests takes.
const LIMIT: Duration = Duration::from_secs(60);

/// The messages of a communicator that is never freed.
fn messages(world: &SimpleCommunicator) -> Messages {
    Messages::on(std::mem::ManuallyDrop::new(world.duplicate()).as_raw(), world.size() as usize)
}

/// Elements whose message waits for its receive.
fn long() -> Vec<u8> {
    vec![7; 1 << 20]
}

fn span(data: &mut [u8]) -> Span {
    // SAFETY: whoever asks keeps the data until `cease` has returned.
    unsafe { Span::new(data.as_mut_ptr(), data.len()) }
}

/// Calls have failed on ranks 0 to 2, long before 3, which leaves, tells 1 and 2. 0 sends to it.
#[test]
fn the_word_of_one_that_leaves_late_reaches_those_that_it_does_not_tell() {
    let test = "executor::mpi::tests::the_word_of_one_that_leaves_late_reaches_those_that_it_does_not_tell";
    on_ranks(test, 4, &THROUGH_MPI, |world| {
        let (mut messages, mut data) = (messages(world), long());
        match world.rank() {
            0 => {
                messages.send(TOKEN, STAMP, 3, &[span(&mut data)], false).expect("a send");
                messages.cease(&[1, 2, 3], None, LIMIT);
            }
            3 => {
                std::thread::sleep(Duration::from_secs(2));
                [1, 2].into_iter().for_each(|neighbour| messages.part(neighbour, b"left"));
            }
            rank => messages.cease(&[0, 3 - rank as usize, 3], None, LIMIT),
        }
        // In here, nobody listens any more.
        world.barrier();
        messages.abandon();
    });
}

/// Rank 2 shares a host with 1, which sees on the board that it has gone. 0 sends to it.
#[test]
fn ranks_of_other_hosts_hear_who_of_this_one_has_gone() {
    on_ranks("executor::mpi::tests::ranks_of_other_hosts_hear_who_of_this_one_has_gone", 3, &THROUGH_MPI, |world| {
        let (mut messages, mut data) = (messages(world), long());
        match world.rank() {
            0 => {
                messages.send(TOKEN, STAMP, 2, &[span(&mut data)], false).expect("a send");
                messages.cease(&[1, 2], None, LIMIT);
            }
            1 => {
                let boards = Board::of_threads(2);
                let mut board = boards(0);
                board.ranks = [1, 2].into();
                boards(1).mine().leave(Presence::Left);
                messages.cease(&[0], Some(&board), LIMIT);
            }
            _ => (),
        }
        world.barrier();
        messages.abandon();
    });
}

/// Rank 1 has told nobody that it leaves, and is asked by 0, which sends to it.
#[test]
fn one_that_has_left_says_so_when_it_is_waited_for() {
    on_ranks("executor::mpi::tests::one_that_has_left_says_so_when_it_is_waited_for", 2, &THROUGH_MPI, |world| {
        let (mut messages, mut data) = (messages(world), long());
        if world.rank() == 0 {
            messages.send(TOKEN, STAMP, 1, &[span(&mut data)], false).expect("a send");
            messages.cease(&[1], None, LIMIT);
            world.process_at_rank(1).send(&0u8);
        } else {
            let told = loop {
                assert!(!messages.have_left(&[0]), "a communicator whose calls have failed is not freed");
                if let Some(told) = world.process_at_rank(0).immediate_matched_probe() {
                    break told;
                }
            };
            let _ = told.0.matched_receive::<u8>();
            assert!(!messages.have_left(&[0]), "nor later");
        }
        messages.abandon();
    });
}

/// Rank 0 has been through for long when 1, which sends to it, hears that calls have failed.
#[test]
fn one_that_is_through_says_so_to_those_that_come_late() {
    on_ranks("executor::mpi::tests::one_that_is_through_says_so_to_those_that_come_late", 2, &THROUGH_MPI, |world| {
        let (mut messages, mut data) = (messages(world), long());
        if world.rank() == 0 {
            messages.cease(&[1], None, LIMIT);
        } else {
            std::thread::sleep(Duration::from_secs(2));
            messages.send(TOKEN, STAMP, 0, &[span(&mut data)], false).expect("a send");
            messages.cease(&[0], None, LIMIT);
        }
        world.barrier();
        messages.abandon();
    });
}

/// Messages of a call of ranks 0 and 1, of which the first has come from 1 to 0, which waits for the data to follow.
fn begun(world: &SimpleCommunicator, data: &mut [u8]) -> Messages {
    let (mut messages, first) = (messages(world), Token { operation: 0, ..TOKEN });
    let (mut short, mut done) = ([1; 8], Vec::new());
    if world.rank() == 0 {
        messages.receive(first, STAMP, 1, &[span(&mut short)]).expect("a receive");
        while done.is_empty() {
            messages.advance(false, 1, &mut done).expect("a message");
        }
        messages.receive(TOKEN, STAMP, 1, &[span(data)]).expect("a receive");
    } else {
        messages.send(first, STAMP, 0, &[span(&mut short)], false).expect("a send");
    }
    messages
}

/// Rank 1 has left when most of its message is still to come, which has met its receive: the buffer is let go of when all of it is there.
#[test]
fn what_one_that_has_left_has_sent_is_waited_for() {
    // In Open MPI's own shared memory a receiver fetches it all itself.
    let variables = [THROUGH_MPI[0], ("OMPI_MCA_btl", "tcp,self")];
    on_ranks("executor::mpi::tests::what_one_that_has_left_has_sent_is_waited_for", 2, &variables, |world| {
        let mut data = long();
        let mut messages = begun(world, &mut data);
        if world.rank() == 0 {
            world.barrier();
            while messages.hear().is_none() {}
            messages.cease(&[1], None, LIMIT);
            let then = data.clone();
            world.barrier();
            world.barrier();
            assert!(data == then, "written afterwards");
        } else {
            world.barrier();
            data.fill(8);
            messages.send(TOKEN, STAMP, 0, &[span(&mut data)], false).expect("a send");
            messages.part(0, b"left");
            // Without this rank MPI moves nothing of it.
            std::thread::sleep(Duration::from_millis(500));
            world.barrier();
            world.barrier();
        }
        messages.abandon();
        std::mem::forget(data);
    });
}

/// What comes afterwards is not written into buffers that calls have let go of, and that it has not come keeps nobody.
#[test]
fn receives_are_taken_back() {
    on_ranks("executor::mpi::tests::receives_are_taken_back", 2, &THROUGH_MPI, |world| {
        let mut data = long();
        let mut messages = begun(world, &mut data);
        if world.rank() == 0 {
            messages.cease(&[1], None, LIMIT);
            world.barrier();
            world.barrier();
            assert!(!messages.have_left(&[1]) && data == long(), "written afterwards");
        } else {
            world.barrier();
            data.fill(8);
            messages.send(TOKEN, STAMP, 0, &[span(&mut data)], false).expect("a send");
            world.barrier();
        }
        messages.abandon();
        std::mem::forget(data);
    });
}

/// Memory that MPI uses is not given back, and nobody waits for ever.
#[test]
fn a_buffer_that_mpi_does_not_let_go_of_ends_the_job() {
    let test = "executor::mpi::tests::a_buffer_that_mpi_does_not_let_go_of_ends_the_job";
    let ended = std::panic::catch_unwind(|| {
        on_ranks(test, 2, &THROUGH_MPI, |world| {
            let (mut messages, mut data) = (messages(world), long());
            if world.rank() == 0 {
                messages.send(TOKEN, STAMP, 1, &[span(&mut data)], false).expect("a send");
                messages.cease(&[1], None, Duration::from_secs(1));
            }
            world.barrier();
        });
    });
    let said = ended.expect_err("the job ends").downcast::<String>().expect("what it said");
    assert!(
        said.contains("MPI still uses its buffers, for a message to rank 1")
            && !said.contains("ended at the time limit"),
        "{said}"
    );
}

/// Whether ranks could meet in the lobby, which all of them ask together.
fn could_meet(comm: &impl Communicator) -> bool {
    let [rank, size] = [comm.rank(), comm.size()].map(|number| number as usize);
    Guests::of(comm.as_raw(), rank, size, true).expect("a lobby or none").is_some()
}

/// Makes a communicator, and sees that its messages are its own.
fn is_right(comm: &impl Communicator) {
    let cube = Hypercube::new(comm).expect("a communicator");
    let expected: usize = (0..cube.size()).map(|rank| rank + cube.size()).sum();
    for count in [1, 3000] {
        let mut sum = vec![0; count];
        let mine = vec![cube.rank() + cube.size(); count];
        cube.all_reduce_into(&mine, &mut sum, SystemOperation::sum()).expect("an all-reduce");
        assert_eq!(sum, vec![expected; count]);
    }
}

/// The ranks for which a function says so, in the order of their ranks or the reverse.
fn part(world: &SimpleCommunicator, is_in: impl Fn(i32) -> bool, backwards: bool) -> Option<SimpleCommunicator> {
    let color = if is_in(world.rank()) { Color::with_value(0) } else { Color::undefined() };
    world.split_by_color_with_key(color, if backwards { -world.rank() } else { world.rank() })
}

#[test]
fn ranks_that_have_met_meet_in_the_lobby() {
    on_ranks("executor::mpi::tests::ranks_that_have_met_meet_in_the_lobby", 5, &[], |world| {
        assert!(!could_meet(world));
        is_right(world);
        let duplicate = world.duplicate();
        let parts = [part(world, |rank| rank != 1, false), part(world, |rank| rank > 0, true)];
        for _ in 0..3 {
            assert!(could_meet(world) && could_meet(&duplicate));
            is_right(&duplicate);
            for part in parts.iter().flatten() {
                assert!(could_meet(part));
                is_right(part);
            }
            is_right(world);
        }
    });
}

#[test]
fn who_stays_away_from_the_lobby_is_met_by_messages() {
    on_ranks("executor::mpi::tests::who_stays_away_from_the_lobby_is_met_by_messages", 4, &[], |world| {
        is_right(world);
        let others = part(world, |rank| rank != 2, false);
        if world.rank() == 2 {
            std::env::set_var("HYPERCOLL_SHARED_MEMORY", "none");
        }
        is_right(world);
        std::env::remove_var("HYPERCOLL_SHARED_MEMORY");
        // However often they meet by messages, they get no second lobby.
        for _ in 0..4 {
            is_right(world);
            assert!(!could_meet(world));
        }
        assert!(others.is_none_or(|others| {
            is_right(&others);
            could_meet(&others)
        }));
    });
}

#[test]
fn a_meeting_that_ranks_have_left_is_the_last_in_the_lobby() {
    let limits = [("HYPERCOLL_TIMEOUT", "1,error")];
    on_ranks("executor::mpi::tests::a_meeting_that_ranks_have_left_is_the_last_in_the_lobby", 3, &limits, |world| {
        is_right(world);
        let [parent, later] = [world.duplicate(), world.duplicate()];
        // The others have given up when the last rank comes.
        if world.rank() == 2 {
            std::thread::sleep(Duration::from_millis(2500));
        }
        match Hypercube::new(&parent) {
            Err(Error::Timeout { .. }) => (),
            other => panic!("{:?}", other.map(|_| ())),
        }
        world.barrier();
        assert!(!could_meet(&later));
        is_right(&later);
    });
}

#[test]
fn who_has_missed_a_meeting_does_not_take_it_for_the_next() {
    let limits = [("HYPERCOLL_TIMEOUT", "1,error")];
    on_ranks("executor::mpi::tests::who_has_missed_a_meeting_does_not_take_it_for_the_next", 3, &limits, |world| {
        is_right(world);
        let [parent, later] = [world.duplicate(), world.duplicate()];
        if world.rank() < 2 {
            match Hypercube::new(&parent) {
                Err(Error::Timeout { .. }) => (),
                other => panic!("{:?}", other.map(|_| ())),
            }
        }
        world.barrier();
        // The words of those who have left are of as many meetings as this one would be of.
        assert!(!could_meet(&later));
    });
}

#[test]
fn there_are_no_more_lobbies_than_there_may_be() {
    on_ranks("executor::mpi::tests::there_are_no_more_lobbies_than_there_may_be", 5, &[], |world| {
        let mut parts: Vec<u32> = (0..1 << 5).filter(|part: &u32| [2, 3].contains(&part.count_ones())).collect();
        parts.sort_by_key(|part| part.count_ones());
        for time in 0..3 {
            let mut met = 0;
            for &ranks in &parts {
                if let Some(part) = part(world, |rank| ranks >> rank & 1 == 1, ranks % 2 == 0) {
                    met += usize::from(could_meet(&part));
                    is_right(&part);
                }
            }
            assert!(if time == 0 { met == 0 } else { (6..=8).contains(&met) }, "{met}");
        }
        is_right(world);
        assert!(!could_meet(world));
    });
}
