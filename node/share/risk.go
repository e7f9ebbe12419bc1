package share

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
)

// Risk is something from which a reader might learn more than a share is meant
// to reveal.
type Risk struct {
	Kind RiskKind  `json:"kind"`
	Of   memory.ID `json:"of,omitzero"` // the original; zero: the risk is about the whole share
	What string    `json:"what"`        // in words
}

// RiskKind says why something is a risk.
type RiskKind string

// The kinds.
const (
	RiskReaches RiskKind = "reaches" // an address, number or link that leads to somebody
	RiskName    RiskKind = "name"    // perhaps a name, but one that no memory has as a name
	RiskScript  RiskKind = "script"  // a script in which names can't be told from words
	RiskJoins   RiskKind = "joins"   // reveals more together with an earlier share to the same key
	RiskExact   RiskKind = "exact"   // exact times, by which a day can be recognised
	RiskLinks   RiskKind = "links"   // pseudonyms, which connect statements about one person
)

// maxRisks is how many risks are listed.
const maxRisks = 100

// reaching are addresses, links and numbers that belong to one person or thing.
var reaching = regexp.MustCompile(`(?i)[\w.+-]+@[\w-]+\.[\w.-]+|https?://\S+|\bwww\.\S+|\+?\d[\d ()/-]{6,}\d|\b[A-Z]{2}\d{2}[A-Z0-9 ]{10,}\b`)

// risks looks for hints that a curious reader could use. It lists too much
// rather than too little. Something that it does not list can still be a risk.
func risks(w *ShareSpec, copies []Copy, to []Party, records []Record) []Risk {
	out := []Risk{}
	han := 0
	for i := range copies {
		c := &copies[i]
		texts := append([]string{c.Candidate.Text}, c.Candidate.Tags...)
		for _, e := range c.Candidate.Evidence {
			texts = append(texts, e.Excerpt)
		}
		for _, t := range texts {
			if m := reaching.FindString(t); m != "" {
				out = append(out, Risk{RiskReaches, c.Of, fmt.Sprintf("“%s” leads to one person or thing", m)})
			}
			if w.Redact.Names {
				for _, n := range capitalised(t) {
					out = append(out, Risk{RiskName, c.Of, fmt.Sprintf("“%s” may be a name that your memories do not know as one", n)})
				}
			}
			if strings.ContainsFunc(t, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				han++
			}
		}
	}
	if han > 0 && w.Redact.Names {
		out = append(out, Risk{Kind: RiskScript, What: fmt.Sprintf("Chinese text (%d), in which a name that your memories do not know can't be told from words", han)})
	}
	if !w.Redact.Times && len(copies) > 0 {
		out = append(out, Risk{Kind: RiskExact, What: "times are exact: who knows where you were on a day can match it; --redact times=month rounds them"})
	}
	if w.Redact.Pseudonyms {
		out = append(out, Risk{Kind: RiskLinks, What: "a pseudonym joins all that is said of one person: who recognises somebody in one memory has the others too; --redact names joins nothing"})
	}
	for _, p := range to {
		for i := range records {
			if r := &records[i]; r.Kind == Projection && slices.ContainsFunc(r.Parties, func(o Party) bool { return string(o.Key) == string(p.Key) }) {
				out = append(out, joins(w, p.Name, r)...)
			}
		}
	}
	return out[:min(len(out), maxRisks)]
}

// joins lists what an earlier share to the same key contains and this share
// removes.
func joins(w *ShareSpec, who string, r *Record) (out []Risk) {
	var left []string
	for _, k := range []struct {
		now, then bool
		what      string
	}{{w.Redact.Names, r.Redact.Names, "names"}, {w.Redact.Places, r.Redact.Places, "places"}, {w.Redact.Times, r.Redact.Times, "times"}} {
		if k.now && !k.then {
			left = append(left, k.what)
		}
	}
	for name := range w.Redact.Roles {
		if w.Redact.Names {
			break // which covers all names
		}
		if _, then := r.Redact.Roles[name]; !then && !r.Redact.Names && !slices.Contains(r.Redact.Words, name) {
			left = append(left, "“"+name+"”")
		}
	}
	slices.Sort(left)
	if len(left) > 0 {
		out = append(out, Risk{Kind: RiskJoins, What: fmt.Sprintf("%s was given another share on %s that left %s in: both together may tell who is meant", who, r.Created.Format("2006-01-02"), strings.Join(left, ", "))})
	}
	return out
}

// capitalised returns words inside a sentence that begin with a capital letter.
func capitalised(s string) (out []string) {
	begins := true
	for _, w := range strings.Fields(s) {
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '[' && r != ']' })
		first, _ := utf8.DecodeRuneInString(bare)
		if !begins && unicode.IsUpper(first) && len(bare) > 1 && bare != "I'm" && bare != "I've" && bare != "I'll" && !slices.Contains(out, bare) {
			out = append(out, bare)
		}
		begins = strings.HasSuffix(w, ".") || strings.HasSuffix(w, "!") || strings.HasSuffix(w, "?") || strings.HasSuffix(w, ":")
	}
	return out
}
