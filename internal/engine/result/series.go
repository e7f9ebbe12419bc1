package result

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/memory"
)

// seriesPause is the pause that ends a series of photos. A series also ends with its
// twentieth photo that differs from all others.
const seriesPause = 5 * time.Minute

// Limits of a series: how many photos it has, including similar ones; and how
// many of the 64 bits of their hashes may differ for similar photos. Similar
// hashes count as one photo until the pixels are compared.
const (
	maxLooks = 3 * sight.MaxFrames
	nearHash = 2
)

// Shot is what a series needs to know about a photo.
type Shot struct {
	At   time.Time
	Hash string // of ResourceFields; may be empty
}

// ShotOf returns the shot of a photo's memory.
func ShotOf(m *memory.Memory) Shot { return Shot{StartOf(m), m.Fields.Resource.Hash} }

// Series returns how many of the given photos, in order, form the first series, and when
// it is over. The time is zero if the series is full.
func Series(of []Shot) (n int, over time.Time) {
	var hashes []uint64
	unique := 0
	for i, s := range of {
		if i > 0 && s.At.Sub(of[i-1].At) >= seriesPause {
			return i, of[i-1].At.Add(seriesPause)
		}
		h, err := strconv.ParseUint(s.Hash, 16, 64)
		known := err == nil && slices.ContainsFunc(hashes, func(o uint64) bool { return bits.OnesCount64(h^o) <= nearHash })
		if !known {
			unique++
		}
		if err == nil {
			hashes = append(hashes, h)
		}
		if unique == sight.MaxFrames || i+1 == maxLooks {
			return i + 1, time.Time{}
		}
	}
	if len(of) == 0 {
		return 0, time.Time{}
	}
	return len(of), of[len(of)-1].At.Add(seriesPause)
}

// Watched returns the answer for a series; alike is how many of its photos looked like others.
func Watched(engine string, s *sight.Seen, alike int) Answer {
	return Answer{Kind: Sequence, Engine: engine, Text: s.Text(), Confidence: -1,
		More: memory.Metadata{"frames": strconv.Itoa(len(s.Captions)), "alike": strconv.Itoa(alike)}}
}

// SeriesCandidate returns the memory to propose for what a series shows. Secrets must already
// be removed from the text. It names all photos, and has the first ones and the last as evidence.
func SeriesCandidate(all []*memory.Memory, a *Answer, by By) memory.Candidate {
	c := Candidate(all[0], a, by)
	c.Evidence, c.Links = nil, nil
	for i, m := range all {
		c.Sensitivity = max(c.Sensitivity, m.Sensitivity)
		c.Links = append(c.Links, memory.Link{Relation: SequenceOf, To: m.ID.String()})
		if i < memory.MaxEvidence-1 || i == len(all)-1 {
			e := EvidenceOf(m)
			c.Evidence = append(c.Evidence, memory.Evidence{Event: e.Event, At: e.At})
		}
		if end := StartOf(m); end.After(c.TrueTo) {
			c.TrueTo = end
		}
	}
	c.Fields.Resource.Title = fmt.Sprintf("%d photos, %s to %s", len(all), c.TrueFrom.UTC().Format("2006-01-02 15:04"), c.TrueTo.UTC().Format("15:04"))
	return c
}

// SamePrint reports whether a memory has the same text as an engine read in a photo, and was read
// by the same plugin and engine in another photo shortly before or after. That memory is then
// confirmed, and the text is not stored twice.
func SamePrint(m, photo *memory.Memory, a *Answer, plugin string) bool {
	f := m.Fields.Resource
	return f != nil && m.State == memory.Active && f.Content == a.Text && m.Source.Plugin == plugin && m.Source.Model == a.Engine &&
		m.Sensitivity >= photo.Sensitivity && m.TrueFrom.Sub(StartOf(photo)).Abs() <= seriesPause
}
