package secrets

import (
	"encoding/binary"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

const (
	maxKnown   = 32 // secrets that are recognised when they are repeated
	maxPending = 4
	// maxRepeated is in how many words a repeated secret is searched for.
	maxRepeated = 40
)

// recalled is what the extractor keeps between events: hashes of the last secrets, so
// that a repetition without a cue is redacted, too, and the parts that wait for the
// rest. Parts are clear text, and leave the state when they are joined or after
// maxWait.
type recalled struct {
	known   []uint64
	pending []piece
}

type piece struct {
	at      int64
	label   string
	entry   string
	secret  string
	speaker string
	loose   string // not empty: only "and then …", or a turn that begins with digits, continues it
}

// fold hashes a secret without case and marks: 64-bit FNV-1a. The state is sealed like everything
// else in the store; the hash only keeps the secret itself out of it, and needs no cryptographic
// package in the guest.
func fold(s string) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(strings.ToLower(s)) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 0x80 {
			h = (h ^ uint64(c)) * 1099511628211
		}
	}
	return h
}

func (m *recalled) expire(now int64) {
	kept := m.pending[:0]
	for _, p := range m.pending {
		if now-p.at <= maxWait && now >= p.at-maxWait {
			kept = append(kept, p)
		}
	}
	m.pending = kept
}

func (m *recalled) knows(s string) bool {
	h := fold(s)
	for _, k := range m.known {
		if k == h {
			return true
		}
	}
	return false
}

func (m *recalled) learn(s string) {
	if len(s) < 4 || m.knows(s) {
		return
	}
	m.known = append(m.known, fold(s))
	m.known = m.known[max(0, len(m.known)-maxKnown):]
}

// repeats finds repetitions of the known secrets.
func repeats(toks []token, text string, m *recalled) []value {
	if len(m.known) == 0 {
		return nil
	}
	var all []value
	for i := 0; i < len(toks); i++ {
		els, _, _ := elements(text, toks[:min(len(toks), i+maxRepeated)], i, anyValue, true)
		if len(els) == maxRepeated { // this is a list, not a secret
			i += maxRepeated / 2
			continue
		}
		for n := len(els); n > 0; n-- {
			s := assemble(text, els[:n])
			if len(s) >= 4 && m.knows(s) {
				v := value{start: els[0].start, end: els[n-1].end, secret: s}
				all = append(all, v)
				for i+1 < len(toks) && toks[i+1].start < v.end {
					i++
				}
				break
			}
		}
		if t := toks[i]; len(els) == 0 && t.kind == 'w' && len(t.s) >= 5 && m.knows(t.s) && !function(t.s) {
			all = append(all, value{start: t.start, end: t.end, secret: t.s})
		}
	}
	return all
}

// add puts a finding into the output, and remembers it.
func (m *recalled) add(ev *abi.Event, f *found, out *abi.Output) {
	kind := f.cue.entry
	if kind == "" {
		kind = "secret"
	}
	out.Redactions = append(out.Redactions, abi.Redaction{Span: abi.Span{Turn: f.turn, Start: f.start, End: f.end}, Kind: kind})
	if !f.known || len(out.Redactions) > maxRedactions { // the rest of so long a list is only redacted
		return
	}
	label, secret := label(ev, f), f.secret
	m.learn(secret)
	if f.part != whole {
		for _, p := range m.pending {
			if f.part != firstPart && p.label == label {
				secret = join(p.secret, secret)
			}
		}
		m.learn(secret)
		kept := m.pending[:0]
		for _, p := range m.pending {
			if p.label != label {
				kept = append(kept, p)
			}
		}
		m.pending = kept
		if f.part != lastPart {
			m.pending = append(m.pending, piece{ev.At, label, f.cue.entry, secret, ev.Speaker, ""})
			m.pending = m.pending[max(0, len(m.pending)-maxPending):]
		}
	}
	if f.part == whole && f.turn == 0 && f.next > 0 && f.end == len(strings.TrimRight(ev.Text, " ")) && digitsOf(secret) == secret {
		m.pending = append(m.pending, piece{ev.At, label, f.cue.entry, secret, ev.Speaker, "loose"})
		m.pending = m.pending[max(0, len(m.pending)-maxPending):]
	}
	c := abi.Candidate{
		Type: "vault", Kind: kind, Text: label, Lang: ev.Lang, Label: label, EntryType: f.cue.entry, Secret: secret,
		Confidence: confidence(f), Sensitivity: "secret", Tags: []string{kind},
		Slot: &abi.Slot{Subject: "vault", Attribute: label, Value: "as of " + ev.ID},
	}
	if s, ok := evidence(ev, f); ok {
		c.Spans = []abi.Span{s}
	}
	for i := range out.Candidates { // a later part, or a repetition, within one turn
		if o := &out.Candidates[i]; o.Label == label {
			if f.part != whole || o.Secret == secret {
				o.Secret = secret
				return
			}
		}
	}
	out.Candidates = append(out.Candidates, c)
}

