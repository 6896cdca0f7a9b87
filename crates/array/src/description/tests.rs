//! Bundled arrays can be built; everything wrong is shown at its line; no text makes it panic.

use config::Source;
use proptest::prelude::*;
use test_support::set;

use super::*;
use crate::disk::WriteHistory;
use crate::settings::WritePolicy;
use crate::{Array, HostOperation, HostRequest, VolumeId};

pub(super) fn demands(databases: usize, gb: u64) -> Vec<DatabaseDemand> {
    (1..=databases)
        .map(|number| DatabaseDemand {
            name: format!("mail-{number:03}"),
            data_bytes: gb * 1_000_000_000,
            log_bytes: 2 << 30,
        })
        .collect()
}

pub(super) fn load(sources: &[Source]) -> Description {
    Description::load(sources).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn bundled(name: &str) -> Source {
    let array = bundled_array(name).unwrap_or_else(|| panic!("there is {name}"));
    Source::file(array.name, array.toml)
}

fn plan(name: &str, assignments: &[&str]) -> PlannedArray {
    let mut sources = vec![bundled(name)];
    sources.extend(assignments.iter().map(|text| set(text)));
    let planned = load(&sources).plan(&demands(6, 10));
    planned.unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_bundled_array_is_built_and_serves_every_database() {
    for bundled in BUNDLED_ARRAYS {
        let planned = plan(bundled.name, &[]);
        assert_eq!(planned.placement.len(), 6, "{}", bundled.name);
        let mut array: Array<()> = Array::new(&planned.settings, 1).unwrap();
        for (tag, place) in planned.placement.iter().enumerate() {
            for (volume, operation) in [
                (place.data, HostOperation::Read),
                (place.log, HostOperation::Write),
            ] {
                let request = HostRequest {
                    tag: tag as u64,
                    volume,
                    operation,
                    first_sector: 128,
                    sectors: 64,
                    payload: (),
                };
                array.submit(0, request);
            }
        }
        let mut completed = Vec::new();
        array.advance_to(1_000_000_000, &mut completed);
        assert_eq!(completed.len(), 12, "{}", bundled.name);
        assert!(
            completed.iter().all(|each| each.result.is_ok()),
            "{}",
            bundled.name
        );
    }
}

#[test]
fn a_group_without_stripes_holds_several_volumes() {
    let group = "extends = 'nvme-raid10'\ntitle = 'one disk'\n\
        [[group]]\nname = 'disk'\ndisk = 'ssd-nvme-3840gb'\ndisk_count = 1\nraid = 'linear'\n";
    let planned = load(&[Source::file("own", group)]).plan(&demands(3, 10));
    let planned = planned.unwrap_or_else(|error| panic!("{error}"));
    assert!(planned.settings.volumes.len() > 3, "data and logs");
    Array::<()>::new(&planned.settings, 1).unwrap();
}

#[test]
fn all_solid_state_disks_begin_as_the_array_says() {
    let settings = ["ssds.history=sequential", "ssds.filled_share=0.5"];
    let ssd = |planned: &PlannedArray, name: &str| {
        let flash = planned.settings.disks[name].solid_state.clone();
        flash.map(|flash| (flash.history, flash.filled_share))
    };
    let planned = plan("msa2050-tier", &settings);
    let name = planned
        .settings
        .disks
        .keys()
        .find(|name| name.starts_with("ssd"));
    let name = name.expect("an SSD").clone();
    assert_eq!(ssd(&planned, &name), Some((WriteHistory::Sequential, 0.5)));
    assert!(planned.notes.iter().all(|note| !note.contains("[ssds]")));
    let before = ssd(&plan("msa2050-tier", &[]), &name);
    assert_eq!(before, Some((WriteHistory::Random, 1.0)));
    let without = plan("msa2050", &settings);
    assert!(without.notes.iter().any(|note| note.contains("[ssds]")));
    // What a trace says comes after what the array says, and before what the disk says.
    let of_trace = |settings: &[&str], history| {
        let mut sources = vec![bundled("msa2050-tier")];
        sources.extend(settings.iter().map(|text| set(text)));
        let volume = TracedVolume {
            name: "v".to_owned(),
            reach_bytes: 1 << 30,
        };
        let planned = load(&sources).plan_for_trace(&[volume], None, history);
        let (planned, _) = planned.unwrap_or_else(|error| panic!("{error}"));
        ssd(&planned, &name).map(|(history, _)| history)
    };
    let fresh = Some(WriteHistory::Fresh);
    assert_eq!(of_trace(&[], None), Some(WriteHistory::Random));
    assert_eq!(of_trace(&[], fresh), fresh);
    assert_eq!(of_trace(&settings, fresh), Some(WriteHistory::Sequential));
}

#[test]
fn an_array_of_billions_of_controllers_is_refused() {
    let text = "extends = 'msa2050'\n[controllers]\ncount = 4294967295\n";
    let refused = Description::load(&[Source::file("own", text)]);
    let error = refused.expect_err("too many").to_string();
    assert!(error.contains("a whole number from 1 to 2"), "{error}");
}

#[test]
fn families_have_one_set_of_parameters() {
    for (name, base) in [
        ("msa2040-cache", "msa2040"),
        ("msa2040-tier", "msa2040"),
        ("msa2050-tier", "msa2050"),
        ("msa2042-cache", "msa2042"),
        ("eva5000-crossover-vraid5", "eva5000-isolated-vraid1"),
        ("lsi-s3500-raid5", "lsi-s3500-raid0"),
    ] {
        let (own, base) = (plan(name, &[]).settings, plan(base, &[]).settings);
        assert_eq!(own.controllers, base.controllers, "{name}");
        assert_eq!(own.cache, base.cache, "{name}");
        let groups = [&own.backend, &base.backend]
            .map(|backend| (&backend.policy.dispatch, &backend.policy.rebuild));
        assert_eq!(groups[0], groups[1], "{name}");
        for (pool, other) in own.pools.values().zip(base.pools.values()) {
            assert_eq!(pool.policy.tiering, other.policy.tiering, "{name}");
            assert_eq!(pool.policy.allocation, other.policy.allocation, "{name}");
        }
    }
}

#[test]
fn the_studied_layouts_are_as_published() {
    let tier = plan("msa2040-tier", &["volumes.database_size_gb=200"]).settings;
    let groups: Vec<(&str, u16)> = tier
        .backend
        .disk_group
        .iter()
        .map(|group| (group.name.as_str(), group.disks))
        .collect();
    assert_eq!(
        groups,
        [("a-disks", 10), ("a-ssd", 2), ("b-disks", 10), ("b-ssd", 2)]
    );
    assert_eq!(tier.volumes.len(), 12);
    let owners: Vec<u32> = tier.volumes.iter().map(|volume| volume.owner).collect();
    assert_eq!(owners, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!(tier.volumes[0].capacity_mib, 190_734);
    let crossed = plan("eva5000-crossover-vraid1", &[]);
    let names = |group: usize| -> Vec<String> {
        let disks = &crossed.settings.backend.disk_group[group].virtual_disk;
        disks.iter().map(|disk| disk.name[6..].to_owned()).collect()
    };
    let first = [
        "01-database",
        "02-database",
        "05-database",
        "03-log",
        "04-log",
        "06-log",
    ];
    assert_eq!(names(0), first);
    let lun = plan("lsi-s3500-raid0", &[]);
    assert!(
        lun.placement
            .iter()
            .all(|place| place.data == VolumeId(0) && place.log == VolumeId(0))
    );
    assert_eq!(
        lun.settings.volumes[0].policy.write_policy,
        WritePolicy::WriteThrough
    );
}

#[test]
fn assignments_change_every_pool_or_one() {
    let count = |planned: &PlannedArray| -> Vec<u16> {
        let groups = planned.settings.backend.disk_group.iter();
        groups
            .filter(|group| group.name.ends_with("-ssd"))
            .map(|group| group.disks)
            .collect()
    };
    assert_eq!(
        count(&plan(
            "msa2040-tier",
            &["pool.ssd_count=4", "pool.ssd_raid=raid10"]
        )),
        [4, 4]
    );
    assert_eq!(count(&plan("msa2040-tier", &["pool.ssd_count=0"])), [0; 0]);
    assert_eq!(count(&plan("msa2040-cache", &["pool.ssd_count=2"])), [2, 2]);
    let split = "[[pool]]\nname = 'x'\ndisk = 'sas-10k-900gb'\ndisk_count = 4\nraid = 'raid5'\n\
                 chunk_kib = 64\n[[pool]]\nname = 'y'\ndisk = 'sas-10k-900gb'\ndisk_count = 4\n\
                 raid = 'raid5'\nchunk_kib = 64\n[volumes]\ndatabases_on = 'x'\nlogs_on = 'y'";
    let text = format!("extends = 'msa2040'\n{split}");
    let sources = [
        Source::file("mine.toml", &text),
        set("pool.1.disk_count=6"),
        set("volumes.database_size_gb=20"),
    ];
    let planned = load(&sources).plan(&demands(2, 10)).unwrap();
    let groups = &planned.settings.backend.disk_group;
    assert_eq!((groups[0].disks, groups[1].disks), (4, 6));
    assert_eq!(planned.settings.volumes[0].pool.as_deref(), Some("x"));
    assert_eq!(planned.settings.volumes[2].pool.as_deref(), Some("y"));
}

#[test]
fn a_tier_may_lie_on_one_ssd_but_not_unnoticed() {
    let planned = plan("msa2040-cache", &["pool.ssd_use=tier", "pool.ssd_count=1"]);
    assert_eq!(planned.notes.len(), 2, "{:?}", planned.notes);
}

#[test]
fn what_an_array_comes_to_can_be_read_again() {
    for bundled in BUNDLED_ARRAYS {
        let first = load(&[Source::file(bundled.name, bundled.toml)]);
        let again = load(&[Source::file("again", &first.to_toml())]);
        assert_eq!(
            first.document.settings.pool, again.document.settings.pool,
            "{}",
            bundled.name
        );
        let demands = demands(6, 10);
        assert_eq!(
            first.plan(&demands),
            again.plan(&demands),
            "{}",
            bundled.name
        );
    }
}

/// The faults of a text that extends `msa2040`, one line each.
pub(super) fn faults(text: &str) -> String {
    let text = format!("extends = 'msa2040'\n{text}");
    let loaded = Description::load(&[Source::file("mine.toml", &text)]);
    match loaded.and_then(|description| description.plan(&demands(6, 10))) {
        Ok(_) => panic!("nothing is wrong with {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_array_that_cannot_exist_is_shown_at_its_line() {
    for (text, line, words) in [
        ("[pool]\ndisk_count = 3", 3, "RAID 6 needs at least 4 disks"),
        ("[pool]\ndisk = 'sas-10k'", 3, "there is no disk 'sas-10k'"),
        ("[pool]\n\nssd_use = 'tier'", 4, "a tier is made of SSDs"),
        (
            "[pool]\nssd_use = 'tier'\nssd_count = 2\nssd_disk = 'sas-15k-600gb'",
            5,
            "SSDs",
        ),
        (
            "[pool]\nssd_use = 'tier'\nssd_count = 3\nssd_raid = 'raid10'",
            4,
            "odd number",
        ),
        ("[cache]\ncapacity_mib = 5000", 3, "at most 4096 MiB"),
        (
            "[pool.read_cache]\nsize_gib = 5000.0\n[pool]\nssd_use = 'read-cache'\nssd_count = 1",
            3,
            "fit into its disk group",
        ),
        (
            "[volumes]\ndatabase_size_gb = 9000.0",
            3,
            "its pool 'a' holds",
        ),
        (
            "[volumes]\ndatabase_size_gb = 5.0",
            3,
            "the workload needs 10.0 GB",
        ),
        ("[volumes]\nlogs_on = ['a', 'q']", 3, "no pool or group 'q'"),
        (
            "[pool]\nraid = 'raid7'",
            3,
            "\"raid7\" is none of the words",
        ),
        ("[pool]\ndisk_cuont = 10", 3, "did you mean 'disk_count'?"),
        (
            "[pool]\ndisk_count = 70000",
            3,
            "a whole number from 0 to 65535",
        ),
        ("[pool]\ncount = 4000000000", 3, "from 1 to 64"),
        (
            "[controllers]\ncount = 3",
            3,
            "a whole number from 1 to 2; One controller",
        ),
        ("[cache]\nmirror = 'no'", 3, "true or false"),
        (
            "[[volume]]\nname = 'x'\nsize_gb = 10.0\non = 'z'",
            5,
            "no pool or group 'z'",
        ),
        ("[[volume]]\nname = 'x'", 2, "'size_gb' is missing"),
        ("[disks.mine]\ntitle = 'x'", 3, "exactly one of the tables"),
        (
            "[[group]]\nname = 'a'\ndisk = 'sas-10k-900gb'\ndisk_count = 4\nraid = 'linear'",
            3,
            "another pool or group",
        ),
        ("[pool\n", 2, "not TOML"),
    ] {
        let error = faults(text);
        let wanted = format!("mine.toml:{line}: ");
        assert!(
            error
                .lines()
                .any(|line| line.starts_with(&wanted) && line.contains(words)),
            "{text}\ngives\n{error}"
        );
    }
}

#[test]
fn a_broken_rule_is_shown_before_a_volume_that_is_too_small() {
    let error = faults("[pool]\ndisk_count = 3\n[volumes]\ndatabase_size_gb = 5.0");
    let lines: Vec<&str> = error.lines().collect();
    assert!(
        lines[0].contains("RAID 6 needs at least 4 disks"),
        "{error}"
    );
    assert!(lines[1].contains("the workload needs 10.0 GB"), "{error}");
}

#[test]
fn all_faults_are_listed_together() {
    let error = faults(
        "family = 7\n[pool]\ndisc = 'x'\ndisk_count = 'ten'\nspares = 1\n[cache]\nmirror = 3\n\
         [volumes]\nthik = true",
    );
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 5, "{error}");
    let error =
        faults("[pool]\ndisk_count = 3\n[cache]\nline_kib = 3\n[backend.rebuild]\nunit_kib = 0");
    assert_eq!(error.lines().count(), 3, "{error}");
}

#[test]
fn assignments_that_fit_nowhere_are_refused() {
    for (assignment, words) in [
        ("pool.ssd_cuont=2", "did you mean 'ssd_count'"),
        ("pool..x=1", "not the path"),
        ("title.x=1", "has no key 'x'"),
        ("extends=msa2050", "not a setting"),
        ("pool.disk_count=three", "the text \"three\" does not fit"),
    ] {
        let sources = [bundled("msa2040"), set(assignment)];
        let error = Description::load(&sources).unwrap_err().to_string();
        assert!(error.contains(words), "{assignment}: {error}");
    }
}

#[test]
fn the_document_on_arrays_lists_every_setting() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/arrays.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- settings -->\n", "<!-- end of settings -->");
    let (head, rest) = document.split_once(begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let reference = config::reference::<DescriptionKeys>();
    let right = format!("{head}{begin}{reference}\n{end}{tail}");
    if std::env::var_os("PROOFLOAD_WRITE_DOCS").is_some() {
        std::fs::write(path, right).unwrap();
        return;
    }
    let help = "run this test once with PROOFLOAD_WRITE_DOCS=1 to bring docs/arrays.md in step";
    assert_eq!(document, right, "{help}");
}

/// Whatever the text is: an array or faults with places inside of their texts, never a panic.
fn holds(sources: &[Source]) {
    let planned = Description::load(sources).and_then(|loaded| {
        loaded.to_toml();
        loaded.plan(&demands(3, 1))
    });
    if let Err(error) = planned {
        assert!(!error.diagnostics.is_empty());
        for fault in &error.diagnostics {
            if let Some(place) = &fault.location {
                assert!(place.span.end <= error.sources[place.source].text.len());
                assert!(!fault.message.is_empty());
            }
        }
        assert!(!error.to_string().is_empty());
    }
}

fn any_value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:?}").replace("NaN", "nan")),
        (0_u32..200).prop_map(|number| number.to_string()),
        Just("true".to_owned()),
        Just("[]".to_owned()),
        Just("[[], {}]".to_owned()),
        Just("{ x = 1 }".to_owned()),
        Just("'raid1'".to_owned()),
        Just("'vraid'".to_owned()),
        Just("'tier'".to_owned()),
        Just("1979-05-27".to_owned()),
        "'[a-z0-9-]{0,12}'",
    ]
}

/// Where, the value to put there, and the kind of change.
fn any_change() -> impl Strategy<Value = (prop::sample::Index, String, u8)> {
    (any::<prop::sample::Index>(), any_value(), 0..4_u8)
}

/// Lines that look like TOML.
const ANY_LINES: &str = "(\\[{0,2}[a-z._]{0,12}\\]{0,2}\n?|[a-z_.]{1,10} ?= ?[^\n]{0,12}\n){0,12}";

/// Paths of keys, most of which exist.
const SOME_PATHS: &str = concat!(
    "(pool|cache|group|volumes|controllers|volume|disks)(\\.[01])?\\.(ssd_count|disk_count|",
    "count|chunk_kib|raid|capacity_mib|thick|database_size_gb|page_size_kib|",
    "tiering\\.interval_s|read_cache\\.line_kib|placement\\.segment_kib|spares|ssd_use|name)"
);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_panics(text in ANY_LINES) {
        holds(&[Source::file("any", &text)]);
        holds(&[bundled("msa2040"), Source::value("--set", &text, "1")]);
    }

    #[test]
    fn no_mutation_panics(
        which in 0..BUNDLED_ARRAYS.len(),
        places in proptest::collection::vec(any_change(), 1..4),
    ) {
        let description = load(&[bundled(BUNDLED_ARRAYS[which].name)]);
        let mut lines: Vec<String> = description.to_toml().lines().map(str::to_owned).collect();
        for (place, value, change) in places {
            let line = place.index(lines.len());
            match (change, lines[line].split_once('=')) {
                (0, _) => { lines.remove(line); }
                (1, _) => { let copy = lines[line].clone(); lines.insert(line, copy); }
                (_, Some((key, _))) => lines[line] = format!("{key}= {value}"),
                (_, None) => lines[line] = format!("[{}]", value.trim_matches('\'')),
            }
        }
        holds(&[Source::file("mutated", &lines.join("\n"))]);
    }

    #[test]
    fn no_assignment_panics(
        which in 0..BUNDLED_ARRAYS.len(),
        path in SOME_PATHS,
        value in any_value(),
    ) {
        let changed = Source::value("--set", &path, &value);
        holds(&[bundled(BUNDLED_ARRAYS[which].name), changed]);
    }
}
