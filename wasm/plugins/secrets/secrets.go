// Package secrets finds credentials in what was said or written, in English and Chinese, so
// that they go to the vault and are redacted everywhere else. It runs before every other
// extractor.
//
// The words:
//
//   - A cue names a credential: "the alarm code", "门禁密码".
//   - A value is the credential itself: "tulip-42-harbor", "four eight one
//     five", "capital T, u, l, i, p", 四八二一.
//   - A shape is a value that needs no cue: a key with a known prefix, a card number that passes
//     Luhn, an IBAN, a Chinese identity number.
//   - A part is a piece of a value that is said over several turns: "the first
//     half is 48-15".
//
// A cue and its value may be in different turns, of different speakers.
package secrets

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// Version of the extractor, as its manifest says.
const Version = "1.1.0"

// lookBack is how many turns a cue waits for its value, and maxWait how
// long.
const (
	lookBack = 3
	maxWait  = 10 * 60 * 1000 // ms
)

// Extractor finds secrets. It is safe for concurrent use.
type Extractor struct{}

// New makes an extractor.
func New() *Extractor { return &Extractor{} }

// found is one credential in this turn, or a part of one.
type found struct {
	value
	turn  int // 0, or -1 for the turn before
	cue   cue
	known bool // found by shape or cue; false: by similarity to a secret of an earlier turn
	part  part
}

// Extract reads the text of ev and the turns before it, and appends to out the spans to
// redact and the vault candidates. Its state holds hashes of the last secrets, so that
// repetitions are redacted, and the parts that wait for their other half. It returns no
// error.
func (x *Extractor) Extract(ev *abi.Event, out *abi.Output) error {
	mem := decodeMemory(ev.State)
	ev = withShortTurns(ev)
	said := make([]words, len(ev.Before)+1)
	for i, b := range ev.Before {
		said[i].text = b.Text
	}
	said[len(ev.Before)].text = ev.Text
	if len(ev.State) == 0 { // no state: learn it again from the earlier turns
		for i, b := range ev.Before {
			earlier := abi.Event{ID: b.ID, At: b.At, Speaker: b.Speaker, Text: b.Text, Before: ev.Before[:i]}
			mem.expire(b.At)
			turn(&earlier, said[:i+1], &mem, &abi.Output{})
		}
	}
	mem.expire(ev.At)
	turn(ev, said, &mem, out)
	out.State = mem.encode()
	return nil
}

// maxBefore is how much of an earlier turn is read, in bytes.
const maxBefore = 4 << 10

// withShortTurns returns the event with its earlier turns cut, between characters.
func withShortTurns(ev *abi.Event) *abi.Event {
	short := *ev
	short.Before = slices.Clone(ev.Before)
	for i := range short.Before {
		b := &short.Before[i]
		n := min(len(b.Text), maxBefore)
		for n > 0 && n < len(b.Text) && !utf8.RuneStart(b.Text[n]) {
			n--
		}
		b.Text = b.Text[:n]
	}
	return &short
}

// words are a text's tokens and cues, computed on first use.
type words struct {
	text string
	toks []token
	cues []cue
}

func (w *words) read() ([]token, []cue) {
	if w.toks == nil {
		w.toks = lex(w.text)
		w.cues = findCues(w.text, w.toks)
	}
	return w.toks, w.cues
}

// turn finds the secrets of one turn. The last of said is its own text, and those before it are of ev.Before.
func turn(ev *abi.Event, said []words, mem *recalled, out *abi.Output) {
	toks, cues := said[len(ev.Before)].read()
	var all []found
	taken := make([]int32, len(ev.Text)) // for each byte the index in all of what covers it, from 1
	take := func(f found) {
		i := overlapped(all, taken, &f)
		switch {
		case i < 0:
			i = len(all)
			all = append(all, f)
		case !all[i].known && f.known || all[i].cue.label == "" && f.cue.label != "" && f.secret == all[i].secret:
			all[i] = f
		default:
			return
		}
		for k := f.start; f.turn == 0 && k < f.end; k++ {
			taken[k] = int32(i + 1)
		}
	}
	for _, s := range shapes(ev.Text, toks) {
		take(s)
	}
	for _, s := range documents(ev.Text, toks) {
		take(s)
	}
	for _, s := range spokenNumbers(toks) {
		take(s)
	}
	open := openCue(ev, said)
	for _, f := range partsOf(ev, toks, cues, open) {
		take(f)
	}
	for _, c := range cues {
		f, ok := byCue(ev, toks, c)
		if !ok {
			continue
		}
		take(f)
		if k := nowIs(toks, f.next); k > 0 && f.turn == 0 {
			if v, ok := parseValue(ev.Text, toks, k, c.class, false); ok {
				take(found{value: v, cue: c, known: true})
			}
		}
	}
	for _, f := range byOpener(ev.Text, toks) {
		take(f)
	}
	for _, f := range dialled(ev, toks) {
		take(f)
	}
	if waits := waiting(cues); len(all) == 0 && len(waits) > 0 {
		if f, ok := dangling(ev.Text, toks, waits[len(waits)-1]); ok {
			take(f)
		}
	}
	if len(all) == 0 {
		if f, ok := continued(ev, toks, mem); ok {
			take(f)
		}
	}
	if len(all) == 0 && open.noun != "" {
		if v, ok := answer(ev.Text, toks, open); ok {
			f := found{value: v, cue: open, known: true}
			if unfinished(ev.Text, toks, v) {
				f.part = firstPart
			}
			take(f)
		}
	}
	for _, v := range repeats(toks, ev.Text, mem) {
		take(found{value: v})
	}
	for i := range all {
		mem.add(ev, &all[i], out)
	}
	bound(out)
}

