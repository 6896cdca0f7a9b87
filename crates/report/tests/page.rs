//! What every page must hold, whatever the run was.

use measure::metric::Unit;
use report::{Style, html, html_comparison, terminal, terminal_comparison};

fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = crate::stories::all()
        .into_iter()
        .map(|(name, run)| (name.to_string(), html(&run)))
        .collect();
    pages.push((
        "comparison".into(),
        html_comparison(&crate::stories::three_configurations()),
    ));
    pages.push(("nothing to compare".into(), html_comparison(&[])));
    pages
}

/// Text as it stands in a page.
fn escaped(text: &str) -> String {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[test]
fn a_page_refers_to_nothing_outside_itself() {
    for (name, page) in pages() {
        for reference in [
            "http://", "https://", " src=", "url(", "@import", "<link", "<iframe",
        ] {
            assert!(!page.contains(reference), "{name} holds {reference}");
        }
        assert!(page.contains("default-src 'none'"), "{name} has no policy");
    }
}

#[test]
fn names_from_a_run_cannot_become_markup() {
    let run = crate::stories::all()
        .into_iter()
        .find(|(name, _)| *name == "hostile-names")
        .unwrap()
        .1;
    let page = html(&run);
    assert!(!page.contains("<script>document"));
    assert!(page.contains(&escaped(&run.result.databases[0].name)));
    let comparison = html_comparison(&[run.clone(), run.clone()]);
    assert!(!comparison.contains("<script>document"));
    let text = terminal(&run, &Style::plain());
    assert!(!text.contains('\u{1b}'), "a name must not move the cursor");
}

#[test]
fn every_check_stands_in_page_and_terminal_with_limit_and_value() {
    // So wide that no name goes on in a second line.
    let style = Style {
        width: 160,
        ..Style::plain()
    };
    for (name, run) in crate::stories::all() {
        let page = html(&run);
        let text = terminal(&run, &style);
        for check in &run.result.checks {
            for part in [&check.name, &check.place, &check.rule] {
                assert!(page.contains(&escaped(part)), "{name}: {part} is missing");
            }
            let measured = report::number::quantity(check.value.unwrap_or(f64::NAN), check.unit);
            assert!(page.contains(&measured), "{name}: {measured} is missing");
            if name != "hostile-names" {
                assert!(
                    text.contains(&check.name),
                    "{name}: {} is missing",
                    check.name
                );
            }
        }
        assert!(text.contains(report::words::headline(&run).word));
    }
}

#[test]
fn charts_hold_the_limits() {
    for (name, run) in crate::stories::all() {
        let page = html(&run);
        let latency_checks = run
            .result
            .checks
            .iter()
            .filter(|check| check.unit == Unit::Milliseconds);
        for check in latency_checks.filter(|_| !run.timeline.is_empty()) {
            let line = format!("data-limit=\"{}\"", check.limit);
            assert!(page.contains(&line), "{name}: {line} is missing");
        }
    }
    let page = html(&crate::invented::Story::default().run());
    assert!(page.contains("at least 836 of 880 IOPS") && page.contains("average read limit 20 ms"));
}

#[test]
fn a_day_of_samples_keeps_its_spike_and_stays_small() {
    let story = crate::invented::Story {
        samples: 5_760,
        spike_ms: 431.7,
        ..crate::invented::Story::default()
    };
    let page = html(&story.run());
    assert!(page.contains("431.7"), "the spike is lost");
    assert!(page.len() < 600_000, "the page has {} bytes", page.len());
}

#[test]
fn all_settings_are_listed() {
    let run = crate::invented::Story::default().run();
    let page = html(&run);
    for path in run.result.workload.settings.keys() {
        let name = path.split_once('.').map_or(path.as_str(), |(_, name)| name);
        assert!(
            page.contains(&format!("<dt>{name}</dt>")),
            "{name} is missing"
        );
    }
}

#[test]
fn a_comparison_names_what_differs_and_nothing_else() {
    let runs = crate::stories::three_configurations();
    let text = terminal_comparison(&runs, &Style::plain());
    assert!(text.contains("array.flash") && text.contains("read-cache"));
    assert!(!text.contains("engine.page_size_bytes"));
    assert!(text.contains("(better)"));
    let page = html_comparison(&runs);
    assert!(page.contains("array.flash") && !page.contains("engine.page_size_bytes"));
    for run in &runs {
        assert!(
            page.contains(&format!("\"name\":\"{}\"", run.name)),
            "{} has no line",
            run.name
        );
    }
}

#[test]
fn terminal_text_fits_its_width() {
    for width in [80u16, 100] {
        let style = Style {
            width,
            colour: false,
            unicode: true,
        };
        let runs = crate::stories::all()
            .into_iter()
            .map(|(name, run)| (name, terminal(&run, &style)));
        let mut texts: Vec<_> = runs.filter(|(name, _)| *name != "hostile-names").collect();
        texts.push((
            "comparison",
            terminal_comparison(&crate::stories::three_configurations(), &style),
        ));
        let six = [
            crate::stories::three_configurations(),
            crate::stories::three_configurations(),
        ]
        .concat();
        texts.push(("comparison of six", terminal_comparison(&six, &style)));
        for (name, text) in texts {
            let widest = text
                .lines()
                .max_by_key(|line| line.chars().count())
                .unwrap_or("");
            assert!(
                widest.chars().count() <= usize::from(width),
                "{name} at {width}:\n{widest}"
            );
        }
    }
}

#[test]
fn colour_changes_no_word() {
    let colourful = Style {
        width: 90,
        colour: true,
        unicode: false,
    };
    let plain = Style {
        colour: false,
        ..colourful.clone()
    };
    for (name, run) in crate::stories::all() {
        let with = terminal(&run, &colourful);
        let letters = |text: &str| -> String {
            let mut letters = String::new();
            let mut code = false;
            for letter in text.chars() {
                match letter {
                    '\u{1b}' => code = true,
                    'm' if code => code = false,
                    _ if code || letter == ' ' => {}
                    _ => letters.push(letter),
                }
            }
            letters
        };
        assert!(with.contains("\u{1b}["), "{name} has no colour");
        assert_eq!(letters(&with), letters(&terminal(&run, &plain)), "{name}");
    }
}
