//! Where the fields of a trace event lie, as the kernel describes them.
//!
//! ```text
//! name: block_rq_complete
//! ID: 2107
//! format:
//!         field:dev_t dev;        offset:8;       size:4; signed:0;
//! ```

/// A field of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub offset: usize,
    pub size: usize,
}

/// The fields of a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields<'a> {
    named: Vec<(&'a str, Field)>,
    id: Option<u64>,
}

impl<'a> Fields<'a> {
    /// Reads a description; lines about anything else are passed over.
    pub(super) fn parse(text: &'a str) -> Fields<'a> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"));
        Fields {
            named: text.lines().filter_map(field).collect(),
            id: id.and_then(|id| id.trim().parse().ok()),
        }
    }

    /// The number that events of this kind bear.
    pub(super) fn id(&self) -> Option<u64> {
        self.id
    }

    /// The field of this name.
    pub(super) fn find(&self, name: &str) -> Option<Field> {
        let mut named = self.named.iter();
        named.find(|(one, _)| *one == name).map(|(_, field)| *field)
    }
}

/// `field:char comm[16]; offset:44; size:16; signed:0;`
fn field(line: &str) -> Option<(&str, Field)> {
    let mut words = line.trim().strip_prefix("field:")?.split(';');
    let declared = words.next()?;
    let name = declared.rsplit(' ').next()?;
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let mut value = |key: &str| -> Option<usize> {
        let word = words.next()?.trim().strip_prefix(key)?;
        word.trim_start_matches(':').parse().ok()
    };
    Some((
        name,
        Field {
            offset: value("offset")?,
            size: value("size")?,
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "name: block_rq_issue\nID: 2104\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n\
            \tfield:broken\n\nprint fmt: \"%d\", REC->dev\n";
        let fields = Fields::parse(text);
        let at = |offset, size| Some(Field { offset, size });
        assert_eq!(fields.id(), Some(2_104));
        assert_eq!(fields.find("common_type"), at(0, 2));
        assert_eq!(fields.find("comm"), at(44, 16));
        assert_eq!(fields.find("broken"), None);
    }
}
