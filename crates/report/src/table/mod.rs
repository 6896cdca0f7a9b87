//! Tables that are the same in the terminal and on the page: heads with units, cells of text.

mod array;
mod checks;
mod databases;
mod device_messages;
mod error_bars;
mod events;
mod host;
mod integrity;
mod operations;
mod ranks;
mod replay;
mod tuning;

pub use array::{
    array_controllers_table, array_disks_table, array_groups_table, array_pools_table,
    array_volumes_table,
};
pub use checks::{
    CheckGroup, check_groups, checks_table, grouped_checks_table, is_of_mix, mix_group,
};
pub(crate) use checks::{MIX, limit_text, measured_text, measured_value};
pub use databases::{Detail, databases_table};
pub use device_messages::{health_table, kernel_messages_table};
pub use error_bars::{error_bars_sentence, error_bars_table};
pub use events::events_table;
pub use host::{counters_table, devices_table};
pub use integrity::{error_counts_table, verification_table};
pub use measure::display::{Cell, Column, Table};
pub use operations::{operations_table, phases_table, traffic_table};
pub use ranks::ranks_table;
pub use replay::{demerit_table, replay_sentence};
pub use tuning::{curve_table, short_steps_table, tuning_table};
