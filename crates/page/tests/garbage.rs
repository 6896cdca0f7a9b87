//! Whatever is opened, dropped or typed, there is an answer: a design, or what is wrong.

use std::rc::Rc;

use page::{Report, answer};
use proptest::prelude::*;
use serde_json::{Value, json};

const DESIGN: &str = "kind = 'mail'\nextends = 'exchange-2013'\nsettled = true\n[mail]\ndatabases = 2\n\
    mailbox_size = '8MiB'\n[array]\nextends = 'msa2050-tier'\n[array.pool]\nssd_count = 4\n[[event]]\nat = '2s'\n\
    what = 'disk-fails'\ndisk = 3\n";

fn is_answered(request: &Value) {
    let quiet: Report = Rc::new(|_| {});
    let text = answer(&request.to_string(), &quiet);
    let answered: Value = serde_json::from_str(&text).expect("JSON");
    let has_fault = answered["fault"]["message"].is_string();
    assert!(
        has_fault || !answered["answer"].is_null(),
        "{request}: {text}"
    );
}

/// A design with a piece of it replaced.
fn damaged() -> impl Strategy<Value = String> {
    (0..DESIGN.len(), 0..12_usize, "[ -~\\n]{0,8}").prop_map(|(from, length, piece)| {
        let until = (from + length).min(DESIGN.len());
        format!("{}{piece}{}", &DESIGN[..from], &DESIGN[until..])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_designs_are_answered(text in damaged(), path in "[a-z_.0-9]{0,30}", value in ".{0,12}") {
        is_answered(&json!({ "do": "open", "toml": DESIGN, "text": text }));
        is_answered(&json!({ "do": "describe", "toml": text }));
        is_answered(&json!({ "do": "set", "toml": text, "settings": [[path, value]] }));
        is_answered(&json!({ "do": "events", "toml": text, "lines": value }));
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        is_answered(&json!({ "do": "open", "toml": text, "text": text }));
        is_answered(&json!({ "do": text }));
    }
}
