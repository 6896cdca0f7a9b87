//! Profiles as people write them, right and wrong.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use brokerage::profile::BrokerageProfile;
use config::{ByteSize, ConfigError, Source, TimeSpan};
use mail::profile::MailProfile;
use proofload::WORKLOADS;
use proptest::prelude::*;
use test_support::set;
use workload::Workload;
use workload::pacing::arrivals::Spacing;

/// Reads a profile of mail.
fn load(sources: &[Source]) -> Result<MailProfile, ConfigError> {
    let profile = WORKLOADS.read(sources)?;
    Ok(profile.downcast::<MailProfile>().unwrap().clone())
}

/// The faults of `text` behind `kind = "mail"`, as one text.
fn faults(text: &str) -> String {
    let text = format!("kind = \"mail\"\n{text}");
    load(&[Source::file("my.toml", &text)]).map_or_else(|e| e.to_string(), |_| String::new())
}

fn with_set(assignments: &[&str]) -> Result<MailProfile, ConfigError> {
    let file = Source::file("my.toml", "kind = \"mail\"\n");
    let sets = assignments.iter().map(|text| set(text));
    load(&std::iter::once(file).chain(sets).collect::<Vec<_>>())
}

#[test]
fn a_minimal_profile_takes_the_defaults() {
    let profile = load(&[Source::file("my.toml", "kind = \"mail\"")]).unwrap();
    assert_eq!(profile, MailProfile::default());
}

#[test]
fn every_bundled_profile_loads_and_describes_itself() {
    for bundled in WORKLOADS.bundled_profiles() {
        let loaded = WORKLOADS.read(&[Source::file(bundled.name, bundled.toml)]);
        let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
        let description = loaded.description();
        assert!(!description.is_empty(), "{}", bundled.name);
        // It is shown whatever is set, so that it must not name what a setting can change.
        let numbers = description.split(|one: char| !one.is_ascii_digit());
        let is_year =
            |number: &&str| number.is_empty() || number.len() == 4 && number.starts_with("20");
        assert!(numbers.clone().all(|one| is_year(&one)), "{description}");
    }
}

/// The paths of settings that a text sets by `--set PATH=`, of sections that a workload has.
fn set_in<'a>(text: &'a str, sections: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let after = text.split("--set ").skip(1);
    after.filter_map(move |after| {
        let after = after.trim_start_matches(['\'', '"', '`']);
        let is_part =
            |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || "._".contains(one);
        let end = after.find(|one| !is_part(one))?;
        let section = after.split('.').next()?;
        (after[end..].starts_with('=') && sections.contains(&section)).then_some(&after[..end])
    })
}

