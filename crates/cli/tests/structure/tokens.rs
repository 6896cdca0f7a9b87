//! The words of a source file, without what is for tests.

/// A word, `::` or one other character of a source, with its line. Comments, strings and lifetimes are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|&b| b == b'_' || b.is_ascii_alphanumeric())
    };
    let find = |from: usize, end: &str| {
        text[from..]
            .find(end)
            .map_or(text.len(), |at| from + at + end.len())
    };
    let (mut found, mut line, mut at) = (Vec::new(), 1, 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let mut kept = false;
        let end = if rest.starts_with("//") {
            find(at, "\n") - 1
        } else if rest.starts_with("/*") {
            find(at, "*/")
        } else if rest.starts_with("r\"") || rest.starts_with("r#\"") || rest.starts_with("r##\"") {
            let marks = rest[1..].bytes().take_while(|&b| b == b'#').count();
            find(at + marks + 2, &format!("\"{}", "#".repeat(marks)))
        } else if rest.starts_with('"') {
            let mut end = at + 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            end + 1
        } else if rest.starts_with("'\\") {
            find(at + 3, "'")
        } else if rest.starts_with('\'') && bytes.get(at + 2) == Some(&b'\'') {
            at + 3
        } else if let Some(name) = rest.strip_prefix('\'') {
            let letters = name.bytes().take_while(u8::is_ascii_alphanumeric);
            at + 1 + letters.count()
        } else if word(at) {
            kept = true;
            (at..).find(|&end| !word(end)).unwrap_or(at)
        } else {
            kept = !rest.starts_with(char::is_whitespace);
            at + if rest.starts_with("::") { 2 } else { 1 }
        };
        let text = &text[at..end];
        if kept {
            found.push(Token {
                text: text.to_owned(),
                line,
            });
        }
        line += text.matches('\n').count();
        at = end;
    }
    found
}

/// Where the item ends that begins at `at`: behind its semicolon or its closing brace.
pub fn item_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    let import = tokens[at..].iter().take(6).any(|token| token.text == "use");
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" if depth == 0 => return index,
            "}" if depth == 1 && !import => return index + 1,
            "}" | ")" | "]" => depth -= 1,
            ";" if depth == 0 => return index + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Leaves out every item for tests: what follows `#[cfg(test)]`.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let begins = |at: usize, words: &[&str]| {
        words.iter().enumerate().all(|(index, word)| {
            tokens
                .get(at + index)
                .is_some_and(|token| token.text == *word)
        })
    };
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if begins(at, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            at += 7;
            while begins(at, &["#", "["]) {
                at += 2
                    + tokens[at + 2..]
                        .iter()
                        .position(|token| token.text == "]")
                        .unwrap_or(0)
                    + 1;
            }
            at = item_end(tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}
