//! What is in each of the next larger thing, level by level: the text and the bounds of [`Torus`](super::Torus),
//! [`Switches`](super::Switches) and [`Dragonfly`](super::Dragonfly).

/// Up to N numbers from 1 to `most`, and 1 for the others; `None` if there are none, too many, or the product is.
pub(super) fn sound<const N: usize>(given: &[usize], most: usize) -> Option<[usize; N]> {
    let mut all = [1; N];
    all.get_mut(..given.len())?.copy_from_slice(given);
    let sound = !given.is_empty() && given.iter().all(|number| (1..=most).contains(number));
    let product = all.iter().try_fold(1usize, |product, number| product.checked_mul(*number));
    (sound && product.is_some()).then_some(all)
}

/// Those up to the last that is not 1, but the first at least.
pub(super) fn used(all: &[usize]) -> &[usize] {
    &all[..=all.iter().rposition(|&number| number > 1).unwrap_or(0)]
}

/// As 8x8x16.
pub(super) fn text(all: &[usize]) -> String {
    used(all).iter().map(usize::to_string).collect::<Vec<String>>().join("x")
}

/// What stands in such a text; `None` if it is none.
pub(super) fn parse(text: &str) -> Option<Vec<usize>> {
    text.split('x').map(|number| number.trim().parse().ok()).collect()
}
