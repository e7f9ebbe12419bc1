package translog

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/sync/canonical"
)

// Kind says what an entry is about.
type Kind string

// The kinds of entries of a market's log.
const (
	Listed    Kind = "listed"
	Withdrawn Kind = "withdrawn"  // a listing, by its seller
	Receipt   Kind = "receipt"    // of an order that ended
	TakenDown Kind = "taken down" // by the operator, with the reason
	Reviewed  Kind = "reviewed"
	Deleted   Kind = "deleted" // a review, with the reason
	Moved     Kind = "moved"   // a listing from another market, by its seller
)

var kinds = []Kind{Listed, Withdrawn, Receipt, TakenDown, Reviewed, Deleted, Moved}

// Limits of an entry.
const (
	MaxSubject = 200  // bytes
	MaxReason  = 1000 // bytes
	maxEntry   = MaxSubject + MaxReason + 100
)

// Entry is one entry of the log. It says that an object with these bytes existed, and nothing of
// its content: of a receipt, neither who bought nor for how much.
//
// FORMAT: core deterministic CBOR (RFC 8949 4.2.1), a map of:
//
//	1  version, 1
//	2  kind, text
//	3  subject, text: the id of the listing or order; of a review, and of its
//	   deletion, [ReviewSubject]. A review also has an entry by its order
//	4  digest, 32 bytes: SHA-256 of the signed object
//	5  at, ms since 1970
//	6  reason, text; absent if there is none
type Entry struct {
	Version int      `cbor:"1,keyasint" json:"-"`
	Kind    Kind     `cbor:"2,keyasint" json:"kind"`
	Subject string   `cbor:"3,keyasint" json:"subject"`
	Digest  [32]byte `cbor:"4,keyasint" json:"-"`
	At      int64    `cbor:"5,keyasint" json:"at"`
	Reason  string   `cbor:"6,keyasint,omitempty" json:"reason,omitempty"`
}

// ReviewSubject returns the subject of a listing's review, by its number. Reviews of a listing are
// numbered from 1, so that somebody who sees the newest one knows how many there were.
func ReviewSubject(listing string, n uint32) string {
	return listing + "/" + strconv.FormatUint(uint64(n), 10)
}

// ReviewNumber returns the number of a review of a listing from its subject; 0: the subject is not
// a review's.
func ReviewNumber(listing, subject string) uint32 {
	text, is := strings.CutPrefix(subject, listing+"/")
	n, err := strconv.ParseUint(text, 10, 32)
	if !is || err != nil || ReviewSubject(listing, uint32(n)) != subject {
		return 0
	}
	return uint32(n)
}

// Digest returns the digest of a signed object.
func Digest(object []byte) [32]byte { return sha256.Sum256(object) }

// Encode returns the bytes of an entry, which the log hashes.
func (e Entry) Encode() ([]byte, error) {
	e.Version = 1
	if err := e.check(); err != nil {
		return nil, err
	}
	return canonical.Encoding.Marshal(e)
}

var entries = canonical.Reader(canonical.Limits{Levels: 4, Items: 64, Pairs: 16})

// DecodeEntry parses an entry. It accepts only the canonical form.
func DecodeEntry(raw []byte) (e Entry, err error) {
	if len(raw) > maxEntry {
		return e, fmt.Errorf("%w: %d bytes", ErrEntry, len(raw))
	}
	if err := entries.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("%w: %v", ErrEntry, err)
	}
	if e.Version != 1 {
		return e, fmt.Errorf("%w: version %d", ErrEntry, e.Version)
	}
	again, err := e.Encode()
	if err != nil {
		return e, err
	}
	if !bytes.Equal(again, raw) {
		return e, fmt.Errorf("%w: it is malformed", ErrEntry)
	}
	return e, nil
}

func (e Entry) check() error {
	switch {
	case !slices.Contains(kinds, e.Kind):
		return fmt.Errorf("%w: kind %q", ErrEntry, e.Kind)
	case e.Subject == "" || len(e.Subject) > MaxSubject || !utf8.ValidString(e.Subject):
		return fmt.Errorf("%w: the subject has %d bytes, want 1 to %d of UTF-8", ErrEntry, len(e.Subject), MaxSubject)
	case len(e.Reason) > MaxReason || !utf8.ValidString(e.Reason):
		return fmt.Errorf("%w: the reason has %d bytes, want up to %d of UTF-8", ErrEntry, len(e.Reason), MaxReason)
	case (e.Reason == "") == (e.Kind == TakenDown || e.Kind == Deleted):
		return fmt.Errorf("%w: %q: a decision of the operator has to have a reason, and no other entry may", ErrEntry, e.Kind)
	case e.At < 0:
		return fmt.Errorf("%w: time %d", ErrEntry, e.At)
	}
	return nil
}
