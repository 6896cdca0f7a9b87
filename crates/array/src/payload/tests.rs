use proptest::prelude::*;

use super::galois::{self, POWERS};
use super::{Bytes, Payload};
use crate::SECTOR_BYTES;

fn product_by_the_book(a: u8, b: u8) -> u8 {
    let mut wide = 0u16;
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            wide ^= u16::from(a) << bit;
        }
    }
    for bit in (8..15).rev() {
        if wide >> bit & 1 == 1 {
            wide ^= 0x11d << (bit - 8);
        }
    }
    wide as u8
}

#[test]
fn products_are_those_of_polynomials() {
    for a in 0..=255 {
        for b in 0..=255 {
            assert_eq!(galois::multiply(a, b), product_by_the_book(a, b), "{a} {b}");
        }
    }
}

#[test]
fn every_element_but_zero_has_an_inverse_and_a_logarithm() {
    for element in 1..=255 {
        assert_eq!(galois::multiply(element, galois::inverse(element)), 1);
        let exponent = galois::logarithm(element).unwrap();
        assert!(exponent < POWERS);
        assert_eq!(galois::power(exponent), element);
    }
    assert_eq!(galois::logarithm(0), None);
}

fn sectors_of(pattern: &[u8]) -> Bytes {
    let bytes = pattern
        .iter()
        .flat_map(|&byte| {
            (0..SECTOR_BYTES as usize).map(move |at| byte.wrapping_mul(31).wrapping_add(at as u8))
        })
        .collect();
    Bytes::new(bytes)
}

proptest! {
    #[test]
    fn bulk_products_equal_single_ones(
        sum in prop::collection::vec(any::<u8>(), 1..4),
        coefficient: u8,
    ) {
        let other = sectors_of(&sum);
        let mut target = Bytes::zeroed(other.sectors());
        target.xor_with(&other);
        target.multiply_add(coefficient, &other);
        for (target, &other) in target.as_slice().iter().zip(other.as_slice()) {
            prop_assert_eq!(*target, other ^ galois::multiply(coefficient, other));
        }
        let mut multiplied = other.clone();
        multiplied.multiply(coefficient);
        multiplied.xor_with(&other);
        prop_assert_eq!(multiplied, target);
    }

    #[test]
    fn parts_and_overlays_agree(pattern in prop::collection::vec(any::<u8>(), 2..8), at in 0u32..7) {
        let whole = sectors_of(&pattern);
        let at = at.min(whole.sectors() - 1);
        let tail = whole.part(at, whole.sectors() - at);
        let mut copy = Bytes::zeroed(whole.sectors());
        copy.overlay(0, &whole.part(0, at));
        copy.overlay(at, &tail);
        prop_assert_eq!(&copy, &whole);
        copy.xor_at(at, &tail);
        prop_assert!(copy.part(at, tail.sectors()).as_slice().iter().all(|&byte| byte == 0));
        prop_assert_eq!(copy.part(0, at), whole.part(0, at));
    }
}

#[test]
fn zeros_stay_a_length_until_something_else_is_put_in() {
    let zeros = Bytes::zeroed(8);
    let mut sum = zeros.clone();
    sum.xor_with(&zeros);
    sum.multiply_add_at(4, 3, &Bytes::zeroed(2));
    sum.overlay(2, &zeros.part(1, 4));
    sum.multiply(7);
    assert!(sum.is_zeros() && zeros.part(3, 5).is_zeros());
    let some = sectors_of(&[5, 6]);
    sum.multiply_add_at(3, 9, &some);
    assert!(!sum.is_zeros());
    let mut expected = some.clone();
    expected.multiply(9);
    assert_eq!(sum.part(3, 2), expected);
    assert_eq!(sum.part(0, 3), Bytes::zeroed(3));
    sum.overlay(3, &Bytes::zeroed(2));
    assert_eq!(sum, zeros, "zeros that are kept as bytes");
    sum.overlay(0, &zeros);
    assert!(sum.is_zeros());
    let mut whole = Bytes::zeroed(2);
    whole.multiply_add(9, &some);
    assert_eq!(whole, expected);
}
