//! Name lists. People, companies and places are invented; industries have their ordinary names.

use std::sync::LazyLock;

/// An industry of the reference table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Industry {
    /// Its id, two letters.
    pub id: String,
    pub name: &'static str,
    /// Its sector, counted from 0.
    pub sector: u32,
}

/// Names composed from syllables, once per process.
#[derive(Debug)]
pub(crate) struct NameLists {
    pub first_names: Vec<String>,
    pub last_names: Vec<String>,
    pub company_stems: Vec<String>,
    pub towns: Vec<String>,
    pub industries: Vec<Industry>,
}

/// Number of first words of company names.
pub(crate) const COMPANY_STEMS: usize = 1_920;

/// The name lists of this process.
pub(crate) fn name_lists() -> &'static NameLists {
    static WORDS: LazyLock<NameLists> = LazyLock::new(|| NameLists {
        first_names: joined(&FIRST_BEGIN, &FIRST_END, 400),
        last_names: joined(&LAST_BEGIN, &LAST_END, 1_600),
        company_stems: joined(&STEM_BEGIN, &STEM_END, COMPANY_STEMS),
        towns: joined(&LAST_BEGIN, &TOWN_END, 900),
        industries: industries(),
    });
    &WORDS
}

/// `count` different words, each a beginning and an ending; endings vary fastest.
fn joined(begins: &[&str], ends: &[&str], count: usize) -> Vec<String> {
    let all = begins
        .iter()
        .flat_map(|begin| ends.iter().map(move |end| format!("{begin}{end}")));
    let mut name_lists: Vec<String> = all.collect();
    name_lists.sort_unstable();
    name_lists.dedup();
    assert!(name_lists.len() >= count, "only {} words", name_lists.len());
    // Evenly spaced, not in alphabetical order.
    let step = name_lists.len() / count;
    let mut name_lists: Vec<String> = name_lists.into_iter().step_by(step).take(count).collect();
    workload::random::SeededRng::new(count as u64, 0).shuffle(&mut name_lists);
    name_lists
}

fn industries() -> Vec<Industry> {
    let mut industries = Vec::new();
    for (sector, (_, _, names)) in SECTORS.iter().enumerate() {
        for &name in *names {
            let number = industries.len() as u8;
            let letters = [b'A' + number / 26, b'A' + number % 26];
            industries.push(Industry {
                id: letters.iter().map(|&letter| char::from(letter)).collect(),
                name,
                sector: sector as u32,
            });
        }
    }
    industries
}

const FIRST_BEGIN: [&str; 32] = [
    "Al", "Bre", "Cal", "Dar", "El", "Fen", "Gar", "Hel", "Is", "Jor", "Kal", "Lu", "Mar", "Nel",
    "Or", "Per", "Quin", "Ros", "Sel", "Tam", "Ul", "Vin", "Wen", "Yor", "Zel", "Bram", "Cor",
    "Drin", "Eth", "Fal", "Had", "Tol",
];

const FIRST_END: [&str; 20] = [
    "a", "an", "ena", "ia", "ic", "ina", "is", "o", "ora", "us", "win", "ric", "etta", "mund",
    "eth", "ola", "ard", "ise", "anne", "iel",
];

const LAST_BEGIN: [&str; 48] = [
    "Ash", "Bar", "Birk", "Bol", "Brand", "Car", "Crom", "Dal", "Den", "Dorn", "East", "Eld",
    "Fair", "Fern", "Gal", "Glen", "Gorm", "Hal", "Hart", "Hawk", "Ing", "Kel", "Kirk", "Lan",
    "Lind", "Lock", "Mal", "Mar", "Mil", "Nor", "Oak", "Ost", "Pem", "Pen", "Rad", "Rav", "Red",
    "Ros", "Sel", "Stan", "Sut", "Thorn", "Tor", "Ull", "Wal", "West", "Wick", "Yar",
];

const LAST_END: [&str; 40] = [
    "aby", "acker", "ander", "ard", "bourne", "brook", "by", "cott", "croft", "dale", "den",
    "dine", "don", "elin", "enko", "er", "essen", "ez", "field", "gard", "gate", "grove", "ham",
    "holm", "ias", "ing", "inski", "ley", "low", "man", "mer", "more", "nes", "over", "ram", "sen",
    "stead", "ton", "well", "worth",
];

