package memory

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// State is the state of a memory.
type State string

const (
	Active     State = "active"
	Superseded State = "superseded" // another memory took its place, or it is no longer true
	Archived   State = "archived"   // kept, but shown only if asked for
	Erased     State = "erased"     // the id is kept so that it can't return; nothing else is
)

// Validity is when something was true in the world.
type Validity struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"` // zero: still true
}

// Memory is one typed record as it follows from the assertions of its group.
// It has four times, as in Graphiti: TrueFrom and TrueTo are about the world, Learnt and Unlearnt
// about what this space believed.
type Memory struct {
	ID    ID      `json:"id"`
	Space SpaceID `json:"space"`
	Group string  `json:"-"`
	Candidate
	Rank     Rank      `json:"rank"` // of the member whose value is shown
	Pinned   bool      `json:"pinned,omitempty"`
	State    State     `json:"state"`
	Learnt   time.Time `json:"learnt"`
	Unlearnt time.Time `json:"unlearnt,omitzero"`
	// Said is when the last line was said of those that first told the memory: a correction comes after
	// what it corrects, an answer after its question. Zero: a single line told it.
	Said     time.Time `json:"said,omitzero"`
	Into     ID        `json:"into,omitzero"`     // superseded: the memory that took its place
	Repeats  bool      `json:"repeats,omitempty"` // superseded: it says the same as Into
	Heard    int       `json:"heard"`             // how many pieces of evidence there were
	Conflict []Variant `json:"conflict,omitempty"`
	// Categories are computed by package category for the reader; they are not stored.
	Categories []string `json:"categories,omitempty"`
	// Cold says that the text is not on this device and can't be fetched now. It is not stored either.
	Cold bool `json:"cold,omitempty"`
}

// When returns the time of a memory's first evidence, or else the time at which it was learnt.
func (m *Memory) When() time.Time {
	if len(m.Evidence) > 0 && !m.Evidence[0].At.IsZero() {
		return m.Evidence[0].At
	}
	return m.Learnt
}

// Quotes returns the evidence, and first the piece that says what the memory says ([Memory.Said]).
// If a person has given the memory other words since, no piece says them, and none has an excerpt.
func (m *Memory) Quotes() []Evidence {
	best, edited := 0, m.Rank == RankPerson
	for i := range m.Evidence {
		if m.Evidence[i].At.Equal(m.Said) {
			best = i
		}
		edited = edited && Normal(m.Evidence[i].Excerpt) != Normal(m.Text)
	}
	out := slices.Clone(m.Evidence)
	if best > 0 {
		out = slices.Insert(slices.Delete(out, best, best+1), 0, m.Evidence[best])
	}
	for i := range out {
		if edited {
			out[i].Excerpt = ""
		}
	}
	return out
}

// Variant is a concurrent value of a field that is kept but not shown.
type Variant struct {
	Field string `json:"field"`
	Value string `json:"value"`
	Dot   Dot    `json:"dot"`
	Rank  Rank   `json:"rank"`
}

// Ends returns from when on nobody is shown the memory any more, although retention may erase it
// later; zero: never. A pinned memory does not end. For a recording or a photo, the time of the
// events counts, as for retention: one that is replayed years later has not ended.
func (m *Memory) Ends() time.Time {
	if m.Pinned || m.Fields.Resource != nil && m.Fields.Resource.Blob != "" {
		return time.Time{}
	}
	return m.Expires
}

// Expired reports whether the memory has ended by now.
func (m *Memory) Expired(now time.Time) bool {
	ends := m.Ends()
	return !ends.IsZero() && !now.Before(ends)
}

// Began returns the time from which the memory was true in the world. A memory that names no such
// time was true from [Memory.When], or from its event if that came earlier.
func (m *Memory) Began() time.Time {
	if !m.TrueFrom.IsZero() {
		return m.TrueFrom
	}
	from := m.When()
	if f := m.Fields.Episodic; f != nil && !f.Started.IsZero() && f.Started.Before(from) {
		from = f.Started
	}
	return from
}

