//! Rules of what a calibration left in a description.

use super::Expansion;
use crate::description::keys::SETS_MAX;

impl Expansion<'_> {
    /// Refuses parameter sets that are no values of the parameters.
    pub fn check_calibration(&mut self) {
        let keys = &self.document.settings.calibration;
        if keys.sets.len() > SETS_MAX {
            let message = format!("a calibration has at most {SETS_MAX} of these");
            self.report("calibration.sets", message, None);
        }
        let wanted = keys.parameters.len();
        let mut lengths = keys.sets.iter().map(Vec::len);
        if let Some(number) = lengths.position(|length| length != wanted) {
            let message = format!(
                "each has a value for each of the {wanted} parameters, and this one has {}",
                keys.sets[number].len()
            );
            let help = "write the list that proofload calibrate wrote";
            self.report(&format!("calibration.sets.{number}"), message, Some(help));
        }
        let is_own = |path: &str| path.starts_with("disks.") || path.starts_with("controllers.");
        let foreign = keys.parameters.iter().position(|path| !is_own(path));
        if let Some(number) = foreign {
            let path = format!("calibration.parameters.{number}");
            let message = "a calibration fits numbers of [disks] and [controllers]";
            self.report(&path, message, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::description::{Description, TracedVolume, one_disk};
    use config::Source;

    fn load(calibration: &str) -> Result<Description, String> {
        let mut sources = one_disk("ssd-sata-mlc-256gb").expect("a bundled disk");
        sources.push(Source::file("my.toml", calibration));
        let description = Description::load(&sources).map_err(|error| error.to_string())?;
        let volume = TracedVolume {
            name: "probe".to_owned(),
            reach_bytes: 1 << 20,
        };
        let planned = description.plan_for_trace(&[volume], None, None);
        planned.map_err(|error| error.to_string())?;
        Ok(description)
    }

    #[test]
    fn sets_are_values_of_their_parameters() {
        let description = load(
            "[calibration]\nparameters = ['disks.a.b', 'disks.c']\nsets = [[1, 2.5], [3, 4]]\n",
        );
        let description = description.unwrap();
        let sets: Vec<_> = description.parameter_sets().collect();
        assert_eq!(
            sets,
            [
                [("disks.a.b", 1.0), ("disks.c", 2.5)],
                [("disks.a.b", 3.0), ("disks.c", 4.0)]
            ]
        );
        assert_eq!(description.calibration().unwrap().parameters.len(), 2);
        assert!(load("").unwrap().calibration().is_none());
    }

    #[test]
    fn sets_that_are_none_are_refused() {
        for (wrong, said) in [
            (
                "parameters = ['disks.a']\nsets = [[1], [1, 2]]",
                "this one has 2",
            ),
            (
                "parameters = ['volumes.raid']\nsets = [[1]]",
                "fits numbers of [disks]",
            ),
            ("rate_ratios = [1, 0]", "0.001"),
        ] {
            let loaded = load(&format!("[calibration]\n{wrong}\n"));
            let error = loaded.map(|_| wrong).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
