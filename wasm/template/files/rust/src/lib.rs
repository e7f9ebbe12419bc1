//! Notes where the car is: "I parked on level 3, row B".

mod locket;

use locket::{Candidate, Code, Event, Output, Slot};

fn extract(e: &Event, o: &mut Output) -> Result<(), Code> {
    const CUES: [&str; 3] = ["i parked ", "i've parked ", "the car is "];
    // ASCII letters only change their case: bytes stay where they are.
    let small = e.text.to_ascii_lowercase();
    let mut from = 0;
    while from < small.len() {
        let found = CUES.iter().filter_map(|c| small[from..].find(c).map(|at| (from + at, c.len()))).min();
        let (start, cue) = match found {
            Some(f) => f,
            None => break,
        };
        let at = start + cue;
        let end = small[at..].find(|c| matches!(c, '.' | '!' | '?' | '\n' | ';')).map_or(small.len(), |n| at + n);
        from = end;
        let place = e.text[at..end].trim();
        // "parked" alone says nothing, and a whole story is no place.
        if place.is_empty() || place.len() > 120 || !["on ", "in ", "at ", "by ", "near ", "behind ", "next "].iter().any(|p| place.to_ascii_lowercase().starts_with(p)) {
            continue;
        }
        let wearer = if e.wearer.is_empty() { "The wearer" } else { e.wearer };
        let text = format!("{}'s car is {}", wearer, place);
        let fits = o.add(&Candidate {
            memory: "semantic",
            text: &text,
            kind: "parking",
            slot: Some(Slot { subject: "car", attribute: "parked", value: place, many: false }),
            confidence: 0.8,
            sensitivity: "personal",
            span: Some((start, end)),
            ..Candidate::default()
        });
        if !fits {
            break; // an answer is full
        }
    }
    Ok(())
}