// TrueAt reports whether the memory was true in the world at t.
func (m *Memory) TrueAt(t time.Time) bool {
	return !m.Began().After(t) && (m.TrueTo.IsZero() || m.TrueTo.After(t))
}

// Verdict is what reconcile decides about a candidate.
type Verdict string

const (
	Add    Verdict = "ADD"
	Update Verdict = "UPDATE"
	Delete Verdict = "DELETE"
	Noop   Verdict = "NOOP"
	Refuse Verdict = "REFUSE" // not a memory at all: junk, a question, feedback
)

// Change is one line of a memory's history on this replica.
type Change struct {
	Seq     uint64    `json:"seq"` // grows on this replica
	Memory  ID        `json:"memory"`
	Verdict Verdict   `json:"event"`
	Old     string    `json:"old,omitempty"`
	New     string    `json:"new,omitempty"`
	Other   ID        `json:"other,omitzero"` // the memory that it replaced, repeated, or gave way to
	At      time.Time `json:"at"`
	By      Source    `json:"by"`
	Rank    Rank      `json:"rank"`
	Reason  string    `json:"reason"`
}

// Refusal says why something that was said did not become a memory.
type Refusal struct {
	Event  EventID   `json:"event"`
	At     time.Time `json:"at"`
	Plugin string    `json:"plugin,omitempty"`
	Kind   string    `json:"kind"`   // filler, question, command, feedback, duplicate, invalid, …
	Reason string    `json:"reason"` // in words
}

// GapKind is the kind of a refusal that stands for lost messages.
const GapKind = "gap"

// gapSays begins the reason of a gap that a device reported.
const gapSays = "the device lost messages"

// GapReason says what a device lost and why, in the device's words. missing is nil if it did not
// say which messages.
func GapReason(missing *Range, why string) string {
	reason := gapSays
	if missing != nil {
		reason += fmt.Sprintf(" %d to %d", missing.From, missing.To)
	}
	if why != "" {
		reason += ": " + Cut(why, MaxName)
	}
	return reason
}

// ReadGap parses a reason made by GapReason. ok is false if it is some other reason.
func ReadGap(reason string) (missing *Range, why string, ok bool) {
	rest, ok := strings.CutPrefix(reason, gapSays)
	if !ok {
		return nil, "", false
	}
	which, why, _ := strings.Cut(rest, ": ")
	first, last, _ := strings.Cut(strings.TrimPrefix(which, " "), " to ")
	from, errFrom := strconv.ParseUint(first, 10, 64)
	to, errTo := strconv.ParseUint(last, 10, 64)
	if errFrom == nil && errTo == nil {
		missing = &Range{from, to}
	}
	return missing, why, true
}

// AllText returns every text of a memory that somebody wrote, one per line.
func (m *Memory) AllText() string {
	s := append([]string{m.Text}, m.Tags...)
	if m.Slot != nil {
		s = append(s, m.Slot.Subject, m.Slot.Attribute, m.Slot.Value)
	}
	for _, e := range m.Entities {
		s = append(s, e.Name)
	}
	for _, e := range m.Evidence {
		s = append(s, e.Excerpt)
	}
	s = slices.AppendSeq(s, maps.Values(m.Metadata))
	if f := m.Fields.Resource; f != nil {
		s = append(s, f.Title, f.Content)
	}
	if f := m.Fields.Episodic; f != nil {
		s = append(s, f.Details, f.Actor, f.Place)
	}
	if f := m.Fields.Semantic; f != nil {
		s = append(s, f.Name, f.Details, f.Subject, f.Predicate, f.Object)
	}
	if f := m.Fields.Procedural; f != nil {
		s = append(append(s, f.Description), f.Steps...)
	}
	return strings.Join(s, "\n")
}
