//! What the kernel and the devices say of the devices under test.

use measure::result::RunResult;

use super::{Cell, Column, Table};
use crate::number::{duration, figure};

/// The kernel's messages during the run; empty without any.
#[must_use]
pub fn kernel_messages_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::number("time", ""),
        Column::text("level"),
        Column::text("message"),
    ]);
    for message in &result.host.kernel_messages {
        let is_error = matches!(
            message.level.as_str(),
            "emergency" | "alert" | "critical" | "error"
        );
        table.push(vec![
            Cell::new(duration(message.at_s)),
            Cell::new(message.level.clone()),
            Cell::new(message.text.clone()).notable_when(is_error),
        ]);
    }
    table
}

/// The health of the devices before and after the run; with `changed` only what is not the same.
#[must_use]
pub fn health_table(result: &RunResult, changed: bool) -> Table {
    let mut table = Table::new(vec![
        Column::text("device"),
        Column::text("figure"),
        Column::number("before", ""),
        Column::number("after", ""),
    ]);
    let value = |value: Option<f64>| value.map_or("-".to_owned(), figure);
    for one in &result.host.health {
        if changed && one.before == one.after {
            continue;
        }
        table.push(vec![
            Cell::new(one.device.clone()),
            Cell::new(one.name.clone()),
            Cell::new(value(one.before)),
            Cell::new(value(one.after)).notable_when(one.is_bad),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{HealthFigure, KernelMessage};

    #[test]
    fn errors_stand_out() {
        let mut result = RunResult::default();
        let message = |level: &str| KernelMessage {
            at_s: 3.0,
            level: level.to_owned(),
            text: "sdb".to_owned(),
        };
        result.host.kernel_messages = vec![message("notice"), message("error")];
        let table = kernel_messages_table(&result);
        let notable: Vec<bool> = table.rows.iter().map(|row| row[2].notable).collect();
        assert_eq!(notable, [false, true]);
        let health = |name: &str, after: Option<f64>| HealthFigure {
            device: "sdb".to_owned(),
            name: name.to_owned(),
            before: Some(2.0),
            after,
            is_bad: after == Some(9.0),
        };
        result.host.health = vec![
            health("same", Some(2.0)),
            health("more", Some(9.0)),
            health("gone", None),
            health("warmer", Some(3.0)),
        ];
        assert_eq!(health_table(&result, false).rows.len(), 4);
        let changed = health_table(&result, true);
        let names: Vec<&str> = changed
            .rows
            .iter()
            .map(|row| row[1].text.as_str())
            .collect();
        assert_eq!(names, ["more", "gone", "warmer"]);
        assert_eq!(changed.rows[1][3].text, "-");
        let notable = changed.rows.iter().map(|row| row[3].notable);
        assert_eq!(notable.collect::<Vec<_>>(), [true, false, false]);
    }
}
