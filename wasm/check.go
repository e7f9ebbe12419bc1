package wasm

import (
	"slices"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// check checks a decoded answer: whether it is about this event, and whether the plugin was allowed
// to give it. If the answer contains something that was not granted, or names a place that does not
// exist, it is refused as a whole, with the place of the error. A candidate that is invalid by
// itself is left out, and noted in u.
func (p *Plugin) check(e *abi.Event, out *abi.Output, u *Usage) error {
	if len(out.State) > 0 && !p.grants[CapState] {
		return place(abi.CodeGrant, "output.state")
	}
	for i := range out.Candidates {
		if t := out.Candidates[i].Type; slices.Contains(candidateTypes, t) && !slices.Contains(p.manifest.Types, t) {
			return place(abi.CodeGrant, "output.candidates[%d].type", i)
		}
		if out.Candidates[i].Secret != "" && out.Candidates[i].Type != "vault" {
			return place(abi.CodeGrant, "output.candidates[%d].secret", i)
		}
	}
	for i, r := range out.Redactions {
		switch {
		case !p.grants[CapRedact]:
			return place(abi.CodeGrant, "output.redactions[%d]", i)
		case r.Span.Start == r.Span.End || !spanIn(e, r.Span):
			return place(abi.CodeRange, "output.redactions[%d].span", i)
		case r.Kind == "":
			return place(abi.CodeUnknown, "output.redactions[%d].kind", i)
		}
	}
	for i, a := range out.Annotations {
		switch {
		case a.Kind == "":
			return place(abi.CodeUnknown, "output.annotations[%d].kind", i)
		case a.From > a.To && a.To != 0:
			return place(abi.CodeRange, "output.annotations[%d]", i)
		}
	}
	if err := p.checkDerived(e, out.Derived); err != nil {
		return err
	}
	for i, r := range out.Refusals {
		if !spanIn(e, r.Span) {
			return place(abi.CodeRange, "output.refusals[%d].span", i)
		}
	}
	kept := out.Candidates[:0]
	for i := range out.Candidates {
		if reason := badCandidate(e, &out.Candidates[i], i); reason != nil {
			u.Dropped = append(u.Dropped, Drop{Index: i, Reason: reason})
			continue
		}
		kept = append(kept, out.Candidates[i])
	}
	clear(out.Candidates[len(kept):])
	if out.Candidates = kept; len(kept) == 0 {
		out.Candidates = nil
	}
	return nil
}

// maxBehind is how far before the event's start a derived one may begin, in samples: what fits into
// State as PCM, and a recording of ten minutes that the host still holds.
const maxBehind = 600 * 16000

// derivedKinds says which kinds of event may be derived from which. No kind can be derived from
// itself, not even indirectly, so the chain ends.
var derivedKinds = map[string][]string{"audio": {"utterance"}, "utterance": {"text"}}

func (p *Plugin) checkDerived(e *abi.Event, list []abi.Derived) error {
	samples := int64(len(e.PCM) / 2)
	for i, d := range list {
		switch {
		case !p.grants[CapDerive]:
			return place(abi.CodeGrant, "output.derived[%d]", i)
		case !slices.Contains(derivedKinds[e.Kind], d.Kind):
			return place(abi.CodeUnknown, "output.derived[%d].kind", i)
		case d.Kind == "text" && d.Text == "":
			return place(abi.CodeTruncated, "output.derived[%d].text", i)
		case d.From > d.To, d.From < -maxBehind, d.To > samples:
			return place(abi.CodeRange, "output.derived[%d]", i)
		case len(d.PCM)%2 != 0:
			return place(abi.CodeType, "output.derived[%d].pcm", i)
		}
	}
	return nil
}

// spanIn reports whether a span lies in the text of a turn that the plugin was given, and begins
// and ends between characters. The zero span does.
func spanIn(e *abi.Event, s abi.Span) bool {
	text := e.Text
	if s.Turn != 0 {
		i := len(e.Before) + s.Turn
		if s.Turn > 0 || i < 0 {
			return false
		}
		text = e.Before[i].Text
	}
	return 0 <= s.Start && s.Start <= s.End && s.End <= len(text) && boundary(text, s.Start) && boundary(text, s.End)
}

func boundary(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }

func badCandidate(e *abi.Event, c *abi.Candidate, i int) error {
	switch {
	case !slices.Contains(candidateTypes, c.Type):
		return place(abi.CodeUnknown, "output.candidates[%d].type", i)
	case c.Text == "":
		return place(abi.CodeTruncated, "output.candidates[%d].text", i)
	case c.Confidence < 0 || c.Confidence > 1:
		return place(abi.CodeNumber, "output.candidates[%d].confidence", i)
	case !slices.Contains([]string{"public", "personal", "private", "secret"}, c.Sensitivity):
		return place(abi.CodeUnknown, "output.candidates[%d].sensitivity", i)
	case c.TrueTo != 0 && c.TrueFrom > c.TrueTo:
		return place(abi.CodeRange, "output.candidates[%d].true_to", i)
	case c.Ended != 0 && c.Started > c.Ended:
		return place(abi.CodeRange, "output.candidates[%d].ended", i)
	case c.Type == "vault" && c.Secret == "":
		return place(abi.CodeTruncated, "output.candidates[%d].secret", i)
	case c.Slot != nil && (c.Slot.Subject == "" || c.Slot.Attribute == ""):
		return place(abi.CodeTruncated, "output.candidates[%d].slot", i)
	}
	for _, ms := range []int64{c.TrueFrom, c.TrueTo, c.Expires, c.Started, c.Ended} {
		if ms < -maxMillis || ms > maxMillis {
			return place(abi.CodeNumber, "output.candidates[%d]: a time", i)
		}
	}
	for j, s := range c.Spans {
		if s.Start == s.End || !spanIn(e, s) {
			return place(abi.CodeRange, "output.candidates[%d].spans[%d]", i, j)
		}
	}
	return nil
}

// maxMillis is the year 9999, which RFC 3339 can still write.
const maxMillis = 253402300799999
