//! What a collective is tried with.

use crate::address::{dimension_for, gray, mask, Hosts};
use crate::collective::{Blocks, Call, Collective, Layout, MatrixProduct, Permutation};

/// The forms that a call of this shape can take: as it is; with peers at all distances; for a permutation the identity, shifts, an
/// exchange of neighbours and the reversal; for a turn also that to the left, and on a grid numbered by a Gray code; with blocks of unequal lengths, as they are drawn by Zipf's law, too; for matrices unequal sides and other grids; in
/// place; with an operation that does not commute.
pub fn forms(collective: Collective, size: usize, count: usize, root: usize) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut call = Call::new(collective, size, count).with_root(root);
    if collective.has_peer() {
        let at_distance = (0..=dimension_for(size)).map(|d| root ^ mask(d));
        for peer in at_distance.chain([(root + 1) % size, size / 2]).filter(|&peer| peer < size) {
            call.peer = peer;
            calls.push(call.clone());
        }
        call.peer = size - 1 - root;
    }
    let meaning = collective.meaning();
    if meaning.permutation == Some(Permutation::Any) {
        for shift in [0, 1, size / 2] {
            call.permutation = Some((0..size).map(|i| (i + shift) % size).collect());
            calls.push(call.clone());
        }
        call.permutation = Some((0..size).map(|i| i ^ 1).collect());
        if size.is_multiple_of(2) {
            calls.push(call.clone());
        }
        call.permutation = Some((0..size).rev().collect());
    }
    if meaning.permutation == Some(Permutation::Grid { turned: true }) {
        // To the left; and by a Gray code, where it numbers the sides of a square grid.
        let target = call.permutation.clone().unwrap_or_default();
        let n = dimension_for(size);
        let square = size.is_power_of_two() && n.is_multiple_of(2);
        let code = |rank: usize| gray(rank >> (n / 2)) << (n / 2) | gray(rank & mask(n / 2));
        let renumbered = |rank: usize| if square { code(rank) } else { rank };
        let (mut left, mut coded) = (vec![0; size], vec![0; size]);
        for (rank, &to) in target.iter().enumerate() {
            left[to] = rank;
            coded[renumbered(rank)] = renumbered(to);
        }
        calls.extend([left, coded].map(|targets| Call { permutation: Some(targets.into()), ..call.clone() }));
    }
    if count > 0 && count < 5 && meaning.unequal {
        let layouts = match meaning.blocks {
            Blocks::Pairs => vec![
                Layout::of_pairs(size, |from, to| (3 * from + to) % (count + 1)),
                Layout::of_pairs(size, |from, to| heavy_tailed(from * size + to, size * size, count)),
            ],
            _ if collective.permutes() => vec![Layout::of_vectors((0..size).map(|rank| rank % (count + 1)))],
            _ => vec![heavy_tailed_vectors(size, count)],
        };
        calls.extend(layouts.into_iter().map(|layout| call.clone().with_layout(layout)));
    }
    if collective.multiplies() && size.is_power_of_two() {
        // Unequal sides, on all grids.
        for grid_rows in (0..=size.ilog2()).map(|n1| 1 << n1) {
            let sides = [(count, count + 2, count / 2), (3 * count, 2 * count, count), (count, 4 * count, 5 * count)];
            calls.extend(sides.map(|(rows, inner, columns)| {
                let product = MatrixProduct { rows, inner, columns, grid_rows, grid_columns: size / grid_rows };
                Call { matrices: Some(product.into()), ..call.clone() }
            }));
        }
    }
    calls.push(call.clone());
    if collective.knows_hosts() && count < 5 {
        let pairs = vec![2; if size.is_multiple_of(2) { size / 2 } else { 0 }];
        let hosts = [
            Hosts::with_ranks(&[size.div_ceil(2), size / 2], true),
            Hosts::with_ranks(&pairs, false),
            unequal_hosts(size),
        ];
        let on = |hosts| Call { hosts: Some(hosts), ..call.clone() };
        calls.extend(
            hosts
                .into_iter()
                .flatten()
                .flat_map(|hosts| {
                    let in_place = Call { in_place: true, ..on(hosts.clone()) };
                    [Some(on(hosts)), collective.has_in_place().then_some(in_place)]
                })
                .flatten(),
        );
    }
    if collective.has_in_place() {
        calls.push(Call { in_place: true, ..call.clone() });
    }
    if collective.reduces() {
        calls.push(Call { ordered: true, ..call });
    }
    calls
}

/// Lengths by Zipf's law, in no order, up to 4 times `count`; some are 0.
fn heavy_tailed(block: usize, blocks: usize, count: usize) -> usize {
    match (5 * block + 3) % blocks {
        place if place % 4 == 3 => 0,
        place => 4 * count / (place + 1),
    }
}

/// Blocks of such lengths, which lie apart, the last one first.
fn heavy_tailed_vectors(size: usize, count: usize) -> Layout {
    let lengths: Vec<usize> = (0..size).map(|rank| heavy_tailed(rank, size, count)).collect();
    let mut end = 0;
    let mut places: Vec<usize> = lengths
        .iter()
        .rev()
        .map(|length| {
            end += length + 1;
            end - length
        })
        .collect();
    places.reverse();
    Layout::of_vectors(lengths).sent_from(places.clone()).received_at(places)
}

/// Hosts of 1, 2, 3 ranks and so on, as many as there are.
fn unequal_hosts(size: usize) -> Option<Hosts> {
    let (mut numbers, mut left) = (Vec::new(), size);
    while left > 0 {
        let ranks = left.min(numbers.len() + 1);
        numbers.push(ranks);
        left -= ranks;
    }
    Hosts::with_ranks(&numbers, false)
}
