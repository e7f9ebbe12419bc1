// Package forget chooses what is to be forgotten, and forgets it: choose changes
// nothing, [Forgetting] carries out plans.
//
// The words:
//
//   - A want is what the wearer asked for; of its conditions all that are set
//     must hold.
//   - A source is an utterance, or an event that memories quote without one: a
//     recording, a photo, a place, a press of a button, a text that was typed.
//   - Own evidence of a memory is that of its own assertions. What it shows may
//     also be of memories that repeat it, which go or stay by themselves.
//   - To cascade is to go from sources to the memories made from them, and from
//     a memory that goes to its sources.
//   - A memory stands if, without what goes, evidence is left and says
//     everything that the memory had from what goes.
package forget

import (
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Want is what is to be forgotten. The zero value wants nothing.
type Want struct {
	IDs      []memory.ID   // memories or utterances
	Words    string        // words that must all be there
	From, To time.Time     // when it was said or happened, before To; both zero: any time
	Received bool          // with From and To: also what was taken in or learnt then
	Person   string        // who said it, or is named in it
	Place    string        // where it was said, or what it is about
	Device   string        // that heard it
	Scope    *memory.Owner // memories of that owner; empty agent and run: of any
}

// hasTimeOrDevice reports whether a want names a time or a device. Then each piece of
// evidence is checked by itself.
func (w *Want) hasTimeOrDevice() bool { return !w.From.IsZero() || !w.To.IsZero() || w.Device != "" }

func (w *Want) inPeriod(t time.Time) bool {
	return !t.IsZero() && !t.Before(w.From) && (w.To.IsZero() || t.Before(w.To))
}

func (w *Want) matchesTime(at, received time.Time) bool {
	return w.From.IsZero() && w.To.IsZero() || w.inPeriod(at) || w.Received && w.inPeriod(received)
}

// matchesUtterance reports whether the want names an utterance.
func (w *Want) matchesUtterance(u *memory.Utterance) bool {
	switch {
	case w.Scope != nil:
		return false // only the wearer owns what was said
	case len(w.IDs) > 0 && !slices.Contains(w.IDs, u.ID):
	case !w.matchesTime(u.At, u.Received):
	case w.Device != "" && u.Event.Device != w.Device:
	case w.Words != "" && !containsWords(u.Text, w.Words):
	case w.Person != "" && memory.Normal(u.Speaker) != memory.Normal(w.Person) && !containsName(u.Text, w.Person):
	case w.Place != "" && !containsName(u.Place, w.Place):
	default:
		return true
	}
	return false
}

// matchesText reports whether a text contains the words and names the person.
func (w *Want) matchesText(text string) bool {
	return (w.Words == "" || containsWords(text, w.Words)) && (w.Person == "" || containsName(text, w.Person))
}

// matchesContent reports whether a memory's content matches the want, apart from time and
// device.
func (w *Want) matchesContent(m *memory.Memory) bool {
	switch {
	case len(w.IDs) > 0 && !slices.Contains(w.IDs, m.ID):
	case w.Words != "" && !containsWords(texts(m), w.Words):
	case w.Person != "" && !mentionsPerson(m, w.Person):
	case w.Place != "" && !mentionsPlace(m, w.Place):
	case w.Scope != nil && !inScope(m.Owner, *w.Scope):
	default:
		return true
	}
	return false
}

// matchesEvidence reports whether the time and device of a piece of evidence match the
// want.
func (w *Want) matchesEvidence(e *memory.Evidence, learnt time.Time) bool {
	return w.matchesTime(e.At, learnt) && (w.Device == "" || e.Event.Device == w.Device)
}

func inScope(o, by memory.Owner) bool {
	return o.User == by.User && (by.Agent == "" || o.Agent == by.Agent) && (by.Run == "" || o.Run == by.Run)
}

// containsWords reports whether a text contains every word of a query. For languages
// without spaces it looks for the characters.
func containsWords(text, query string) bool {
	text = " " + memory.Normal(text) + " "
	words := strings.Fields(memory.Normal(query))
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		return !strings.Contains(text, " "+w+" ") && !(w[0] >= 0x80 && strings.Contains(text, w))
	})
}

// containsName reports whether a text contains a name as a whole.
func containsName(text, name string) bool {
	text, name = " "+memory.Normal(text)+" ", memory.Normal(name)
	return name != "" && (strings.Contains(text, " "+name+" ") || name[0] >= 0x80 && strings.Contains(text, name))
}

func mentionsPerson(m *memory.Memory, who string) bool {
	if containsName(texts(m), who) {
		return true
	}
	return slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return memory.Normal(e.Speaker) == memory.Normal(who) })
}

func mentionsPlace(m *memory.Memory, where string) bool {
	if f := m.Fields.Episodic; f != nil && containsName(f.Place, where) {
		return true
	}
	return containsName(m.Metadata["place"], where) || slices.ContainsFunc(m.Entities, func(e memory.Entity) bool {
		return e.Kind == "place" && containsName(e.Name, where)
	})
}

// texts returns everything in a memory that is searched for words.
func texts(m *memory.Memory) string {
	s := []string{m.Text, strings.Join(m.Tags, " ")}
	for _, e := range m.Evidence {
		s = append(s, e.Excerpt)
	}
	return strings.Join(append(s, otherTexts(m)), "\n")
}

// otherTexts returns what a memory says besides its text and its evidence.
func otherTexts(m *memory.Memory) string {
	var s []string
	if m.Slot != nil {
		s = append(s, m.Slot.Subject, m.Slot.Value)
	}
	for _, e := range m.Entities {
		s = append(s, e.Name)
	}
	if f := m.Fields.Semantic; f != nil {
		s = append(s, f.Name, f.Details, f.Subject, f.Object)
	}
	if f := m.Fields.Procedural; f != nil {
		s = append(append(s, f.Description), f.Steps...)
	}
	if f := m.Fields.Resource; f != nil {
		s = append(s, f.Title, f.Content)
	}
	if f := m.Fields.Episodic; f != nil {
		s = append(s, f.Details, f.Place, f.Actor)
	}
	return strings.Join(s, "\n")
}