fn files_below(directory: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files_below(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn settings_that_messages_and_documents_propose_are_there() {
    let mut known = std::collections::BTreeSet::new();
    for bundled in WORKLOADS.bundled_profiles() {
        let profile = WORKLOADS.read(&[Source::file(bundled.name, bundled.toml)]);
        known.extend(profile.unwrap().settings().into_keys());
    }
    let sections: std::collections::BTreeSet<&str> = known
        .iter()
        .filter_map(|path| path.split('.').next())
        .collect();
    let sections: Vec<&str> = sections.into_iter().collect();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    files_below(&root.join("docs"), &mut files);
    for one in std::fs::read_dir(root.join("crates")).unwrap() {
        files_below(&one.unwrap().path().join("src"), &mut files);
    }
    let mut proposed = 0;
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        for path in set_in(&text, &sections) {
            let is_known = known
                .iter()
                .any(|one| one == path || one.starts_with(&format!("{path}.")));
            assert!(is_known, "{}: there is no setting {path}", file.display());
            proposed += 1;
        }
    }
    assert!(proposed > 20, "only {proposed} were found");
}

#[test]
fn the_defaults_of_each_workload_are_bundled() {
    let read = |name: &str| {
        let bundled = WORKLOADS.bundled(name).unwrap();
        WORKLOADS.read(&[Source::file(name, bundled.toml)]).unwrap()
    };
    let mut mail: MailProfile = read("exchange-2013")
        .downcast::<MailProfile>()
        .unwrap()
        .clone();
    mail.description.clear();
    assert_eq!(mail, MailProfile::default());
    let brokerage = read("brokerage");
    let mut brokerage = brokerage.downcast::<BrokerageProfile>().unwrap().clone();
    brokerage.description.clear();
    assert_eq!(brokerage, BrokerageProfile::default());
}

#[test]
fn a_setting_that_had_no_effect_is_refused_with_the_reason() {
    for said in [
        faults("[maintenance]\nbatch_size = \"256KiB\"\n"),
        with_set(&["maintenance.batch_size=256KiB"])
            .unwrap_err()
            .to_string(),
    ] {
        assert!(
            said.contains("maintenance.batch_size had no effect"),
            "{said}"
        );
        assert!(said.contains("remove it"), "{said}");
    }
}

#[test]
fn later_layers_win() {
    let file = Source::file(
        "my.toml",
        "kind = \"mail\"\nextends = \"exchange-2007\"\n[mail]\nmailbox_size = \"1GiB\"\n",
    );
    let duration = set("run.duration=90s");
    let profile = load(&[file, duration]).unwrap();
    assert_eq!(profile.engine.page_size, ByteSize::kib(8));
    assert_eq!(profile.mail.mailbox_size, ByteSize::gib(1));
    assert_eq!(profile.run.duration, TimeSpan::seconds(90));
}

#[test]
fn set_takes_text_with_and_without_quotes() {
    let profile = with_set(&["mail.threads=12", "mail.mailbox_size=\"64MB\""]).unwrap();
    assert_eq!(profile.mail.threads, Some(12));
    assert_eq!(profile.mail.mailbox_size, ByteSize(64_000_000));
    assert_eq!(with_set(&["mail.threads=auto"]).unwrap().mail.threads, None);
}

#[test]
fn arrivals_of_a_held_rate_are_even_by_default() {
    assert_eq!(MailProfile::default().run.arrivals, Spacing::Even);
    let set = with_set(&["run.arrivals=poisson"]).unwrap();
    assert_eq!(set.run.arrivals, Spacing::Poisson);
    let error = with_set(&["run.arrivals=random"]).unwrap_err().to_string();
    assert!(
        error.contains("\"even\"") && error.contains("\"poisson\""),
        "{error}"
    );
}

#[test]
fn set_says_what_is_wrong_with_it() {
    let error = with_set(&["mail.treads=12"]).unwrap_err();
    assert!(
        error.to_string().contains("did you mean 'mail.threads'"),
        "{error}"
    );
    let (source, span) = error.place_of(&error.diagnostics[0]).unwrap();
    assert_eq!(&source.text[span], "mail.treads");
}

#[test]
fn an_unknown_key_is_shown_with_its_line_and_the_nearest_name() {
    let said = faults("[mail]\ndatabses = 3\n");
    assert!(
        said.contains("my.toml:3: [mail] has no setting or section 'databses'"),
        "{said}"
    );
    assert!(said.contains("did you mean 'mail.databases'?"), "{said}");
}

#[test]
fn a_key_in_the_wrong_section_is_refused_with_its_own_section() {
    let said = faults("[mail]\npage_size = \"32KiB\"\n");
    assert!(said.contains("belongs in [engine]"), "{said}");
}

#[test]
fn an_unknown_section_is_one_fault() {
    let said = faults("[enigne]\npage_size = \"32KiB\"\nlog_buffer = 1\n");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("did you mean 'engine'?"), "{said}");
}

#[test]
fn faults_are_listed_from_the_top_of_a_file_to_its_end() {
    let said = faults("[run]\nduration = 5\n[mail]\nitems = 1\ndatabases = 0\n[foo]\n");
    let lines: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split(':').nth(1))
        .collect();
    assert_eq!(lines, ["3", "5", "6", "7"], "{said}");
    assert!(said.contains("the sections are mail"), "{said}");
}

#[test]
fn a_wrong_type_says_what_fits() {
    let said = faults("[mail]\nmailbox_size = true\n[run]\nduration = 15\n");
    assert!(
        said.contains("true does not fit here; write a size from"),
        "{said}"
    );
    assert!(said.contains("the number 15 has no unit of time"), "{said}");
    assert!(faults("mail = 3").contains("'mail' is a section"));
    assert!(faults("[run]\nduration = { h = 2 }").contains("a table does not fit here"));
    assert!(faults("[engine]\ntorn_pages = \"ignore\"").contains("\"detect\" or \"log-images\""));
}

#[test]
fn a_value_out_of_range_says_the_range() {
    let said = faults("[mail.mix]\ninsert_percent = 101\n");
    assert!(
        said.contains("101 is out of range; write a number from 0 to 100"),
        "{said}"
    );
    assert!(faults("[mail]\nthreads = 0").contains("or \"auto\""));
    assert!(faults("[run]\nseed = 99999999999999999999").contains("more than 63 bits"));
}

