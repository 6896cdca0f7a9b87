//! Companies, their securities, industries and exchanges.

use super::data_set::DataSet;
use super::name_lists::{self, name_lists};
use super::names::{AffinePermutation, Symbol};

/// Companies per load unit (1,000 customers).
pub const COMPANIES_PER_UNIT: u32 = 500;

/// Securities per load unit: the common stock of every company, and preferred stock of some.
pub const SECURITIES_PER_UNIT: u32 = 685;

/// Issues of securities, and the number of companies per load unit that have them.
const ISSUES: [(&str, u32); 5] = [
    ("COMMON", COMPANIES_PER_UNIT),
    ("PREF_A", 100),
    ("PREF_B", 50),
    ("PREF_C", 25),
    ("PREF_D", 10),
];

/// Number of exchanges, in any data set.
pub const EXCHANGES: u32 = 4;

/// Number of competitors of each company.
pub const COMPETITORS: u32 = 3;

impl DataSet {
    /// Number of companies, half of the customers'.
    #[must_use]
    pub fn companies(&self) -> u32 {
        self.load_units() * COMPANIES_PER_UNIT
    }

    /// Number of securities, 0.685 per customer.
    #[must_use]
    pub fn securities(&self) -> u32 {
        self.load_units() * SECURITIES_PER_UNIT
    }

    /// The id of a company, counted from 0.
    #[must_use]
    pub fn company_id(&self, company: u32) -> i64 {
        i64::from(company) + 1
    }

    /// The unique name of a company, counted from 0.
    #[must_use]
    pub fn company_name(&self, company: u32) -> String {
        let mut text = String::with_capacity(60);
        self.write_company_name(company, &mut text);
        text
    }

    /// Appends [`Self::company_name`] to a text.
    pub fn write_company_name(&self, company: u32, text: &mut String) {
        const FORMS: u64 = name_lists::COMPANY_FORMS.len() as u64;
        const FIELDS: u64 = name_lists::COMPANY_FIELDS.len() as u64;
        const ORDER: AffinePermutation = AffinePermutation::new(
            name_lists::COMPANY_STEMS as u64 * FORMS * FIELDS,
            777_781,
            95_111,
        );
        let number = ORDER.number(u64::from(company));
        let (form, rest) = (number % FORMS, number / FORMS);
        let (field, stem) = (rest % FIELDS, rest / FIELDS);
        text.push_str(&name_lists().company_stems[stem as usize]);
        text.push(' ');
        text.push_str(name_lists::COMPANY_FIELDS[field as usize]);
        text.push(' ');
        text.push_str(name_lists::COMPANY_FORMS[form as usize]);
    }

    /// The symbol of a security, counted from 0.
    #[must_use]
    pub fn symbol(&self, security: u32) -> String {
        self.symbol_of(security).as_str().to_owned()
    }

    /// The symbol of a security, counted from 0, without an allocation.
    #[must_use]
    pub fn symbol_of(&self, security: u32) -> Symbol {
        Symbol::of(security)
    }

    /// The security of a symbol, counted from 0.
    #[must_use]
    pub fn security_of_symbol(&self, symbol: &str) -> Option<u32> {
        let security = u32::try_from(Symbol::security(symbol)?).ok()?;
        (security < self.securities()).then_some(security)
    }

    /// The company of a security, both counted from 0.
    #[must_use]
    pub fn company_of_security(&self, security: u32) -> u32 {
        let unit = security / SECURITIES_PER_UNIT;
        unit * COMPANIES_PER_UNIT + issue_of(security).1
    }

    /// Which issue of its company a security is, such as `COMMON`.
    #[must_use]
    pub fn issue(&self, security: u32) -> &'static str {
        issue_of(security).0
    }

    /// The securities of a company, all counted from 0.
    pub fn securities_of_company(&self, company: u32) -> impl Iterator<Item = u32> + use<> {
        let (unit, place) = (company / COMPANIES_PER_UNIT, company % COMPANIES_PER_UNIT);
        let mut first = unit * SECURITIES_PER_UNIT;
        ISSUES.into_iter().filter_map(move |(_, companies)| {
            let security = first + place;
            first += companies;
            (place < companies).then_some(security)
        })
    }

    /// Appends the name of a security to a text: that of its company and of the issue.
    pub fn write_security_name(&self, security: u32, text: &mut String) {
        self.write_company_name(self.company_of_security(security), text);
        text.push(' ');
        text.push_str(self.issue(security));
    }

    /// The exchange, counted from 0, on which a security is traded.
    #[must_use]
    pub fn exchange_of_security(&self, security: u32) -> u32 {
        security % EXCHANGES
    }

    /// Number of exchanges, in any data set.
    #[must_use]
    pub fn exchanges(&self) -> u32 {
        EXCHANGES
    }

    /// The id of an exchange, counted from 0.
    #[must_use]
    pub fn exchange_id(&self, exchange: u32) -> &'static str {
        name_lists::EXCHANGES[exchange as usize].0
    }

    /// Number of sectors of the economy.
    #[must_use]
    pub fn sectors(&self) -> u32 {
        name_lists::SECTORS.len() as u32
    }

    /// The id of a sector, counted from 0.
    #[must_use]
    pub fn sector_id(&self, sector: u32) -> &'static str {
        name_lists::SECTORS[sector as usize].0
    }

    /// The name of a sector, counted from 0.
    #[must_use]
    pub fn sector_name(&self, sector: u32) -> &'static str {
        name_lists::SECTORS[sector as usize].1
    }

    /// Number of industries, in any data set.
    #[must_use]
    pub fn industries(&self) -> u32 {
        name_lists().industries.len() as u32
    }

    /// The id of an industry, counted from 0.
    #[must_use]
    pub fn industry_id(&self, industry: u32) -> &'static str {
        &name_lists().industries[industry as usize].id
    }

    /// The name of an industry, counted from 0.
    #[must_use]
    pub fn industry_name(&self, industry: u32) -> &'static str {
        name_lists().industries[industry as usize].name
    }

    /// The sector of an industry, both counted from 0.
    #[must_use]
    pub fn sector_of_industry(&self, industry: u32) -> u32 {
        name_lists().industries[industry as usize].sector
    }

    /// The industry of a company, both counted from 0.
    #[must_use]
    pub fn industry_of_company(&self, company: u32) -> u32 {
        company % COMPANIES_PER_UNIT % self.industries()
    }

    /// The competitors of a company, of the same industry and load unit.
    pub fn competitors(&self, company: u32) -> impl Iterator<Item = u32> + use<> {
        let (unit, place) = (company / COMPANIES_PER_UNIT, company % COMPANIES_PER_UNIT);
        let apart = self.industries();
        let first = place % apart;
        let members = (COMPANIES_PER_UNIT - first).div_ceil(apart);
        (1..=COMPETITORS).map(move |step| {
            let member = (place / apart + step) % members;
            unit * COMPANIES_PER_UNIT + first + member * apart
        })
    }

    /// The id of the address of an exchange.
    #[must_use]
    pub fn address_of_exchange(&self, exchange: u32) -> i64 {
        i64::from(exchange) + 1
    }

    /// The id of the address of a company.
    #[must_use]
    pub fn address_of_company(&self, company: u32) -> i64 {
        let (unit, place) = (company / COMPANIES_PER_UNIT, company % COMPANIES_PER_UNIT);
        first_address(unit) + i64::from(place)
    }

    /// The id of the address of a customer.
    #[must_use]
    pub fn address_of_customer(&self, customer: u32) -> i64 {
        let unit = customer / super::LOAD_UNIT;
        let place = COMPANIES_PER_UNIT + customer % super::LOAD_UNIT;
        first_address(unit) + i64::from(place)
    }
}

