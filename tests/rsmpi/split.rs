//! Groups, and communicators of them.

use super::moved;
use mpi::collective::SystemOperation;
use mpi::topology::{Color, GroupRelation, SystemGroup};
use mpi::traits::*;

pub fn split() {
    let world = moved();
    let odd: Vec<_> = (0..world.size()).filter(|rank| rank % 2 == 1).collect();
    let odd_group = world.group().include(&odd[..]);
    let even_group = world.group().difference(&odd_group);
    let is_odd = odd_group.rank().is_some();
    assert_eq!(is_odd, even_group.rank().is_none());
    let mine = if is_odd { &odd_group } else { &even_group };

    let half = world.split_by_subgroup_collective(mine).unwrap().unwrap();
    assert_eq!(half.group().compare(mine), GroupRelation::Identical);
    let empty = SystemGroup::empty();
    let of_odd = match is_odd {
        true => world.split_by_subgroup_collective(&odd_group),
        false => world.split_by_subgroup_collective(&empty),
    };
    assert_eq!(of_odd.unwrap().is_some(), is_odd);
    if !is_odd {
        let of_even = world.split_by_subgroup(&even_group).unwrap().unwrap();
        assert_eq!(of_even.group().compare(&even_group), GroupRelation::Identical);
        assert!(world.split_by_subgroup(&odd_group).unwrap().is_none());
    }
    let half = world.split_by_color(Color::with_value(world.rank() % 2)).unwrap().unwrap();
    assert_eq!(half.group().compare(mine), GroupRelation::Identical);
    let color = if is_odd { Color::with_value(0) } else { Color::undefined() };
    assert_eq!(world.split_by_color(color).unwrap().is_some(), is_odd);

    // What a split gives has this library's collectives, too.
    let mut sum = 0;
    half.all_reduce_into(&world.rank(), &mut sum, SystemOperation::sum()).unwrap();
    assert_eq!(sum, (0..world.size()).filter(|rank| (rank % 2 == 1) == is_odd).sum());
    assert_eq!(half.last().map(|last| last.collective), Some(hypercoll::collective::Collective::AllReduce));
    let backwards = world.split_by_color_with_key(Color::with_value(0), -world.rank()).unwrap().unwrap();
    assert_eq!(backwards.rank(), world.size() - 1 - world.rank());
    let again = world.duplicate().unwrap();
    again.barrier().unwrap();
    assert_eq!(
        (again.rank(), again.size(), world.split_shared(0).unwrap().size()),
        (world.rank(), world.size(), world.size())
    );
}
