//! What somebody may have meant by a name that does not exist.

use crate::shape::Table;

/// The nearest of `names`, if one is near.
pub(crate) fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| name)
}

/// `noun` behind "a" or "an".
pub(crate) fn with_article(noun: &str) -> String {
    let article = match noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => "an",
        false => "a",
    };
    format!("{article} {noun}")
}

/// A declared setting or section by its dotted path.
struct Known {
    path: String,
    former: &'static str,
    is_section: bool,
}

impl Known {
    fn parent(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(parent, _)| parent)
    }

    fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }
}

fn collect(table: &Table, prefix: &str, known: &mut Vec<Known>) {
    for field in &table.fields {
        let path = match prefix {
            "" => field.key.to_owned(),
            prefix => format!("{prefix}.{}", field.key),
        };
        let inner = field.shape.table();
        known.push(Known {
            path: path.clone(),
            former: field.former,
            is_section: inner.is_some(),
        });
        if let Some(inner) = inner {
            let is_named = matches!(field.shape, crate::shape::Shape::Named(_));
            let path = if is_named {
                format!("{path}.NAME")
            } else {
                path
            };
            collect(&inner, &path, known);
        }
    }
}

/// Help for the key `key` of the table at the declared path `parent`, which has none of that name.
/// Tables without a single path are spoken of by their keys alone.
pub(crate) fn for_unknown(root: &Table, parent: &str, key: &str, has_path: bool) -> String {
    let mut known = Vec::new();
    collect(root, "", &mut known);
    let renamed = |one: &&Known| one.former == key && one.parent() == parent;
    if let Some(found) = known.iter().find(renamed) {
        return format!("'{key}' was renamed: write '{}'", found.key());
    }
    let elsewhere = known.iter().find(|one| !one.is_section && one.key() == key);
    if let Some(found) = elsewhere {
        let section = match found.parent() {
            "" => "the top",
            section => section,
        };
        return format!("'{key}' belongs in [{section}]: {}", found.path);
    }
    let joined = match parent {
        "" => key.to_owned(),
        parent => format!("{parent}.{key}"),
    };
    let distance = |one: &Known| {
        let whole = strsim::damerau_levenshtein(&joined, &one.path);
        let part = strsim::damerau_levenshtein(key, one.key());
        whole.min(part + usize::from(one.parent() != parent))
    };
    let near = known
        .iter()
        .map(|one| (distance(one), &one.path, one))
        .filter(|(distance, ..)| *distance <= 1 + key.len() / 4)
        .min_by_key(|(distance, path, _)| (*distance, *path));
    if let Some((_, path, one)) = near {
        let name = match one.parent() == parent && !has_path {
            true => one.key(),
            false => path,
        };
        return format!("did you mean '{name}'?");
    }
    all_names(&known, parent)
}

/// The names there are in the table at `parent`.
fn all_names(known: &[Known], parent: &str) -> String {
    let own = |is_section: bool| -> Vec<&str> {
        let own = known.iter().filter(|one| one.parent() == parent);
        let own = own.filter(|one| one.is_section == is_section);
        own.map(Known::key).collect()
    };
    let settings = own(false).join(", ");
    let tables = match parent {
        "" => {
            let sections = known.iter().filter(|one| one.is_section);
            let sections: Vec<&str> = sections.map(|one| one.path.as_str()).collect();
            sections.join(", ")
        }
        _ => own(true).join(", "),
    };
    match (settings.is_empty(), tables.is_empty()) {
        (true, true) => "nothing may be written here".to_owned(),
        (true, false) => format!("the sections are {tables}"),
        (false, true) => format!("its settings are {settings}"),
        (false, false) => format!("its settings are {settings}; the sections are {tables}"),
    }
}
