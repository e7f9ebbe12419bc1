package backup

import (
	"crypto/sha256"
	"encoding/json"
	"iter"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
)

// Content is the part of an export that is the same in another home: how often
// each line, claim and piece of a photo occurs, by its hash.
type Content map[[32]byte]int

// ContentOf reads an export to its end.
func ContentOf(records iter.Seq2[archive.Record, error]) (Content, error) {
	c := Content{}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		if err := c.Add(r); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Add counts a record. Space, dots and seals are ignored, because they belong
// to one home.
func (c Content) Add(r archive.Record) error {
	var v any
	switch r.Kind {
	case archive.KindUtterance:
		var u memory.Utterance
		if err := json.Unmarshal(r.Data, &u); err != nil {
			return err
		}
		u.Space = memory.SpaceID{}
		v = u
	case archive.KindAssertion:
		var a archive.Assertion
		if err := json.Unmarshal(r.Data, &a); err != nil {
			return err
		}
		a.Space, a.Dot = memory.SpaceID{}, memory.Dot{}
		for i := range a.Seen {
			a.Seen[i] = memory.Dot{}
		}
		if f := a.Vault(); f != nil {
			f.Sealed = nil
		}
		v = a
	case archive.KindBlob:
		v = r.Data
	default:
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c[sha256.Sum256(b)]++
	return nil
}

// Missing counts what c has and other does not have, or not as often.
func (c Content) Missing(other Content) (n int) {
	for h, times := range c {
		n += max(0, times-other[h])
	}
	return n
}
