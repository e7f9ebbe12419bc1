package store

import (
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/badgerfile"
)

// Damage describes a record, or a file, that is not as the store last wrote it.
// As an error, it wraps [memory.ErrDamaged].
type Damage struct {
	Kind string `json:"kind"` // "memory", "assertion", "bucket", "table file", …
	Key  string `json:"key"`  // id, dot or number of the record, or name of the file; a MAC in hexadecimal where the key is one
	What string `json:"what"` // what is wrong with it, in words

	record []byte // its key, where it is a record
}

// Error implements error.
func (d *Damage) Error() string { return fmt.Sprintf("store: %s %s: %s", d.Kind, d.Key, d.What) }

// Unwrap returns [memory.ErrDamaged].
func (d *Damage) Unwrap() error { return memory.ErrDamaged }

// Damages returns every [Damage] in an error, and as rest the other errors in it.
func Damages(err error) (all []Damage, rest error) {
	switch e := err.(type) {
	case *Damage:
		return []Damage{*e}, nil
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			some, other := Damages(one)
			all, rest = append(all, some...), errors.Join(rest, other)
		}
		return all, rest
	case interface{ Unwrap() error }:
		if all, rest = Damages(e.Unwrap()); len(all) > 0 {
			return all, rest
		}
	}
	return nil, err
}

func fileDamage(d *badgerfile.Damage) *Damage {
	return &Damage{Kind: d.Kind, Key: d.File, What: d.What}
}

func damaged(key []byte, what string) *Damage {
	name, text := describe(key)
	return &Damage{Kind: name, Key: text, What: what, record: key}
}
