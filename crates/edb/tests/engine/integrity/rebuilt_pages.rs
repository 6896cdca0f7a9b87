//! Pages that are wrong on the medium, rebuilt from the log while the database is in use.

use super::*;
use edb::integrity::Persistence as Lasting;

/// A database whose log files are all kept.
async fn begin(handle: &Handle, seed: u64) -> Life {
    let mut settings = watchful_settings();
    settings.engine.circular_logging = false;
    Life::begin_with(handle, seed, settings).await
}

fn persistence(damage: &[Damage]) -> Vec<(u32, Lasting)> {
    let page = |one: &Damage| match one {
        Damage::Page(error) => Some((error.page.0, error.finding()?.persistence)),
        Damage::File(_) => None,
    };
    damage.iter().filter_map(page).collect()
}

#[test]
fn pages_are_rebuilt_from_a_log_that_reaches_back() {
    for (number, class) in CLASSES.into_iter().enumerate() {
        on_virtual_clock(async move |handle| {
            let seed = 140 + number as u64;
            let life = begin(&handle, seed).await;
            let file = life.database_file().await;
            let earlier = bytes_of(&file, 0, file.size_bytes().await.unwrap()).await;
            life.work(seed + 1).await;
            handle.sleep_ns(5 * SECOND_NS).await;
            assert_eq!(life.db.take_damage(), []);
            let stranger = stranger(&handle, seed).await;
            let pages = changed_pages(&life, &earlier).await;
            assert!(pages.len() > 5, "{pages:?}");
            let mut right = Vec::new();
            for &page in &pages {
                right.push(bytes_of(&file, (page + 1) * PAGE, PAGE).await);
                harm(&life, class, page, &earlier, &stranger).await;
            }
            let mut damage = persistence(&life.found_in_use().await);
            damage.sort_by_key(|(page, _)| *page);
            // A misdirected page was put over page 1 itself, which then is right.
            let harmed = pages
                .iter()
                .filter(|&&page| page != 1 || class != DamageClass::Misdirected);
            let expected: Vec<_> = harmed
                .map(|&page| (page as u32, Lasting::Patched))
                .collect();
            assert_eq!(damage, expected, "{class:?}");
            for (&page, right) in pages.iter().zip(&right) {
                let now = bytes_of(&file, (page + 1) * PAGE, PAGE).await;
                assert!(now[..] == right[..], "{class:?}, page {page}");
            }
            life.work(seed + 2).await;
            let state = life.close().await;
            let found = life.verify(&state).await;
            assert!(is_sound(&found), "{class:?}: {found:?}");
        });
    }
}

#[test]
fn a_page_whose_changes_are_not_in_the_log_any_more_stays_wrong() {
    on_virtual_clock(async move |handle| {
        let life = begin(&handle, 150).await;
        let file = life.database_file().await;
        let earlier = bytes_of(&file, 0, file.size_bytes().await.unwrap()).await;
        life.work(151).await;
        handle.sleep_ns(5 * SECOND_NS).await;
        assert_eq!(life.db.take_damage(), []);
        let page = changed_pages(&life, &earlier).await[0];
        // What created the page was in a file that is not there any more.
        for name in life.full_logs().await {
            life.disk.directory("log").remove(&name).await.unwrap();
        }
        harm(&life, DamageClass::Zeroed, page, &earlier, &earlier).await;
        let damage = life.found_in_use().await;
        let lasting = Lasting::Medium { reads: 4 };
        assert_eq!(persistence(&damage), [(page as u32, lasting)]);
    });
}

#[test]
fn pages_that_are_harmed_again_and_again_are_not_rebuilt_for_ever() {
    on_virtual_clock(async move |handle| {
        let life = begin(&handle, 190).await;
        let file = life.database_file().await;
        let earlier = bytes_of(&file, 0, file.size_bytes().await.unwrap()).await;
        life.work(191).await;
        let pages = changed_pages(&life, &earlier).await;
        handle.sleep_ns(5 * SECOND_NS).await;
        let mut all = Vec::new();
        for _ in 0..30 {
            for &page in &pages {
                harm(&life, DamageClass::Checksum, page, &earlier, &earlier).await;
            }
            handle.sleep_ns(8 * SECOND_NS).await;
            all.extend(persistence(&life.db.take_damage()));
        }
        let patched = all
            .iter()
            .filter(|(_, lasting)| *lasting == Lasting::Patched);
        // Some attempts came to nothing, because the page was being written meanwhile.
        let patched = patched.count();
        assert!((90..=100).contains(&patched), "{patched}");
        assert!(all.len() > patched + pages.len() / 2, "{all:?}");
    });
}
