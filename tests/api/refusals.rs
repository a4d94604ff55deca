//! Calls that are refused, and say why.

use super::*;

/// What an error must say.
fn says(outcome: hypercoll::Result<()>, argument: &str, words: &[&str]) -> Error {
    let error = outcome.expect_err(argument);
    let text = error.to_string();
    assert!(text.starts_with(&format!("{argument}:")), "does not name {argument}: {text}");
    words.iter().for_each(|word| assert!(text.contains(word), "no '{word}' in: {text}"));
    error
}

#[test]
fn wrong_lengths_name_the_buffer_and_touch_nothing() {
    for size in [2, 3, 8] {
        on(size, move |cube| {
            let rank = cube.rank();
            let (send, wide) = (sent::<u64>(rank, 5), sent::<u64>(rank, 5 * size));
            let mut short = vec![7u64; 4];
            let mut long = vec![7u64; 5 * size + 1];
            let sum = SystemOperation::sum();
            let root = cube.process_at_rank(rank); // each rank for itself: all see the error
            let five = (5 * size).to_string();
            let length = |outcome, argument: &str, words: &[&str]| {
                assert!(matches!(says(outcome, argument, words), Error::Length { .. }));
            };
            length(root.scatter_into_root(&wide, &mut short), "send", &[&five, &(4 * size).to_string()]);
            length(root.gather_into_root(&send, &mut long), "receive", &[&five]);
            length(root.reduce_into_root(&send, &mut short, sum), "receive", &["4", "5"]);
            length(cube.all_gather_into(&send, &mut long), "receive", &[&five]);
            length(cube.all_gather_in_place(&mut long), "blocks", &["multiple", &size.to_string()]);
            length(cube.all_to_all_into(&long.clone(), &mut long), "send", &["multiple"]);
            length(cube.all_to_all_into(&wide, &mut long), "receive", &[&five]);
            length(cube.all_reduce_into(&send, &mut short, sum), "receive", &["4", "5"]);
            length(cube.reduce_scatter_block_into(&wide, &mut short, sum), "send", &[&(4 * size).to_string()]);
            let identity: Vec<usize> = (0..size).collect();
            length(cube.permute_into(&identity, &send, &mut short), "receive", &["4", "5"]);
            assert_eq!((short, long), (vec![7; 4], vec![7; 5 * size + 1]));
            assert_eq!((send, wide), (sent(rank, 5), sent(rank, 5 * size)));
            // Nothing is broken by it.
            cube.barrier().unwrap();
        });
    }
}

/// Before a plan is made of it, which would take more memory than there is.
#[test]
fn what_is_longer_than_its_buffers_by_far_is_not_planned() {
    on(8, |cube| {
        let (mut data, count) = ([7u8; 8], 1 << 50);
        for collective in [Collective::Broadcast, Collective::AllGather, Collective::AllToAll] {
            let call = Call::new(collective, 8, count);
            let outcome = cube.collective(call).packet(1).run(&[], &mut data);
            let argument = if collective == Collective::Broadcast { "receive" } else { "send" };
            says(
                outcome,
                argument,
                &[if collective == Collective::AllToAll { "9007199254740992" } else { "1125899906842624" }],
            );
        }
        let outcome = cube.send(0, 7).packet(1).run(count, Some(&data.clone()), Some(&mut data));
        assert!(outcome.is_err() || !matches!(cube.rank(), 0 | 7));
        assert_eq!(data, [7; 8]);
    });
}

#[test]
fn roots_out_of_range_and_wrong_roles() {
    on(3, |cube| {
        let sum = SystemOperation::sum();
        let (send, mut receive, mut all) = ([1u8], [0u8], [0u8; 3]);
        for root in [3, 1000, usize::MAX] {
            let process = cube.process_at_rank(root);
            let outcomes = [
                process.broadcast_into(&mut receive),
                process.scatter_into(&mut receive),
                process.scatter_into_root(&all.clone(), &mut receive),
                process.gather_into(&send),
                process.gather_into_root(&send, &mut all),
                process.reduce_into(&send, sum),
                process.reduce_into_root(&send, &mut receive, sum),
                cube.broadcast(root).run(&mut receive),
                cube.scatter(root).run(Some(&all.clone()), &mut receive),
                cube.gather(root).run(&send, Some(&mut all)),
                cube.reduce(root).run(&send, Some(&mut receive), sum),
            ];
            for outcome in outcomes {
                assert!(matches!(says(outcome, "root", &["3 ranks"]), Error::Root { size: 3, .. }));
            }
        }
        // A negative rank, as rsmpi's type of ranks can be.
        assert!(matches!(cube.process_at_rank(-1i32).broadcast_into(&mut receive), Err(Error::Root { .. })));

        let (here, there) = (cube.process_at_rank(cube.rank()), cube.process_at_rank((cube.rank() + 1) % 3));
        let role = |outcome: hypercoll::Result<()>, call: &str, instead: &str| {
            let error = outcome.expect_err(call);
            assert!(
                matches!(&error, Error::Role { call: c, instead: i, .. } if *c == call && *i == instead),
                "{error}"
            );
            assert!(error.to_string().contains(call) && error.to_string().contains(instead), "{error}");
        };
        role(here.scatter_into(&mut receive), "scatter_into", "scatter_into_root");
        role(there.scatter_into_root(&all.clone(), &mut receive), "scatter_into_root", "scatter_into");
        role(here.gather_into(&send), "gather_into", "gather_into_root");
        role(there.gather_into_root(&send, &mut all), "gather_into_root", "gather_into");
        role(here.reduce_into(&send, sum), "reduce_into", "reduce_into_root");
        role(there.reduce_into_root(&send, &mut receive, sum), "reduce_into_root", "reduce_into");
        assert_eq!((receive, all), ([0], [0; 3]));
        cube.barrier().unwrap();
    });
}

