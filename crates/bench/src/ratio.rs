//! Pairs of figures measured in turn, and the median of their ratios.

/// The figure of Proofload and of the peer, one pair per round.
pub struct Pairs {
    name: &'static str,
    unit: &'static str,
    goal: Goal,
    pairs: Vec<(f64, f64)>,
}

/// What the ratio of ours to the peer's should be.
#[derive(Clone, Copy)]
pub enum Goal {
    /// At least this: more is better.
    AtLeast(f64),
    /// At most this: less is better.
    AtMost(f64),
}

impl Goal {
    fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(limit) => ratio >= limit,
            Self::AtMost(limit) => ratio <= limit,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(limit) => format!(">= {limit}"),
            Self::AtMost(limit) => format!("<= {limit}"),
        }
    }
}

impl Pairs {
    /// A series of pairs, without any yet.
    pub fn new(name: &'static str, unit: &'static str, goal: Goal) -> Self {
        Self {
            name,
            unit,
            goal,
            pairs: Vec::new(),
        }
    }

    /// Adds one pair: our value and the peer's of the same round.
    pub fn add(&mut self, ours: f64, peer: f64) {
        self.pairs.push((ours, peer));
    }

    /// One table row of Markdown: medians, the median ratio with its range, the goal and whether it
    /// is met.
    pub fn row(&self) -> String {
        let ratios: Vec<f64> = self.pairs.iter().map(|(ours, peer)| ours / peer).collect();
        let ratio = median(&ratios);
        let (least, most) = ratios
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), &r| {
                (low.min(r), high.max(r))
            });
        let ours = median(&self.pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
        let peer = median(&self.pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
        format!(
            "| {} | {} {unit} | {} {unit} | **{ratio:.2}** ({least:.2} to {most:.2}, {} rounds) | {} | {} |",
            self.name,
            figure(ours),
            figure(peer),
            self.pairs.len(),
            self.goal.text(),
            if self.goal.is_met(ratio) {
                "met"
            } else {
                "**missed**"
            },
            unit = self.unit,
        )
    }
}

/// The head of the table that [`Pairs::row`] fills.
pub const TABLE_HEAD: &str = "| what | Proofload, median | peer, median | ratio | goal | |\n\
                              |---|---:|---:|---|---|---|";

/// The head of that table where the peer is an earlier build.
pub const EARLIER_HEAD: &str = "| what | this build, median | earlier build, median | ratio | goal | |\n\
                                |---|---:|---:|---|---|---|";

fn figure(value: f64) -> String {
    if value >= 1000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// The middle value, or the mean of the middle two. Zero of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
    }

    #[test]
    fn a_row_says_whether_the_goal_is_met() {
        let mut pairs = Pairs::new("reads", "/s", Goal::AtLeast(0.9));
        pairs.add(95.0, 100.0);
        assert!(pairs.row().ends_with("| met |"), "{}", pairs.row());
        pairs.add(10.0, 100.0);
        pairs.add(10.0, 100.0);
        assert!(pairs.row().ends_with("| **missed** |"), "{}", pairs.row());
    }
}