func confidence(f *found) float64 {
	switch {
	case f.part == firstPart:
		return 0.6
	case f.cue.turn < 0 || f.turn < 0:
		return 0.85
	}
	return 0.95
}

// evidence returns a span that does not touch the secret: the cue, or the words before or after the
// value.
func evidence(ev *abi.Event, f *found) (abi.Span, bool) {
	turn := f.cue.turn
	if f.cue.end > f.cue.start && (turn != f.turn || f.cue.end <= f.start || f.cue.start >= f.end) {
		return abi.Span{Turn: turn, Start: f.cue.start, End: f.cue.end}, true
	}
	if f.turn == 0 {
		if strings.TrimSpace(ev.Text[:f.start]) != "" {
			return abi.Span{Start: 0, End: f.start}, true
		}
		if strings.TrimSpace(ev.Text[f.end:]) != "" {
			return abi.Span{Start: f.end, End: len(ev.Text)}, true
		}
	}
	return abi.Span{}, false
}

// The state: a byte 1 for the version, count of hashes and the hashes (8 bytes each), then for each
// part its time (8 bytes), and label, entry type, text, speaker and looseness, each after its
// length in one byte.
const stateVersion = 1

func (m *recalled) encode() []byte {
	if len(m.known) == 0 && len(m.pending) == 0 {
		return nil
	}
	b := []byte{stateVersion, byte(len(m.known))}
	for _, k := range m.known {
		b = binary.BigEndian.AppendUint64(b, k)
	}
	for _, p := range m.pending {
		b = binary.BigEndian.AppendUint64(b, uint64(p.at))
		for _, s := range [...]string{p.label, p.entry, p.secret, p.speaker, p.loose} {
			s = s[:min(len(s), 255)]
			b = append(b, byte(len(s)))
			b = append(b, s...)
		}
	}
	return b
}

// decodeMemory reads what encode wrote, and ignores what it does not
// understand.
func decodeMemory(b []byte) recalled {
	var m recalled
	if len(b) < 2 || b[0] != stateVersion || len(b) < 2+8*int(b[1]) {
		return m
	}
	n := int(b[1])
	b = b[2:]
	for range n {
		m.known = append(m.known, binary.BigEndian.Uint64(b))
		b = b[8:]
	}
	for len(b) > 8 && len(m.pending) < maxPending {
		p := piece{at: int64(binary.BigEndian.Uint64(b))}
		b = b[8:]
		for _, s := range [...]*string{&p.label, &p.entry, &p.secret, &p.speaker, &p.loose} {
			if len(b) == 0 || len(b) < 1+int(b[0]) {
				return m
			}
			*s = string(b[1 : 1+int(b[0])])
			b = b[1+int(b[0]):]
		}
		m.pending = append(m.pending, p)
	}
	return m
}
