//! Which database a transaction works on.

use std::cell::RefCell;

/// How the transactions of a load are divided over its databases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Division {
    /// Whether each session works on one database only. Otherwise sessions go round.
    pub keeps_database: bool,
    /// The weight of each database; empty: all the same.
    pub weights: Vec<f64>,
}

impl Division {
    /// The same for some of the databases.
    #[must_use]
    pub fn of(&self, databases: &[usize]) -> Self {
        let weights = databases.iter().filter_map(|&one| self.weights.get(one));
        Self {
            keeps_database: self.keeps_database,
            weights: weights.copied().collect(),
        }
    }

    /// The share of these databases in the load of all `count`.
    #[must_use]
    pub fn share_of(&self, databases: &[usize], count: usize) -> f64 {
        if self.weights.is_empty() {
            return databases.len() as f64 / count as f64;
        }
        let all: f64 = self.weights.iter().sum();
        self.of(databases).weights.iter().sum::<f64>() / all
    }
}

/// Deals databases to transactions.
#[derive(Debug)]
pub struct Turns {
    division: Division,
    databases: usize,
    /// How far each database is behind its share, in weights.
    behind: RefCell<Vec<f64>>,
}

impl Turns {
    /// Turns over so many databases.
    #[must_use]
    pub fn new(division: Division, databases: usize) -> Self {
        Self {
            behind: RefCell::new(vec![0.0; division.weights.len()]),
            division,
            databases,
        }
    }

    /// The database for the transaction number `turn` of the session number `session`. By weights it is the
    /// one that is furthest behind its share, so that transactions are spread evenly.
    #[must_use]
    pub fn database(&self, session: usize, turn: usize) -> usize {
        if self.division.keeps_database {
            return session % self.databases;
        }
        let weights = &self.division.weights;
        if weights.is_empty() {
            return turn % self.databases;
        }
        let mut behind = self.behind.borrow_mut();
        let mut first = 0;
        for (number, weight) in weights.iter().enumerate() {
            behind[number] += weight;
            if behind[number] > behind[first] {
                first = number;
            }
        }
        behind[first] -= weights.iter().sum::<f64>();
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(division: Division, databases: usize, sessions: usize) -> Vec<usize> {
        let turns = Turns::new(division, databases);
        let mut counts = vec![0; databases];
        for turn in 0..1_200 {
            for session in 0..sessions {
                counts[turns.database(session, session + turn)] += 1;
            }
        }
        counts
    }

    #[test]
    fn all_get_the_same_unless_weights_say_otherwise() {
        assert_eq!(counts(Division::default(), 3, 2), [800, 800, 800]);
        let weighted = Division {
            weights: vec![1.0, 2.0, 3.0],
            ..Division::default()
        };
        assert_eq!(counts(weighted.clone(), 3, 1), [200, 400, 600]);
        assert_eq!(weighted.share_of(&[0, 2], 3), 4.0 / 6.0);
        assert_eq!(weighted.of(&[2]).weights, [3.0]);
    }

    #[test]
    fn a_session_that_keeps_its_database_uses_no_other() {
        let keeps = Division {
            keeps_database: true,
            ..Division::default()
        };
        assert_eq!(counts(keeps, 3, 4), [2_400, 1_200, 1_200]);
    }
}
