//! Quotes the first 100 bytes of the text, of an utterance with its spaces
//! counted; all of it is checked to be UTF-8.

mod locket;

use locket::{Candidate, Code, Event, Output};

fn extract(e: &Event, o: &mut Output) -> Result<(), Code> {
    let spaces = if e.kind == "utterance" { e.text.bytes().filter(|&b| b == b' ').count() } else { 0 };
    let end = e.text.len().min(100);
    o.add(&Candidate {
        memory: "semantic",
        text: &e.text[..end],
        confidence: 1.0 / (1 + spaces) as f64,
        sensitivity: "personal",
        span: Some((0, end)),
        ..Candidate::default()
    });
    Ok(())
}
