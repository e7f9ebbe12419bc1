package retention

import (
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
)

// Ending is one memory or utterance whose time is up.
type Ending struct {
	ID   memory.ID
	Text string
	At   time.Time
	Why  string
}

// Endings has all of them.
type Endings struct {
	Memories, Utterances []Ending
}

// Find returns what ends by a configuration and its rules, at a time of the clock
// of events: utterances, recordings and photos by age and bytes, memories by rule,
// and anything that expires. What a memory quotes from an utterance stays with the
// memory.
func Find(tx *store.Tx, c *config.Retention, rules []config.Rule, now time.Time) (out Endings, err error) {
	if now.IsZero() {
		return out, nil
	}
	if err := out.utterances(tx, c.Utterance, now); err != nil {
		return out, err
	}
	kinds := []*kind{{tag: "recording", keep: c.Audio}, {tag: "photo", keep: c.Photo}}
	for m, err := range tx.Memories(store.Filter{}) { // newest first
		if err != nil {
			return out, err
		}
		if why := ends(tx, m, kinds, rules, now); why != "" {
			out.Memories = append(out.Memories, Ending{m.ID, m.Text, m.When(), why})
		}
	}
	slices.Reverse(out.Memories)
	return out, nil
}

// kind is a kind of resource with a limit in bytes.
type kind struct {
	tag   string
	keep  config.Keep
	total int64
}

func ends(tx *store.Tx, m *memory.Memory, kinds []*kind, rules []config.Rule, now time.Time) string {
	if m.Pinned {
		return ""
	}
	for _, k := range kinds {
		f := m.Fields.Resource
		if !slices.Contains(m.Tags, k.tag) || f == nil || f.Blob == "" {
			continue
		}
		k.total += tx.BlobSize(f.Blob)
		switch {
		case k.total > int64(k.keep.Bytes):
			return fmt.Sprintf("the latest %ss fill %s", k.tag, k.keep.Bytes)
		case now.Sub(m.When()) > k.keep.Age.Std():
			return fmt.Sprintf("%s older than %s", k.tag, k.keep.Age)
		}
	}
	if !m.Expires.IsZero() && m.Expires.Before(now) {
		return "it expired"
	}
	if r := Ends(rules, m, now); r != nil {
		return r.Text
	}
	return ""
}

// utterances takes the oldest utterances until the rest is within its limits.
func (out *Endings) utterances(tx *store.Tx, keep config.Keep, now time.Time) error {
	var all []Ending
	var total int64
	for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
		if err != nil {
			return err
		}
		all = append(all, Ending{ID: u.ID, Text: u.Text, At: u.At})
		total += int64(len(u.Text))
	}
	for _, u := range all {
		switch {
		case now.Sub(u.At) > keep.Age.Std():
			u.Why = fmt.Sprintf("older than %s", keep.Age)
		case total > int64(keep.Bytes):
			u.Why = fmt.Sprintf("the latest fill %s", keep.Bytes)
		default:
			return nil
		}
		out.Utterances = append(out.Utterances, u)
		total -= int64(len(u.Text))
	}
	return nil
}