/// Addresses per load unit, of customers and their companies.
pub const ADDRESSES_PER_UNIT: u32 = COMPANIES_PER_UNIT + super::LOAD_UNIT;

/// The id of the first address of a load unit; those of the exchanges come first.
pub(crate) fn first_address(unit: u32) -> i64 {
    i64::from(EXCHANGES) + 1 + i64::from(unit) * i64::from(ADDRESSES_PER_UNIT)
}

/// The issue of a security, and the number of its company in the load unit.
fn issue_of(security: u32) -> (&'static str, u32) {
    let mut place = security % SECURITIES_PER_UNIT;
    for (issue, companies) in ISSUES {
        if place < companies {
            return (issue, place);
        }
        place -= companies;
    }
    unreachable!("the issues of a unit add up to its securities")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn securities_belong_to_companies_and_back() {
        let data_set = DataSet::new(2_000, 1, 1);
        let mut seen = HashSet::new();
        for company in 0..data_set.companies() {
            let mut issues = HashSet::new();
            for security in data_set.securities_of_company(company) {
                assert_eq!(data_set.company_of_security(security), company);
                assert!(issues.insert(data_set.issue(security)));
                assert!(seen.insert(security));
                assert_eq!(
                    data_set.security_of_symbol(&data_set.symbol(security)),
                    Some(security)
                );
            }
            assert!(issues.contains("COMMON"));
        }
        assert_eq!(seen.len() as u32, data_set.securities());
        assert_eq!(data_set.securities(), 1_370);
        let foreign = DataSet::new(3_000, 1, 1).symbol(1_370);
        assert_eq!(data_set.security_of_symbol(&foreign), None);
    }

    #[test]
    fn company_names_are_unique_in_the_largest_data_set() {
        let data_set = DataSet::new(crate::dataset::MAX_CUSTOMERS, 1, 1);
        let mut name = String::new();
        let mut seen = HashSet::with_capacity(data_set.companies() as usize);
        for company in 0..data_set.companies() {
            name.clear();
            data_set.write_company_name(company, &mut name);
            assert!(name.len() <= 60);
            // 64 bits distinguish a million names.
            seen.insert(hashed(&name));
        }
        assert_eq!(seen.len() as u32, data_set.companies());

        fn hashed(name: &str) -> u64 {
            use std::hash::BuildHasher;
            std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::new().hash_one(name)
        }
    }

    #[test]
    fn competitors_are_others_of_the_same_industry() {
        let data_set = DataSet::new(2_000, 1, 1);
        for company in 0..data_set.companies() {
            let mut all: HashSet<u32> = data_set.competitors(company).collect();
            all.insert(company);
            assert_eq!(all.len(), 4);
            let industry = data_set.industry_of_company(company);
            assert!(
                all.iter()
                    .all(|&one| data_set.industry_of_company(one) == industry)
            );
            assert!(all.iter().all(|&one| one < data_set.companies()));
        }
    }

    #[test]
    fn addresses_do_not_overlap() {
        let data_set = DataSet::new(2_000, 1, 1);
        let mut all: Vec<i64> = (0..4)
            .map(|one| data_set.address_of_exchange(one))
            .collect();
        all.extend((0..data_set.companies()).map(|one| data_set.address_of_company(one)));
        all.extend((0..data_set.customers()).map(|one| data_set.address_of_customer(one)));
        all.sort_unstable();
        assert!(
            all.iter()
                .enumerate()
                .all(|(place, &id)| id == place as i64 + 1)
        );
        assert_eq!(all.len(), 3_004);
    }
}
