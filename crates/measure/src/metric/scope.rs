//! What rows of `samples.csv` are about.

/// What a row of `samples.csv` is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowScope {
    /// All databases together, and the host.
    Total,
    /// One database.
    Database,
    /// One kind of operation, all databases together.
    Operation,
    /// One block device.
    Device,
    /// A controller of a modelled array.
    ArrayController,
    /// A volume of a modelled array.
    ArrayVolume,
    /// A pool of a modelled array.
    ArrayPool,
    /// A disk group of a modelled array.
    ArrayGroup,
    /// A disk of a modelled array.
    ArrayDisk,
}

impl RowScope {
    /// Every scope.
    pub const ALL: [RowScope; 9] = [
        RowScope::Total,
        RowScope::Database,
        RowScope::Operation,
        RowScope::Device,
        RowScope::ArrayController,
        RowScope::ArrayVolume,
        RowScope::ArrayPool,
        RowScope::ArrayGroup,
        RowScope::ArrayDisk,
    ];

    /// Word in the `scope` column.
    pub fn name(self) -> &'static str {
        match self {
            RowScope::Total => "total",
            RowScope::Database => "database",
            RowScope::Operation => "operation",
            RowScope::Device => "device",
            RowScope::ArrayController => "array-controller",
            RowScope::ArrayVolume => "array-volume",
            RowScope::ArrayPool => "array-pool",
            RowScope::ArrayGroup => "array-group",
            RowScope::ArrayDisk => "array-disk",
        }
    }
}
