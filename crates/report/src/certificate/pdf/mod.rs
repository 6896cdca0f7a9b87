//! A certificate as a PDF file of A4 pages, in fonts that every reader of PDF has.

mod draw;
mod font;
mod sheet;

use pdf_writer::{Finish, Name, Pdf, Rect, Ref, TextStr};

use super::Certificate;
use font::Font;
use sheet::{HEIGHT, WIDTH};

/// Objects of the file before those of its pages.
const FIRST_PAGE: i32 = 10;

/// The bytes of the file, and whether its fonts have every letter.
pub(super) fn file(certificate: &Certificate) -> (Vec<u8>, bool) {
    let sheets = draw::sheets(certificate);
    let (catalog, tree, information) = (Ref::new(1), Ref::new(2), Ref::new(3));
    let page_of = |number: usize| Ref::new(FIRST_PAGE + 2 * number as i32);
    let content_of = |number: usize| Ref::new(FIRST_PAGE + 2 * number as i32 + 1);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(tree).lang(TextStr("en"));
    let pages = (0..sheets.pages.len()).map(page_of);
    pdf.pages(tree).kids(pages).count(sheets.pages.len() as i32);
    pdf.document_info(information)
        .title(TextStr(&certificate.title))
        .subject(TextStr(&certificate.subtitle))
        .producer(TextStr("Proofload"));
    for (number, font) in Font::ALL.into_iter().enumerate() {
        pdf.type1_font(font_ref(number))
            .base_font(Name(font.name()))
            .encoding_predefined(Name(b"WinAnsiEncoding"));
    }
    for (number, content) in sheets.pages.into_iter().enumerate() {
        let mut page = pdf.page(page_of(number));
        page.media_box(Rect::new(0.0, 0.0, WIDTH, HEIGHT));
        page.parent(tree);
        page.contents(content_of(number));
        let mut resources = page.resources();
        let mut fonts = resources.fonts();
        for (number, font) in Font::ALL.into_iter().enumerate() {
            fonts.pair(Name(font.label()), font_ref(number));
        }
        fonts.finish();
        resources.finish();
        page.finish();
        pdf.stream(content_of(number), &content.finish());
    }
    (pdf.finish(), sheets.is_whole)
}

fn font_ref(number: usize) -> Ref {
    Ref::new(4 + number as i32)
}