const TOWN_END: [&str; 28] = [
    " Bridge",
    " Creek",
    " Falls",
    " Harbor",
    " Heights",
    " Hill",
    " Junction",
    " Lake",
    " Park",
    " Point",
    " Springs",
    " Valley",
    "boro",
    "burg",
    "bury",
    "castle",
    "chester",
    "ford",
    "haven",
    "land",
    "minster",
    "mouth",
    "port",
    "shire",
    "stoke",
    "view",
    "ville",
    "wick",
];

const STEM_BEGIN: [&str; 48] = [
    "Ak", "Alt", "Amb", "Ant", "Arc", "Ast", "Bel", "Ben", "Cas", "Cel", "Cor", "Cyr", "Del",
    "Dex", "Elv", "Em", "Fal", "Flex", "Gen", "Grav", "Hel", "Hex", "Im", "Jun", "Kap", "Kor",
    "Lam", "Lux", "Mag", "Mer", "Nav", "Nex", "Ob", "Om", "Pal", "Prim", "Quor", "Ral", "Sav",
    "Sol", "Tal", "Ter", "Umb", "Val", "Vex", "Vol", "Xan", "Zeph",
];

const STEM_END: [&str; 42] = [
    "adon", "agon", "alis", "amar", "andra", "anix", "ara", "arion", "atec", "avia", "axis",
    "edra", "elium", "emont", "enda", "entis", "era", "eron", "esta", "evan", "idian", "ilon",
    "imex", "indo", "ion", "iris", "ital", "ivo", "odyne", "olar", "omed", "onda", "opix", "ora",
    "orbis", "oval", "udora", "ulus", "umar", "una", "uvia", "yra",
];

/// Second words of company names.
pub(crate) const COMPANY_FIELDS: [&str; 48] = [
    "Airways",
    "Apparel",
    "Automation",
    "Beverages",
    "Biologics",
    "Bottling",
    "Brands",
    "Cement",
    "Ceramics",
    "Chemicals",
    "Circuits",
    "Coatings",
    "Data",
    "Design",
    "Devices",
    "Energy",
    "Engines",
    "Fibers",
    "Foods",
    "Forest",
    "Freight",
    "Furniture",
    "Glass",
    "Health",
    "Homes",
    "Hotels",
    "Instruments",
    "Insurance",
    "Logistics",
    "Machinery",
    "Marine",
    "Media",
    "Metals",
    "Mining",
    "Motors",
    "Networks",
    "Optics",
    "Packaging",
    "Paper",
    "Pharma",
    "Plastics",
    "Power",
    "Rail",
    "Software",
    "Steel",
    "Stores",
    "Systems",
    "Water",
];

/// Last words of company names.
pub(crate) const COMPANY_FORMS: [&str; 16] = [
    "Associates",
    "Combine",
    "Company",
    "Corp",
    "Enterprises",
    "Group",
    "Holdings",
    "Inc",
    "Industries",
    "International",
    "Limited",
    "Partners",
    "Public Co",
    "Services",
    "Trust",
    "Works",
];

/// Exchanges: id, name, description.
pub(crate) const EXCHANGES: [(&str, &str, &str); 4] = [
    (
        "NORD",
        "Northern Stock Exchange",
        "Trades shares of large companies on an open floor.",
    ),
    (
        "COAST",
        "Coast Electronic Market",
        "Trades shares by machine alone, in any quantity.",
    ),
    (
        "INLAND",
        "Inland Board of Trade",
        "Trades shares of companies of the middle provinces.",
    ),
    (
        "UNION",
        "Union Exchange",
        "Trades shares of young companies and preferred stock.",
    ),
];

/// Suffixes of street names.
pub(crate) const STREET_KINDS: [&str; 8] = [
    "Street", "Road", "Avenue", "Lane", "Way", "Square", "Terrace", "Drive",
];

/// Countries of customers and companies.
pub(crate) const COUNTRIES: [&str; 2] = ["Averland", "Northmark"];

