use super::*;

fn rank(host: &str, inode: u64) -> RankFacts {
    RankFacts {
        host: host.to_owned(),
        version: "1".to_owned(),
        cpus: 16,
        usable_cpus: 16,
        memory_bytes: 64 << 30,
        targets: vec![TargetFacts {
            path: "/mnt/a".to_owned(),
            identity: Some((1, inode)),
            file_system: "xfs".to_owned(),
            device: Some("sdb".to_owned()),
        }],
        ..RankFacts::default()
    }
}

fn texts(ranks: &[RankFacts]) -> Vec<(Severity, String)> {
    let found = findings(ranks).into_iter();
    found.map(|one| (one.severity, one.text)).collect()
}

#[test]
fn hosts_that_are_alike_have_nothing_wrong() {
    assert_eq!(texts(&[rank("a", 7), rank("b", 7), rank("c", 7)]), []);
}

#[test]
fn each_fault_names_the_ranks() {
    let change = |edit: &dyn Fn(&mut RankFacts)| {
        let mut ranks = [rank("a", 7), rank("b", 7)];
        edit(&mut ranks[1]);
        texts(&ranks)
    };
    let only = |found: Vec<(Severity, String)>, severity, text: &str| {
        assert_eq!(found, [(severity, text.to_owned())]);
    };
    let found = change(&|one| one.program_sha256 = "x".to_owned());
    only(
        found,
        Severity::Blocking,
        "Another program than on rank 0 runs on rank 1 on b.",
    );
    let found = change(&|one| one.library = "MPICH".to_owned());
    only(
        found,
        Severity::Blocking,
        "Another MPI library than on rank 0 is used by rank 1 on b.",
    );
    let found = change(&|one| one.profile_sha256 = "x".to_owned());
    only(
        found,
        Severity::Blocking,
        "Another profile than on rank 0 is read by rank 1 on b.",
    );
    let found = change(&|one| one.targets[0].identity = None);
    only(
        found,
        Severity::Fault,
        "/mnt/a does not exist on rank 1 on b.",
    );
    let found = change(&|one| one.usable_cpus = 1);
    only(
        found,
        Severity::Fault,
        "Bound to a part of the CPUs (1 of 16): rank 1 on b.",
    );
    let found = change(&|one| one.memory_bytes = 32 << 30);
    only(
        found,
        Severity::Note,
        "Fewer bytes of memory than other hosts: rank 1 on b.",
    );
    let found = change(&|one| one.clock_offset_ms = -250.0);
    let text = "The time of day is more than 100 ms from that of rank 0 on rank 1 on b.";
    only(found, Severity::Note, text);
    let found = change(&|one| one.clock_uncertainty_ms = 6.0);
    only(
        found,
        Severity::Note,
        "Messages to rank 0 take more than 5 ms from rank 1 on b.",
    );
}

#[test]
fn ranks_in_one_place_are_found() {
    let same = texts(&[rank("a", 7), rank("a", 7)]);
    let text = "The same directory is the target of ranks 0 on a, 1 on a.";
    assert_eq!(same[0], (Severity::Blocking, text.to_owned()));
    let beside = texts(&[rank("a", 7), rank("a", 8)]);
    let expected = [
        "The device sdb is shared by ranks 0 on a, 1 on a.",
        "2 ranks run on a and share its CPUs and memory.",
    ];
    assert_eq!(
        beside,
        expected.map(|text| (Severity::Note, text.to_owned()))
    );
    let mut network = [rank("a", 7), rank("b", 9)];
    for one in &mut network {
        one.targets[0].file_system = "nfs4".to_owned();
        one.targets[0].device = None;
    }
    assert!(
        texts(&network)[0]
            .1
            .starts_with("/mnt/a lies on a network file system")
    );
}
