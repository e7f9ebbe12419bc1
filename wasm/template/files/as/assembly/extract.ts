// Notes what you lent to whom: "I lent my drill to Tom".
import { Candidate, Event, OK, Output } from "./locket";

// Letters of ASCII in small; all places stay what they are.
function small(s: string): string {
  const out = new Array<i32>(s.length);
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    out[i] = c >= 0x41 && c <= 0x5a ? c + 32 : c;
  }
  return String.fromCharCodes(out);
}

function isName(c: i32): bool {
  return (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || c > 0x7f || c == 0x2d || c == 0x27;
}

export function extract(e: Event, o: Output): i32 {
  const cue = "i lent my ";
  const text = small(e.text);
  for (let start = text.indexOf(cue); start >= 0; start = text.indexOf(cue, start + 1)) {
    const thing = start + cue.length;
    const to = text.indexOf(" to ", thing);
    if (to < 0) break;
    const who = to + 4;
    let end = who;
    while (end < text.length && isName(text.charCodeAt(end))) end++;
    if (to == thing || to - thing > 60 || end == who || end - who > 60) continue;
    const what = e.text.substring(thing, to);
    const name = e.text.substring(who, end);
    const c = new Candidate();
    c.type = "semantic";
    c.kind = "loan";
    c.text = (e.wearer.length > 0 ? e.wearer : "The wearer") + " lent the " + what + " to " + name;
    c.subject = what;
    c.attribute = "lent_to";
    c.value = name;
    c.confidence = 0.8;
    c.sensitivity = "personal";
    c.from = start;
    c.to = end;
    if (!o.add(c)) break; // an answer is full
  }
  return OK;
}
