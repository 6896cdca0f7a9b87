//! How long the arm takes: the curve `a + b sqrt(d)` while it accelerates and brakes, `c + e d`
//! once it coasts (Ruemmler and Wilkes, IEEE Computer 1994), fitted to the three numbers of a data
//! sheet, or a measured table, linear between its rows.

use config::settings;

settings! {
    /// Seek times of a data sheet, for one direction, settling included.
    #[derive(Copy)]
    pub struct SeekTimes {
        /// To the next track.
        pub single_track_ms: f64;
        /// Mean over all pairs of different tracks.
        pub average_ms: f64;
        /// From the first track to the last.
        pub full_stroke_ms: f64;
    }
}

/// The two-piece curve; times in milliseconds, distances in tracks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeekCurve {
    /// Constant of the first piece.
    pub a: f64,
    /// Factor of the square root.
    pub b: f64,
    /// Constant of the second piece.
    pub c: f64,
    /// Slope of the second piece.
    pub e: f64,
    /// Distance at which the pieces meet, in value and in slope.
    pub switch_tracks: f64,
}

impl SeekCurve {
    /// Fits the curve for an arm with `tracks` positions. Single track and full stroke are met
    /// exactly, the pieces meet in value and slope, and where they meet is chosen for the average.
    ///
    /// # Errors
    ///
    /// The averages that a curve of this form can have between these ends, when the one asked for
    /// lies outside.
    pub fn fit(times: &SeekTimes, tracks: u32) -> Result<Self, (f64, f64)> {
        let longest = f64::from(tracks.max(3) - 1);
        let through = |switch_tracks: f64| Self::through_ends(times, longest, switch_tracks);
        let (mut low, mut high) = (1.0_f64, longest);
        let (least, most) = (through(low).mean(longest), through(high).mean(longest));
        if !(least..=most).contains(&times.average_ms) {
            return Err((least, most));
        }
        // The later the pieces meet, the more the curve bends and the higher its mean.
        for _ in 0..200 {
            let middle = (low * high).sqrt();
            if through(middle).mean(longest) < times.average_ms {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(through((low * high).sqrt()))
    }

    /// The curve through both ends whose pieces meet at `switch_tracks`. With `e = b / (2 sqrt D)`
    /// (slopes) and `c = a + b sqrt(D) / 2` (values), the full stroke leaves `b` alone unknown.
    fn through_ends(times: &SeekTimes, longest: f64, switch_tracks: f64) -> Self {
        let root = switch_tracks.sqrt();
        let rise = times.full_stroke_ms - times.single_track_ms;
        let b = rise / (root / 2.0 + longest / (2.0 * root) - 1.0);
        let a = times.single_track_ms - b;
        Self {
            a,
            b,
            c: a + b * root / 2.0,
            e: b / (2.0 * root),
            switch_tracks,
        }
    }

    /// Time to seek over `tracks`, milliseconds; nothing for no distance.
    pub fn time_ms(&self, tracks: f64) -> f64 {
        if tracks <= 0.0 {
            0.0
        } else if tracks <= self.switch_tracks {
            self.a + self.b * tracks.sqrt()
        } else {
            self.c + self.e * tracks
        }
    }

    /// Mean over all pairs of different tracks when the longest distance is `longest`: distance d
    /// occurs with weight `longest + 1 - d`, as drive manuals define it. The sum over whole
    /// distances is taken as an integral from half a track below the first to half above the last.
    fn mean(&self, longest: f64) -> f64 {
        let tracks = longest + 1.0;
        // Antiderivative of (tracks - x)(constant + root sqrt(x) + slope x).
        let integral = |constant: f64, root: f64, slope: f64, x: f64| {
            tracks * (constant * x + root * x.powf(1.5) / 1.5 + slope * x * x / 2.0)
                - (constant * x * x / 2.0 + root * x.powf(2.5) / 2.5 + slope * x.powi(3) / 3.0)
        };
        let (first, last) = (0.5, longest + 0.5);
        let meet = self.switch_tracks.clamp(first, last);
        let bent = integral(self.a, self.b, 0.0, meet) - integral(self.a, self.b, 0.0, first);
        let straight = integral(self.c, 0.0, self.e, last) - integral(self.c, 0.0, self.e, meet);
        (bent + straight) * 2.0 / (tracks * longest)
    }
}

settings! {
    /// One measured row of a seek table.
    #[derive(Copy)]
    pub struct SeekRow {
        /// Distance in tracks, ascending from row to row.
        pub tracks: u32;
        /// Seek time of a read.
        pub time_ms: f64;
    }
}

/// Time over `tracks` by a measured table, linear between rows and along the last rows beyond
/// them. The rows ascend and there are at least two.
pub(super) fn table_time_ms(rows: &[SeekRow], tracks: u32) -> f64 {
    if tracks == 0 {
        return 0.0;
    }
    let after = rows.partition_point(|row| row.tracks < tracks);
    let after = after.clamp(1, rows.len() - 1);
    let (low, high) = (rows[after - 1], rows[after]);
    let slope = (high.time_ms - low.time_ms) / f64::from(high.tracks - low.tracks);
    (low.time_ms + slope * (f64::from(tracks) - f64::from(low.tracks))).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_mean(curve: &SeekCurve, tracks: u32) -> f64 {
        let longest = f64::from(tracks - 1);
        let sum: f64 = (1..tracks)
            .map(|d| (f64::from(tracks) - f64::from(d)) * curve.time_ms(f64::from(d)))
            .sum();
        sum * 2.0 / (f64::from(tracks) * longest)
    }

    fn fit(single: f64, average: f64, full: f64, tracks: u32) -> SeekCurve {
        let times = SeekTimes {
            single_track_ms: single,
            average_ms: average,
            full_stroke_ms: full,
        };
        SeekCurve::fit(&times, tracks).unwrap()
    }

    #[test]
    fn coefficients_are_those_of_the_published_fits() {
        // a, b, c, e, D for a 10K 2.5" drive (reads, writes) and a 7.2K 2.5" drive.
        let fits = [
            (
                fit(0.30, 3.81, 7.81, 147_620),
                [0.283, 0.01665, 2.064, 3.892e-5, 45_762.0],
            ),
            (
                fit(0.56, 4.40, 8.18, 147_620),
                [0.541, 0.01874, 3.088, 3.450e-5, 73_810.0],
            ),
            (
                fit(0.23, 7.51, 17.06, 165_800),
                [0.199, 0.03086, 3.009, 8.474e-5, 33_160.0],
            ),
        ];
        for (curve, published) in fits {
            let fitted = [curve.a, curve.b, curve.c, curve.e, curve.switch_tracks];
            for (mine, theirs) in fitted.into_iter().zip(published) {
                // The averages are published to three figures; D depends on them the most.
                assert!(
                    (mine / theirs - 1.0).abs() < 0.05,
                    "{fitted:?} {published:?}"
                );
            }
        }
    }

    #[test]
    fn the_fit_meets_the_sheet_and_the_pieces_meet() {
        for (single, average, full, tracks) in [
            (0.30, 3.8, 7.81, 147_620),
            (0.2, 3.6, 7.4, 31_310),
            (0.23, 7.5, 17.06, 165_800),
            (0.4, 2.0, 4.0, 500),
        ] {
            let curve = fit(single, average, full, tracks);
            let d = curve.switch_tracks;
            assert!((curve.time_ms(1.0) - single).abs() < 1e-9);
            assert!((curve.time_ms(f64::from(tracks - 1)) - full).abs() < 1e-9);
            assert!((sum_mean(&curve, tracks) / average - 1.0).abs() < 2e-4);
            assert!((curve.a + curve.b * d.sqrt() - curve.c - curve.e * d).abs() < 1e-9);
            assert!((curve.b / (2.0 * d.sqrt()) - curve.e).abs() < 1e-12);
        }
    }

    #[test]
    fn mean_seeks_by_share_of_stroke_are_the_published_ones() {
        let curve = fit(0.30, 3.81, 7.81, 147_620);
        for (share, mean) in [
            (1.0, 3.81),
            (0.5, 2.70),
            (0.25, 1.99),
            (0.10, 1.36),
            (0.06, 1.12),
            (0.05, 1.05),
        ] {
            let measured = sum_mean(&curve, (147_620.0 * share) as u32);
            assert!((measured - mean).abs() < 0.015, "{share}: {measured}");
        }
    }

    #[test]
    fn an_average_no_curve_can_have_is_refused_with_the_range() {
        let times = SeekTimes {
            single_track_ms: 0.3,
            average_ms: 7.0,
            full_stroke_ms: 7.8,
        };
        let (least, most) = SeekCurve::fit(&times, 100_000).unwrap_err();
        assert!((2.7..2.9).contains(&least) && (4.2..4.4).contains(&most));
    }

    #[test]
    fn a_table_is_linear_between_its_rows() {
        let rows = [(1, 0.8), (100, 2.0), (1_000, 5.0)]
            .map(|(tracks, time_ms)| SeekRow { tracks, time_ms });
        assert_eq!(table_time_ms(&rows, 0), 0.0);
        assert_eq!(table_time_ms(&rows, 1), 0.8);
        assert_eq!(table_time_ms(&rows, 100), 2.0);
        assert!((table_time_ms(&rows, 550) - 3.5).abs() < 1e-12);
        assert!((table_time_ms(&rows, 1_900) - 8.0).abs() < 1e-12);
    }
}
