//! What rows of `samples.csv` are about.

/// Declares the scopes with their words in the `scope` column.
macro_rules! row_scopes {
    ($($(#[$about:meta])* $name:ident $word:literal,)*) => {
        /// What a row of `samples.csv` is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum RowScope {
            $($(#[$about])* $name,)*
        }

        impl RowScope {
            /// Every scope, in the order of the enum.
            pub const ALL: &[RowScope] = &[$(RowScope::$name,)*];

            /// Word in the `scope` column.
            pub fn name(self) -> &'static str {
                match self { $(RowScope::$name => $word,)* }
            }
        }
    };
}

row_scopes! {
    /// All databases together, and the host.
    Total "total",
    /// One database, with its log.
    Database "database",
    /// One kind of operation, all databases together.
    Operation "operation",
    /// One block device of the host.
    Device "device",
    /// A controller of a modelled array.
    ArrayController "array-controller",
    /// A volume of a modelled array.
    ArrayVolume "array-volume",
    /// A pool of a modelled array.
    ArrayPool "array-pool",
    /// A disk group of a modelled array.
    ArrayGroup "array-group",
    /// A disk of a modelled array.
    ArrayDisk "array-disk",
}