#[test]
fn options_that_cannot_be_honoured() {
    on(4, |cube| {
        let sum = SystemOperation::sum();
        let (send, mut receive, mut all) = ([1u64; 4], [7u64; 4], [7u64; 16]);
        let unknown = says(cube.broadcast(0).algorithm("best").run(&mut receive), "algorithm", &["best", "sbt, msbt"]);
        assert!(matches!(unknown, Error::UnknownAlgorithm { collective: Collective::Broadcast, .. }));
        says(cube.all_to_all().algorithm("msbt").run(&all.clone(), &mut all), "algorithm", &["pairwise_xor"]);
        assert_eq!(says(cube.broadcast(0).packet(0).run(&mut receive), "packet", &["0"]), Error::Packet);
        assert_eq!(says(cube.all_gather().packet(0).run(&send, &mut all), "packet", &[]), Error::Packet);
        let scatter = cube.scatter(0).algorithm("sbnt").order(Order::Subtrees).ports(PortModel::OnePort).packet(2);
        says(scatter.run(Some(&all[..]).filter(|_| cube.rank() == 0), &mut receive), "packet", &["sbnt"]);
        let gather = cube.all_gather().algorithm("complete_broadcast");
        let exchange = cube.all_to_all().algorithm("pairwise_xor");
        says(exchange.clone().ports(PortModel::AllPorts).run(&all.clone(), &mut all), "ports", &["all-ports"]);
        says(exchange.symmetrized(true).run(&all.clone(), &mut all), "symmetrized", &["pairwise_xor"]);
        let scatter = cube.scatter(0).symmetrized(true);
        let outcome = scatter.run(Some(&all[..]).filter(|_| cube.rank() == 0), &mut receive);
        says(outcome, "symmetrized", &[]);
        says(cube.broadcast(0).algorithm("msbt").symmetrized(true).run(&mut receive), "symmetrized", &["msbt"]);
        let gather = gather.symmetrized(true).ports(PortModel::OnePort);
        says(gather.run(&send, &mut all), "symmetrized", &["one-port"]);
        // Operations that do not commute.
        let last = |_: &u64, b: &u64| *b;
        let msbt = cube.reduce(0).algorithm("msbt");
        let outcome = msbt.clone().run(&send, Some(&mut receive), last);
        assert!(matches!(says(outcome, "operation", &["msbt"]), Error::Unsuited { .. }));
        let outcome = cube.all_reduce().algorithm("histogram").symmetrized(true).run(&send, &mut receive, last);
        says(outcome, "symmetrized", &["rank order"]);
        assert_eq!((receive, all), ([7; 4], [7; 16]));
        // The same call with one that commutes.
        msbt.run(&send, Some(&mut receive), sum).unwrap();
        assert_eq!(receive, if cube.rank() == 0 { [4; 4] } else { [7; 4] });
    });
}

#[test]
fn what_is_no_permutation() {
    on(4, |cube| {
        let (send, mut receive) = ([1u32; 3], [7u32; 3]);
        for (permutation, words) in [
            (&[0, 1, 2][..], &["3", "4 ranks"][..]),
            (&[0, 1, 2, 3, 4], &["5", "4 ranks"]),
            (&[], &["0", "4 ranks"]),
            (&[0, 1, 2, 4], &["rank 3", "4"]),
            (&[0, usize::MAX, 2, 3], &["rank 1"]),
            (&[0, 1, 0, 3], &["ranks 0 and 2", "0"]),
        ] {
            let error = says(cube.permute_into(permutation, &send, &mut receive), "permutation", words);
            assert!(matches!(error, Error::Permutation { .. }));
        }
        assert_eq!(receive, [7; 3]);
        cube.permute_into(&[1, 0, 3, 2], &send, &mut receive).unwrap();
        assert_eq!(receive, [1; 3]);
    });
}