// overlapped returns the index in all of what f overlaps, or -1. Texts before this one hold at most
// one secret.
func overlapped(all []found, taken []int32, f *found) int {
	if f.turn == 0 {
		for k := f.start; k < f.end; k++ {
			if taken[k] > 0 {
				return int(taken[k]) - 1
			}
		}
		return -1
	}
	return slices.IndexFunc(all, func(o found) bool { return o.turn == f.turn && f.start < o.end && o.start < f.end })
}

// Limits of one turn. The contract allows a few more; a text with that many secrets is a list of
// them, and is redacted in runs.
const (
	maxRedactions = 200
	maxCandidates = 50
)

// bound keeps the output within the contract: successive redactions become one over
// everything in between, and surplus candidates are dropped, since they are redacted
// anyway.
func bound(out *abi.Output) {
	out.Candidates = out.Candidates[:min(len(out.Candidates), maxCandidates)]
	n := len(out.Redactions)
	if n <= maxRedactions {
		return
	}
	all := slices.Clone(out.Redactions)
	slices.SortFunc(all, func(a, b abi.Redaction) int {
		return cmp.Or(cmp.Compare(b.Span.Turn, a.Span.Turn), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	run := (n + maxRedactions - 3) / (maxRedactions - 2) // two runs may break off at the end of a turn
	merged, in := all[:0], 0
	for _, r := range all {
		if last := len(merged) - 1; in > 0 && in < run && merged[last].Span.Turn == r.Span.Turn {
			merged[last].Span.End = max(merged[last].Span.End, r.Span.End)
			in++
			continue
		}
		merged, in = append(merged, r), 1
	}
	out.Redactions = merged
}

// byCue looks for the value of a cue of the same turn: after it, or before
// it ("4821 is the door code"), or in the turn before ("that's the alarm
// code").
func byCue(ev *abi.Event, toks []token, c cue) (found, bool) {
	if v, ok := parseValue(ev.Text, toks, c.value, c.class, !c.linked); ok && c.value <= len(toks) {
		f := found{value: v, cue: c, known: true}
		if unfinished(ev.Text, toks, v) {
			f.part = firstPart
		}
		return f, true
	}
	if v, ok := parsePart(ev.Text, toks, c.value, c.class); ok && ((c.class == pinValue || c.class == codeCode) && v.next == len(toks) ||
		(c.class != keyValue && c.class != anyValue && (c.linked || c.class != bareCode)) && unfinished(ev.Text, toks, v)) {
		return found{value: v, cue: c, known: true, part: firstPart}, true
	}
	if k := c.copula; k > 0 {
		for j := max(0, k-14); j < k; j++ {
			if v, ok := parseValue(ev.Text, toks[:k], j, c.class, true); ok && v.next == k {
				return found{value: v, cue: c, known: true}, true
			}
		}
		if n := len(ev.Before); n > 0 && k <= 2 && isThat(toks[k-1].s) && ev.At-ev.Before[n-1].At <= maxWait {
			before := ev.Before[n-1].Text
			bt := lex(before)
			if v, ok := answer(before, bt, c); ok {
				return found{value: v, turn: -1, cue: c, known: true}, true
			}
		}
	}
	return found{}, false
}

func isThat(s string) bool {
	return s == "that" || s == "this" || s == "it" || s == "那" || s == "这"
}

// waiting returns the cues whose value may come in a later turn. "The wifi" alone is not one, so it
// hides no other cue.
func waiting(cues []cue) (out []cue) {
	for _, c := range cues {
		if c.class != wordyValue {
			out = append(out, c)
		}
	}
	return out
}

// openCue returns the latest cue of an earlier turn, or of this one, that has no value
// yet.
func openCue(ev *abi.Event, said []words) cue {
	_, cues := said[len(ev.Before)].read()
	if here := waiting(cues); len(here) > 0 {
		return here[len(here)-1]
	}
	first := max(0, len(ev.Before)-lookBack)
	for i := len(ev.Before) - 1; i >= first; i-- {
		b := &ev.Before[i]
		if ev.At-b.At > maxWait {
			break
		}
		bt, all := said[i].read()
		cues := waiting(all)
		if len(cues) == 0 {
			continue
		}
		c := cues[len(cues)-1]
		if _, ok := parseValue(b.Text, bt, c.value, c.class, !c.linked); ok && !hasPart(bt) {
			return cue{} // answered in the same turn
		}
		c.turn = i - len(ev.Before)
		c.speaker = b.Speaker
		return c
	}
	return cue{}
}
