//! What comes with an option.

use super::fields::Fields;

/// The only context that is served: what has space.
pub(super) const ALLOCATION: &[u8] = b"base:allocation";
/// All contexts of the name space of the protocol, where they are listed.
const BASE: &[u8] = b"base:";

/// Of `NBD_OPT_INFO` and `NBD_OPT_GO`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExportQuery<'a> {
    pub name: &'a [u8],
    pub infos: Vec<u16>,
}

impl<'a> ExportQuery<'a> {
    /// `None` if it has another form.
    pub fn parse(data: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(data);
        let name = fields.text()?;
        let count = fields.u16()?;
        let infos = (0..count)
            .map(|_| fields.u16())
            .collect::<Option<Vec<u16>>>()?;
        fields.is_empty().then_some(Self { name, infos })
    }
}

/// Of `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ContextQuery<'a> {
    pub name: &'a [u8],
    pub queries: Vec<&'a [u8]>,
}

impl<'a> ContextQuery<'a> {
    /// `None` if it has another form.
    pub fn parse(data: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(data);
        let name = fields.text()?;
        let count = fields.u32()?;
        // Each takes four bytes at least, so a count that is too high ends it early.
        let mut queries = Vec::new();
        for _ in 0..count {
            queries.push(fields.text()?);
        }
        fields.is_empty().then_some(Self { name, queries })
    }

    /// Whether it asks for the context of what has space, to be used or to be listed.
    pub fn asks_for_allocation(&self, lists: bool) -> bool {
        let asks = |query: &&[u8]| *query == ALLOCATION || (lists && *query == BASE);
        (lists && self.queries.is_empty()) || self.queries.iter().any(asks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
    }

    #[test]
    fn queries_for_exports_have_one_form() {
        let data = [&text(b"one")[..], &[0, 2, 0, 3, 0, 1]].concat();
        let expected = ExportQuery {
            name: b"one",
            infos: vec![3, 1],
        };
        assert_eq!(ExportQuery::parse(&data), Some(expected));
        for length in 0..data.len() {
            assert_eq!(ExportQuery::parse(&data[..length]), None, "{length}");
        }
        assert_eq!(ExportQuery::parse(&[&data[..], &[0]].concat()), None);
    }

    #[test]
    fn queries_for_contexts_have_one_form() {
        let queries = [&2_u32.to_be_bytes()[..], &text(b"base:"), &text(b"x:y")].concat();
        let data = [text(b""), queries].concat();
        let parsed = ContextQuery::parse(&data).unwrap();
        assert_eq!(parsed.queries, [&b"base:"[..], b"x:y"]);
        assert!(parsed.asks_for_allocation(true) && !parsed.asks_for_allocation(false));
        for length in 0..data.len() {
            assert_eq!(ContextQuery::parse(&data[..length]), None, "{length}");
        }
        let endless = [&text(b"")[..], &u32::MAX.to_be_bytes()].concat();
        assert_eq!(ContextQuery::parse(&endless), None);
    }

    #[test]
    fn a_list_without_queries_has_every_context_and_a_choice_has_none() {
        let data = [text(b"one"), 0_u32.to_be_bytes().to_vec()].concat();
        let parsed = ContextQuery::parse(&data).unwrap();
        assert!(parsed.asks_for_allocation(true) && !parsed.asks_for_allocation(false));
    }
}
