//! Whether measured skews give the heads and the arm the time that they need.

use super::description::HardDiskDescription;
use super::mechanics::seeks;
use super::rotation::Rotation;

impl HardDiskDescription {
    /// What a reader of the figures must know of measured skews that are too short, as sentences: a stream
    /// then loses a turn at every track or cylinder, which no drive is made to do.
    pub(crate) fn short_skews(&self) -> Vec<String> {
        let turn_ms = Rotation::new(self.rpm).turn_ns() / 1e6;
        let Some(seeks) = seeks(self) else {
            return Vec::new();
        };
        let (switch_ms, seek_ms) = (self.head_switch_ms, (seeks.read_ms)(1));
        let mut sentences = Vec::new();
        for (number, zone) in self.zones.iter().enumerate() {
            let mut note = |skew: Option<u32>, needed_ms: f64, what: &str, needs: &str| {
                let Some(skew) = skew else { return };
                let given_ms = turn_ms * f64::from(skew) / f64::from(zone.sectors_per_track);
                // What one sector takes may be lost to rounding.
                let sector_ms = turn_ms / f64::from(zone.sectors_per_track);
                if given_ms + sector_ms < needed_ms {
                    sentences.push(format!(
                        "Zone {} has a {what} skew of {given_ms:.2} ms, and {needs} takes {needed_ms:.2} ms: a stream \
                         loses a turn each time.",
                        number + 1
                    ));
                }
            };
            note(
                zone.track_skew_sectors,
                switch_ms,
                "track",
                "a switch of heads",
            );
            note(
                zone.cylinder_skew_sectors,
                seek_ms,
                "cylinder",
                "a single-track seek",
            );
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::super::description::MeasuredZone;
    use super::super::tests::savvio;
    use super::*;

    #[test]
    fn skews_that_are_too_short_are_named() {
        let zone = |track, cylinder| HardDiskDescription {
            head_switch_ms: 0.6,
            zones: vec![MeasuredZone {
                cylinders: 10,
                sectors_per_track: 1_000,
                track_skew_sectors: track,
                cylinder_skew_sectors: cylinder,
            }],
            ..savvio()
        };
        let turn_ms = 60_000.0 / f64::from(savvio().rpm);
        let sectors = |ms: f64| Some((ms / turn_ms * 1_000.0) as u32);
        assert_eq!(zone(None, None).short_skews(), Vec::<String>::new());
        assert_eq!(
            zone(sectors(0.6), sectors(4.0)).short_skews(),
            Vec::<String>::new()
        );
        let short = zone(sectors(0.3), sectors(0.1)).short_skews();
        assert_eq!(short.len(), 2, "{short:?}");
        assert!(
            short[0].contains("track skew of 0.29 ms") && short[0].contains("0.60 ms"),
            "{short:?}"
        );
        assert!(short[1].contains("single-track seek"), "{short:?}");
    }
}