#[test]
fn rules_between_settings_point_at_the_setting_that_was_given() {
    let error = with_set(&["mail.mix.insert_percent=70", "mail.mix.delete_percent=60"]);
    let error = error.unwrap_err();
    assert!(
        error.to_string().contains("add up to 135 percent"),
        "{error}"
    );
    let (source, _) = error.place_of(&error.diagnostics[0]).unwrap();
    assert_eq!(source.text, "mail.mix.delete_percent=60");
    for (text, wrong) in [
        ("engine.page_size=12KiB", "not a page size"),
        (
            "engine.page_size=8KiB engine.max_coalesced_read=12KiB",
            "a number of pages",
        ),
        ("engine.cache_size_per_database=1MiB", "too small"),
        ("engine.start_flush_percent=3", "stop before it starts"),
        ("engine.log_buffer=9001", "4 KiB segments"),
        ("engine.checkpoint_depth=64KiB", "less than one log file"),
        ("service_levels.maximum_log_write_lenient=1ms", "stricter"),
        (
            "run.duration=90s run.sample_interval=2m",
            "shorter than one sample",
        ),
        (
            "run.second_sample_interval=130ms",
            "not both whole multiples of 50",
        ),
        (
            "run.sample_interval=125ms run.second_sample_interval=1s",
            "not both whole multiples of 50",
        ),
        (
            "service_levels.maximum_database_read_lenient=1ms",
            "stricter",
        ),
        (
            "run.warm_up.maximum=1h run.warm_up.minimum=2h",
            "longer than the longest",
        ),
        ("tuning.start_threads=5000", "above its maximum of 4096"),
        ("tuning.maximum_threads=8 tuning.start_threads=9", "8"),
        ("mail.iops_per_mailbox=0", "no rate to tune towards"),
        (
            "mail.item.read_by_index_percent=50",
            "an index that is not there",
        ),
        (
            "mail.item.long_bytes=1000000 mail.mailbox_size=64KiB",
            "does not hold one item",
        ),
    ] {
        let sets: Vec<&str> = text.split(' ').collect();
        let error = with_set(&sets).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(wrong), "{text}: {said}");
        assert!(
            error.place_of(&error.diagnostics[0]).is_some(),
            "{text}: {said}"
        );
    }
    let said = faults("[tuning]\nstart_threads = 9\nmaximum_threads = 8\n");
    assert!(
        said.starts_with("my.toml:3: tuning would begin with 9"),
        "{said}"
    );
}

#[test]
fn a_seed_has_63_bits() {
    let largest = i64::MAX;
    let profile = with_set(&[&format!("run.seed={largest}")]).unwrap();
    assert_eq!(profile.run.seed, largest.unsigned_abs());
    let said = with_set(&["run.seed=9223372036854775808"]).unwrap_err();
    let said = said.to_string();
    assert!(said.contains("more than 63 bits"), "{said}");
    assert!(said.contains(&format!("from 0 to {largest}")), "{said}");
    assert!(said.contains("2^63 - 1"), "{said}");
}

#[test]
fn a_profile_must_say_its_kind_and_may_extend_only_what_is_bundled() {
    let missing = load(&[Source::file("my.toml", "[mail]\n")]).unwrap_err();
    assert!(missing.to_string().contains("kind = \"mail\""), "{missing}");
    assert!(faults("extends = \"exchange-2020\"").contains("exchange-2013, exchange-2010"));
    let other = load(&[Source::file("my.toml", "kind = \"male\"")]).unwrap_err();
    assert!(other.to_string().contains("write \"mail\""), "{other}");
}

#[test]
fn text_that_is_not_toml_is_shown_with_its_line() {
    let said = faults("[mail\ndatabases = 3");
    assert!(said.starts_with("my.toml:2: this is not TOML"), "{said}");
}

#[test]
fn resolved_settings_load_back_to_the_same_profile() {
    for bundled in WORKLOADS.bundled_profiles() {
        let read = |text: &str| {
            WORKLOADS
                .read(&[Source::file("config.toml", text)])
                .unwrap()
        };
        let profile = read(bundled.toml);
        let text = profile.to_toml();
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        let again = read(&text);
        assert_eq!(again.to_toml(), text, "{}", bundled.name);
        assert_eq!(again.settings(), profile.settings(), "{}", bundled.name);
    }
}

#[test]
fn settings_are_listed_by_their_paths() {
    let settings = config::settings_by_path(&with_set(&["mail.threads=12"]).unwrap());
    assert_eq!(settings["mail.threads"], 12);
    assert_eq!(settings["engine.page_size"], "32KiB");
    assert_eq!(settings["service_levels.p99_log_write"], "none");
    assert_eq!(settings["kind"], "mail");
}

