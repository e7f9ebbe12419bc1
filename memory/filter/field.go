package filter

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// kind is the kind of a field's values, and determines how they are compared.
type kind uint8

const (
	name   kind = iota // compared ignoring case: a speaker, a tag
	exact              // compared exactly: an id, a metadata value
	number             // a decimal number
	moment             // a time
	flag               // true or false
	scale              // a word of the sensitivity scale, which has an order
)

// field is one thing that a filter can ask about.
type field struct {
	kind kind
	of   func(*Item) []value
	only []string // the possible words; nil: any
}

// value is one value of a field; the field's kind determines which of the three is set.
type value struct {
	text   string
	number float64 // number; flag: 0 or 1; scale: the position on it
	moment time.Time
}

func text(s string) []value {
	if s == "" {
		return nil
	}
	return []value{{text: s}}
}

func texts[T any](list []T, of func(T) string) []value {
	out := make([]value, 0, len(list))
	for _, e := range list {
		out = append(out, text(of(e))...)
	}
	return out
}

func at(t time.Time) []value {
	if t.IsZero() {
		return nil
	}
	return []value{{moment: t}}
}

func truth(b bool) []value {
	if b {
		return []value{{number: 1}}
	}
	return []value{{number: 0}}
}

// ofMemory makes a field that utterances don't have.
func ofMemory(k kind, f func(*memory.Memory) []value) field {
	return field{kind: k, of: func(it *Item) []value {
		if it.Memory == nil {
			return nil
		}
		return f(it.Memory)
	}}
}

// ofBoth makes a field that memories and utterances have.
func ofBoth(k kind, m func(*memory.Memory) []value, u func(*memory.Utterance) []value) field {
	return field{kind: k, of: func(it *Item) []value {
		switch {
		case it.Memory != nil:
			return m(it.Memory)
		case it.Utterance != nil:
			return u(it.Utterance)
		}
		return nil
	}}
}

func words[T ~string](f field, list ...T) field {
	for _, w := range list {
		f.only = append(f.only, string(w))
	}
	return f
}

