//! The order in which the slots of a disk group are taken.

/// Takes slots in ascending order, or the first of them scattered: each next one a constant step
/// further, round and round, with a step near the golden ratio, so that however many are taken they
/// lie evenly over all that are scattered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    /// Slots that are scattered; the others follow in ascending order.
    scattered: u64,
    step: u64,
    /// `step * back` is 1 modulo `scattered`.
    back: u64,
}

impl Order {
    /// An order that scatters the first `scattered` slots.
    pub(crate) fn new(scattered: u32) -> Self {
        let scattered = u64::from(scattered);
        let golden = (scattered as f64 * 0.618_033_988_749_895) as u64;
        let mut step = golden.max(1);
        let back = loop {
            match inverse(step, scattered) {
                Some(back) => break back,
                None => step += 1,
            }
        };
        Self {
            scattered,
            step,
            back,
        }
    }

    /// The slot that is taken as number `place`.
    pub(crate) fn slot(self, place: u32) -> u32 {
        self.turned(place, self.step)
    }

    /// The number of `slot` in the order.
    pub(crate) fn place(self, slot: u32) -> u32 {
        self.turned(slot, self.back)
    }

    fn turned(self, number: u32, by: u64) -> u32 {
        let number = u64::from(number);
        if number >= self.scattered {
            return number as u32;
        }
        (number * by % self.scattered) as u32
    }
}

/// The number that `value` is multiplied with to give 1 modulo `modulus`, if there is one: Euclid's
/// algorithm, extended.
fn inverse(value: u64, modulus: u64) -> Option<u64> {
    if modulus <= 1 {
        return Some(1);
    }
    let (mut rest, mut next) = (modulus as i64, (value % modulus) as i64);
    let (mut factor, mut next_factor) = (0_i64, 1_i64);
    while next != 0 {
        let quotient = rest / next;
        (rest, next) = (next, rest - quotient * next);
        (factor, next_factor) = (next_factor, factor - quotient * next_factor);
    }
    (rest == 1).then(|| factor.rem_euclid(modulus as i64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_taken_once_and_known_again() {
        for scattered in [0, 1, 2, 3, 10, 97, 1000, 65_536] {
            let order = Order::new(scattered);
            let mut seen = vec![false; scattered as usize + 5];
            for place in 0..scattered + 5 {
                let slot = order.slot(place);
                assert!(
                    !std::mem::replace(&mut seen[slot as usize], true),
                    "{scattered}: {slot}"
                );
                assert_eq!(order.place(slot), place, "{scattered}");
            }
        }
    }

    #[test]
    fn any_number_of_slots_lies_evenly() {
        let order = Order::new(10_000);
        for taken in [100, 1000, 5000] {
            let mut tenths = [0_u32; 10];
            for place in 0..taken {
                tenths[order.slot(place) as usize / 1000] += 1;
            }
            let fair = f64::from(taken) / 10.0;
            for count in tenths {
                assert!(
                    (f64::from(count) - fair).abs() <= 3.0,
                    "{taken}: {tenths:?}"
                );
            }
        }
    }
}