#[test]
fn the_document_on_profiles_lists_every_setting() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/profiles.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let mut right = document.clone();
    let workloads: [(&dyn Workload, &str); 2] = [
        (&mail::WORKLOAD, "settings"),
        (&brokerage::WORKLOAD, "settings of a brokerage"),
    ];
    for (workload, name) in workloads {
        let (mark, end) = (
            format!("<!-- {name} -->\n"),
            format!("<!-- end of {name} -->"),
        );
        let (head, rest) = right.split_once(&mark).unwrap();
        let (_, tail) = rest.split_once(&end).unwrap();
        right = format!("{head}{mark}{}\n{end}{tail}", workload.reference());
    }
    if std::env::var_os("PROOFLOAD_WRITE_DOCS").is_some() {
        std::fs::write(&path, right).unwrap();
        return;
    }
    let help = "run this test once with PROOFLOAD_WRITE_DOCS=1 to bring docs/profiles.md in step";
    assert_eq!(document, right, "{help}");
}

/// Text that looks like a profile now and then.
fn nearly_toml() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("mail".to_owned()),
        Just("run.duration".to_owned()),
        Just("mail.mix.insert_percent".to_owned()),
        Just("extends".to_owned()),
        Just("kind".to_owned()),
        "[a-z.\"_]{1,8}",
    ];
    let value = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n:?}")),
        Just("\"mail\"".to_owned()),
        Just("\"exchange-2003\"".to_owned()),
        "\"[0-9]{0,20}[a-zA-Z]{0,3}\"",
        "[\\[{\"0-9a-z=,\\]}]{0,10}",
        ".{0,12}",
    ];
    let line = (word, value, 0..4).prop_map(|(word, value, form)| match form {
        0 => format!("[{word}]"),
        1 => format!("[[{word}]]"),
        _ => format!("{word} = {value}"),
    });
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_text_makes_the_loader_panic(text in prop_oneof![nearly_toml(), ".*"]) {
        if let Err(error) = load(&[Source::file("any.toml", &text)]) {
            prop_assert!(!error.diagnostics.is_empty());
            let _ = error.to_string();
            for diagnostic in &error.diagnostics {
                if let Some((source, span)) = error.place_of(diagnostic) {
                    prop_assert!(source.text.get(span).is_some());
                }
            }
        }
    }

    #[test]
    fn no_assignment_makes_the_loader_panic(text in prop_oneof![nearly_toml(), ".*"]) {
        let file = || Source::file("my.toml", "kind = \"mail\"\n");
        let _ = load(&[file(), Source::value("--set", &text, "1")]);
        let _ = load(&[file(), Source::value("--set", "mail.mailbox_size", &text)]);
    }

    #[test]
    fn whatever_loads_shows_and_loads_back(
        databases in 1..1024_u32,
        size in 65_536..1_u64 << 44,
        iops in 0.001..1000.0_f64,
        threads in prop::option::of(1..65_536_u32),
    ) {
        let threads = threads.map_or("auto".to_owned(), |n| n.to_string());
        let profile = with_set(&[
            &format!("mail.databases={databases}"),
            &format!("mail.mailbox_size={size}"),
            &format!("mail.iops_per_mailbox={iops}"),
            &format!("mail.threads={threads}"),
        ]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let again = load(&[Source::file("config.toml", &config::to_toml(&profile))]);
        prop_assert_eq!(again.map_err(|error| TestCaseError::fail(error.to_string()))?, profile);
    }
}

/// The table at the head of docs/profiles.md is written by hand.
#[test]
fn the_table_of_mail_profiles_says_what_they_are() {
    let page = include_str!("../../../docs/profiles.md");
    for bundled in WORKLOADS.bundled_profiles() {
        let Some(profile) = load_bundled(bundled.name, bundled.toml) else {
            continue; // It is none of a mail server.
        };
        let mix = &profile.mail.mix;
        let read_percent = 100.0
            - mix.insert_percent
            - mix.delete_percent
            - mix.replace_percent
            - mix.scan_percent;
        let begin = format!(
            "| `{}` | {} KiB | {}, {}, {}, {} | {} % | {} |",
            bundled.name,
            profile.engine.page_size.bytes() >> 10,
            mix.insert_percent,
            mix.delete_percent,
            mix.replace_percent,
            read_percent,
            mix.lazy_commit_percent,
            profile.mail.iops_per_mailbox,
        );
        let row = page.lines().find(|line| line.starts_with(&begin));
        let row = row.unwrap_or_else(|| panic!("{begin} ... is not in docs/profiles.md"));
        let maintenance = &profile.maintenance;
        let scan = match maintenance.enabled {
            true => format!("every {} ms |", maintenance.pause.as_seconds() * 1e3),
            false => "| none |".to_owned(),
        };
        assert!(row.ends_with(&scan), "{row} does not end with {scan}");
    }
}

fn load_bundled(name: &str, toml: &str) -> Option<MailProfile> {
    let profile = WORKLOADS.read(&[Source::file(name, toml)]).unwrap();
    profile.downcast::<MailProfile>().cloned()
}
