// Quotes the first 100 characters of the text, of an utterance with its spaces
// counted; all of it is checked to be UTF-8.
import { Candidate, Event, OK, Output } from "./locket";

export function extract(e: Event, o: Output): i32 {
  let spaces = 0;
  if (e.kind == "utterance") {
    for (let i = 0; i < e.text.length; i++) {
      if (e.text.charCodeAt(i) == 0x20) spaces++;
    }
  }
  const c = new Candidate();
  c.type = "semantic";
  c.text = e.text.substring(0, 100);
  c.confidence = 1.0 / <f64>(1 + spaces);
  c.sensitivity = "personal";
  c.from = 0;
  c.to = min(e.text.length, 100);
  o.add(c);
  return OK;
}