// fields are the fields by name; see Fields.
var fields = map[string]field{
	"id":   ofBoth(exact, func(m *memory.Memory) []value { return text(m.ID.String()) }, func(u *memory.Utterance) []value { return text(u.ID.String()) }),
	"text": ofBoth(name, func(m *memory.Memory) []value { return text(m.Text) }, func(u *memory.Utterance) []value { return text(u.Text) }),
	"lang": ofBoth(name, func(m *memory.Memory) []value { return text(m.Lang) }, func(u *memory.Utterance) []value { return text(u.Lang) }),
	"speaker": ofBoth(name, func(m *memory.Memory) []value {
		return texts(m.Evidence, func(e memory.Evidence) string { return e.Speaker })
	}, func(u *memory.Utterance) []value { return text(u.Speaker) }),
	"place": ofBoth(name, placesOf, func(u *memory.Utterance) []value { return text(u.Place) }),
	"device": ofBoth(name, func(m *memory.Memory) []value {
		return append(text(m.Source.Device), texts(m.Evidence, func(e memory.Evidence) string { return e.Event.Device })...)
	}, func(u *memory.Utterance) []value { return text(u.Event.Device) }),
	"said": ofBoth(moment, func(m *memory.Memory) []value {
		out := make([]value, 0, len(m.Evidence))
		for _, e := range m.Evidence {
			out = append(out, at(e.At)...)
		}
		return out
	}, func(u *memory.Utterance) []value { return at(u.At) }),
	"kind": words(field{kind: exact, of: func(it *Item) []value {
		if it.Memory != nil {
			return text("memory")
		}
		return text("utterance")
	}}, "memory", "utterance"),
	"session": ofBoth(exact, func(*memory.Memory) []value { return nil }, func(u *memory.Utterance) []value { return text(u.Session) }),
	"type":    words(ofMemory(exact, func(m *memory.Memory) []value { return text(string(m.Type)) }), memory.Types[:]...),
	"state":   words(ofMemory(exact, func(m *memory.Memory) []value { return text(string(m.State)) }), memory.Active, memory.Superseded, memory.Archived),
	"user":    ofMemory(exact, func(m *memory.Memory) []value { return text(m.Owner.User) }),
	"agent":   ofMemory(exact, func(m *memory.Memory) []value { return text(m.Owner.Agent) }),
	"run":     ofMemory(exact, func(m *memory.Memory) []value { return text(m.Owner.Run) }),
	"tags":    ofMemory(name, func(m *memory.Memory) []value { return texts(m.Tags, func(s string) string { return s }) }),
	"entities": ofMemory(name, func(m *memory.Memory) []value {
		return texts(m.Entities, func(e memory.Entity) string { return e.Name })
	}),
	"actor":       ofMemory(name, actorOf),
	"plugin":      ofMemory(name, func(m *memory.Memory) []value { return text(m.Source.Plugin) }),
	"model":       ofMemory(name, func(m *memory.Memory) []value { return text(m.Source.Model) }),
	"subject":     ofMemory(name, func(m *memory.Memory) []value { return slotOf(m, func(s *memory.Slot) string { return s.Subject }) }),
	"attribute":   ofMemory(name, func(m *memory.Memory) []value { return slotOf(m, func(s *memory.Slot) string { return s.Attribute }) }),
	"value":       ofMemory(name, func(m *memory.Memory) []value { return slotOf(m, func(s *memory.Slot) string { return s.Value }) }),
	"pinned":      ofMemory(flag, func(m *memory.Memory) []value { return truth(m.Pinned) }),
	"conflict":    ofMemory(flag, func(m *memory.Memory) []value { return truth(len(m.Conflict) > 0) }),
	"confidence":  ofMemory(number, func(m *memory.Memory) []value { return []value{{number: m.Confidence}} }),
	"heard":       ofMemory(number, func(m *memory.Memory) []value { return []value{{number: float64(m.Heard)}} }),
	"sensitivity": words(ofMemory(scale, func(m *memory.Memory) []value { return []value{{number: float64(m.Sensitivity)}} }), sensitivities()...),
	"learnt":      ofMemory(moment, func(m *memory.Memory) []value { return at(m.Learnt) }),
	"true_from":   ofMemory(moment, func(m *memory.Memory) []value { return at(m.TrueFrom) }),
	"true_to":     ofMemory(moment, func(m *memory.Memory) []value { return at(m.TrueTo) }),
	"expires":     ofMemory(moment, func(m *memory.Memory) []value { return at(m.Expires) }),
	"started":     ofMemory(moment, startedOf),
	"categories": {kind: name, of: func(it *Item) []value {
		if it.Categories == nil {
			return nil
		}
		return texts(it.Categories(), func(s string) string { return s })
	}},
}

// metadataPrefix is the prefix of the names of fields that a caller attached.
const metadataPrefix = "metadata."

// Fields returns the names that a filter may use, sorted, without "metadata.KEY".
func Fields() []string { return slices.Sorted(maps.Keys(fields)) }

// lookup finds a field by name.
func lookup(s string) (field, bool) {
	if key, ok := strings.CutPrefix(s, metadataPrefix); ok && key != "" && len(key) <= memory.MaxName {
		return ofMemory(exact, func(m *memory.Memory) []value {
			v, ok := m.Metadata[key]
			if !ok {
				return nil
			}
			return []value{{text: v}} // the value may be empty, but it exists
		}), true
	}
	f, ok := fields[s]
	return f, ok
}

func placesOf(m *memory.Memory) []value {
	var out []value
	if e := m.Fields.Episodic; e != nil {
		out = text(e.Place)
	}
	for _, e := range m.Entities {
		if e.Kind == "place" {
			out = append(out, text(e.Name)...)
		}
	}
	return out
}

func actorOf(m *memory.Memory) []value {
	if e := m.Fields.Episodic; e != nil {
		return text(e.Actor)
	}
	return nil
}

func startedOf(m *memory.Memory) []value {
	if e := m.Fields.Episodic; e != nil {
		return at(e.Started)
	}
	return nil
}

func slotOf(m *memory.Memory, of func(*memory.Slot) string) []value {
	if m.Slot == nil {
		return nil
	}
	return text(of(m.Slot))
}

func sensitivities() []string {
	var out []string
	for s := memory.Public; s <= memory.Secret; s++ {
		out = append(out, s.String())
	}
	return out
}
