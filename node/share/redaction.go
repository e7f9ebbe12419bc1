package share

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Redaction says what is removed from copies.
type Redaction struct {
	Names  bool     `json:"names,omitempty"`  // people whom the wearer's memories know
	Places bool     `json:"places,omitempty"` // places that the memories know
	Times  bool     `json:"times,omitempty"`  // dates and times of day, in words and in fields
	Words  []string `json:"words,omitempty"`
	Quotes bool     `json:"quotes,omitempty"` // keep the quotes of the evidence, redacted
	// Roles replace names by a role: "Zuzana" becomes "my sister".
	Roles map[string]string `json:"roles,omitempty"`
	// Coarse, with Times, rounds times in fields down to the day, week or month
	// instead of removing them. In texts they are removed in any case.
	Coarse Coarse `json:"coarse,omitempty"`
	// AtLeast is the number of different people about whom memories must say the same
	// after redaction. A statement about fewer people is left out; one about enough
	// people is shared once. 0 means no such condition.
	AtLeast int `json:"at_least,omitempty"`
	// Pseudonyms, with Names, replaces each person's name by a made-up one, which is
	// the same throughout a share.
	Pseudonyms bool `json:"pseudonyms,omitempty"`
	// Regions, with Places, are places that may be named: each replaces all places in
	// it that the wearer's memories know.
	Regions []string `json:"regions,omitempty"`
	Numbers bool     `json:"numbers,omitempty"` // keep only the first digit of numbers in texts
}

// Coarse is the precision of a time.
type Coarse string

// The precisions.
const (
	Day   Coarse = "day"
	Week  Coarse = "week" // a week that begins on Monday
	Month Coarse = "month"
)

// round returns the beginning of the day, week or month, in UTC; without a precision,
// the zero time.
func (c Coarse) round(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	y, m, d := t.UTC().Date()
	switch c {
	case Day:
	case Week:
		d -= (int(t.UTC().Weekday()) + 6) % 7
	case Month:
		d = 1
	default:
		return time.Time{}
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// ParseRedaction reads "names", "names=pseudonyms", "places", "places=Lisbon",
// "times", "times=month", "numbers", words, and names with the role that replaces
// them: "Zuzana=my sister".
func ParseRedaction(list []string) (r Redaction, err error) {
	for _, s := range list {
		switch s = strings.TrimSpace(s); s {
		case "":
		case "names":
			r.Names = true
		case "places":
			r.Places = true
		case "times":
			r.Times = true
		case "numbers":
			r.Numbers = true
		case "names=pseudonyms":
			r.Names, r.Pseudonyms = true, true
		default:
			name, role, is := strings.Cut(s, "=")
			name, role = strings.TrimSpace(name), strings.TrimSpace(role)
			if is && name == "times" {
				if r.Coarse = Coarse(role); r.Coarse != Day && r.Coarse != Week && r.Coarse != Month {
					return r, fmt.Errorf("%w: redact: times=%.20s: want day, week or month", memory.ErrInvalid, role)
				}
				r.Times = true
				continue
			}
			if len(fold(name)) == 0 || is && len(fold(role)) == 0 {
				return r, fmt.Errorf("%w: redact: %q has no letter or digit", memory.ErrInvalid, s)
			}
			if is && name == "places" {
				if len(role) > memory.MaxName || strings.ContainsAny(role, "[]\n") {
					return r, fmt.Errorf("%w: redact: the region %.40q: at most %d bytes in one line, without brackets", memory.ErrInvalid, role, memory.MaxName)
				}
				r.Places = true
				r.Regions = append(r.Regions, role)
				continue
			}
			if is && name == "names" {
				return r, fmt.Errorf("%w: redact: names=%.20s: want names=pseudonyms", memory.ErrInvalid, role)
			}
			if is {
				if len(role) > memory.MaxName || strings.ContainsAny(role, "[]\n") {
					return r, fmt.Errorf("%w: redact: the role %.40q: at most %d bytes in one line, without brackets", memory.ErrInvalid, role, memory.MaxName)
				}
				if r.Roles == nil {
					r.Roles = map[string]string{}
				}
				r.Roles[name] = role
				continue
			}
			r.Words = append(r.Words, s)
		}
	}
	return r, nil
}

// List returns the redaction in the form that [ParseRedaction] reads.
func (r *Redaction) List() []string {
	var out []string
	for _, k := range []struct {
		on   bool
		word string
	}{{r.Names && !r.Pseudonyms, "names"}, {r.Names && r.Pseudonyms, "names=pseudonyms"}, {r.Places && len(r.Regions) == 0, "places"}, {r.Times, "times"}, {r.Numbers, "numbers"}} {
		if k.on {
			out = append(out, k.word)
		}
	}
	if i := slices.Index(out, "times"); i >= 0 && r.Coarse != "" {
		out[i] += "=" + string(r.Coarse)
	}
	for _, region := range r.Regions {
		out = append(out, "places="+region)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Roles)) {
		out = append(out, name+"="+r.Roles[name])
	}
	return append(out, r.Words...)
}

// Kinds returns what is removed, without the words and names: it is for people who may
// know the kinds, but not the words.
func (r *Redaction) Kinds() []string {
	plain := Redaction{Names: r.Names, Pseudonyms: r.Pseudonyms, Places: r.Places, Times: r.Times, Coarse: r.Coarse, Numbers: r.Numbers}
	out := plain.List()
	if len(r.Roles) > 0 {
		out = append(out, "names to roles")
	}
	if len(r.Words) > 0 {
		out = append(out, "words")
	}
	return out
}
