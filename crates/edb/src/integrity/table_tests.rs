use super::table::{Contents, ReadCheck, VersionTable};
use super::version::DbtimeRange;
use runtime::Runtime;

#[test]
fn zeros_beside_the_first_write_of_a_page_are_read_again() {
    let table = VersionTable::new(&Runtime::virtual_clock().handle());
    table.set_range(DbtimeRange::ANY, 0);
    table.zero_filled(1, 4);
    let early = table.begin_read();
    let zeros = |reading| table.judge(reading, 3, Contents::Zero);
    assert_eq!(zeros(&early), ReadCheck::NeverWritten);
    let write = table.begin_write(3, std::iter::once(7));
    assert_eq!(zeros(&early), ReadCheck::NeverWritten);
    write.completed();
    assert_eq!(zeros(&early), ReadCheck::Disturbed);
    assert_eq!(zeros(&table.begin_read()), ReadCheck::Wrong);
}