/// Sectors: id, name, industries.
pub(crate) const SECTORS: [(&str, &str, &[&str]); 12] = [
    (
        "BM",
        "Basic materials",
        &[
            "Chemical manufacturing",
            "Plastics and rubber",
            "Containers and packaging",
            "Fabricated metal",
            "Forestry and timber",
            "Gold and silver mining",
            "Iron and steel",
            "Metal mining",
            "Paper and pulp",
        ],
    ),
    (
        "CG",
        "Capital goods",
        &[
            "Aircraft and defence",
            "Building materials",
            "Building fixtures",
            "Construction and farm machines",
            "Civil engineering",
            "Mobile homes",
            "Machine tools",
            "Heavy vehicles",
            "Pumps and valves",
        ],
    ),
    (
        "CO",
        "Conglomerates",
        &[
            "Mixed manufacturing",
            "Mixed trading",
            "Mixed finance",
            "Mixed services",
            "Family holdings",
            "State holdings",
            "Plantations",
            "Estates and land",
        ],
    ),
    (
        "CC",
        "Consumer cyclical",
        &[
            "Clothing",
            "Appliances and tools",
            "Audio and video sets",
            "Car parts",
            "Cars and trucks",
            "Shoes",
            "Furniture and fixtures",
            "Jewellery",
            "Toys and sport goods",
        ],
    ),
    (
        "CN",
        "Consumer staples",
        &[
            "Breweries",
            "Soft drinks",
            "Crops",
            "Fish and livestock",
            "Food processing",
            "Office supplies",
            "Soap and cosmetics",
            "Tobacco",
            "Dairies",
        ],
    ),
    (
        "EN",
        "Energy",
        &[
            "Coal",
            "Oil and gas production",
            "Integrated oil",
            "Oil services",
            "Pipelines",
            "Refineries",
            "Wind and sun",
            "Fuel trading",
        ],
    ),
    (
        "FI",
        "Finance",
        &[
            "Consumer lending",
            "Investment services",
            "Life insurance",
            "Property insurance",
            "Insurance brokers",
            "Large banks",
            "Regional banks",
            "Savings banks",
            "Leasing",
        ],
    ),
    (
        "HC",
        "Health care",
        &[
            "Biotechnology",
            "Medicines",
            "Hospitals",
            "Medical equipment",
            "Laboratories",
            "Dental supplies",
            "Care homes",
            "Veterinary supplies",
        ],
    ),
    (
        "SV",
        "Services",
        &[
            "Advertising",
            "Broadcasting",
            "Casinos",
            "Hotels and motels",
            "Printing and publishing",
            "Restaurants",
            "Grocery stores",
            "Department stores",
            "Schools",
        ],
    ),
    (
        "TE",
        "Technology",
        &[
            "Communication equipment",
            "Computer makers",
            "Computer networks",
            "Storage devices",
            "Electronic instruments",
            "Scientific instruments",
            "Semiconductors",
            "Programming",
        ],
    ),
    (
        "TR",
        "Transportation",
        &[
            "Airlines",
            "Air freight",
            "Bus lines",
            "Railways",
            "Trucking",
            "Shipping lines",
            "Harbours",
            "Warehousing",
        ],
    ),
    (
        "UT",
        "Utilities",
        &[
            "Electricity",
            "Natural gas",
            "Water supply",
            "District heating",
            "Waste removal",
            "Recycling",
            "Telephone lines",
            "Street lighting",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_names_are_different_and_short() {
        let name_lists = name_lists();
        for (list, count, longest) in [
            (&name_lists.first_names, 400, 20),
            (&name_lists.last_names, 1_600, 25),
            (&name_lists.company_stems, COMPANY_STEMS, 12),
            (&name_lists.towns, 900, 20),
        ] {
            let different: HashSet<&String> = list.iter().collect();
            assert_eq!((list.len(), different.len()), (count, count));
            assert!(list.iter().all(|word| word.len() <= longest));
        }
    }

    #[test]
    fn there_are_102_industries_in_12_sectors() {
        let industries = &name_lists().industries;
        let ids: HashSet<&String> = industries.iter().map(|one| &one.id).collect();
        let names: HashSet<&str> = industries.iter().map(|one| one.name).collect();
        assert_eq!((industries.len(), ids.len(), names.len()), (102, 102, 102));
        assert!(
            SECTORS
                .iter()
                .all(|(id, name, _)| id.len() == 2 && name.len() <= 30)
        );
        assert!(
            EXCHANGES
                .iter()
                .all(|(id, _, text)| id.len() <= 6 && text.len() <= 150)
        );
    }
}
