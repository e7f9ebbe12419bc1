// Package delta defines the content of a sealed body: the operations of one
// delta, their bytes, and the rules by which a worker's operations are accepted.
//
// The words:
//
//   - An [Op] is one statement of a delta: an assertion, an utterance, an
//     erasure, the note of a sealed blob, a worker's report, or a list of removed
//     bodies.
//   - The plaintext of a body is a zstd frame that is compressed with a
//     dictionary which both sides have. It is padded, so that its length tells
//     little about the content (see pad.go).
//   - The context of a delta is its header without the body's hash and size
//     ([envelope.Header.Context]). The plaintext repeats it. So neither the relay
//     nor a member with the epoch key can put a body under another header.
//   - A [Grant] says what a worker may do; [Accept] enforces it.
//
// Every function is pure. FORMAT.md defines the bytes.
package delta

import (
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

var (
	// ErrForm: the plaintext is not in the canonical form, or exceeds a limit.
	ErrForm = errors.New("malformed body")
	// ErrContext: the body was sealed for another header.
	ErrContext = errors.New("body belongs to another header")
)

// Limits.
const (
	MaxOps           = 4096    // in one delta
	MaxForget        = 4096    // ids of each sort in one op
	MaxRemovedBodies = 4096    // places in one op
	MaxPlain         = 4 << 20 // bytes of CBOR, decompressed
	// MaxPadded is the largest plaintext whose sealed form still fits into a
	// body: age adds 129 bytes, and 16 for each 64 KiB.
	MaxPadded = envelope.MaxBody - 1024
)

// Op is one statement of a delta. Exactly one field is set.
type Op struct {
	Assertion     *memory.Assertion `json:"assertion,omitempty"`
	Utterance     *memory.Utterance `json:"utterance,omitempty"`
	Forget        *Forget           `json:"forget,omitempty"`
	Blob          *Blob             `json:"blob,omitempty"`
	Report        *Report           `json:"report,omitempty"`
	RemovedBodies []Place           `json:"gone,omitempty"` // deltas whose bodies were or will be removed; ascending
}

// Place names a delta. In RemovedBodies, the author of the removed body, an owner or a
// writer may announce its removal. Without such an announcement, a missing body
// counts as withheld.
type Place struct {
	Member memory.MemberID `json:"member"`
	envelope.Position
}

// Compare orders by member, incarnation, then seq.
func (p Place) Compare(q Place) int {
	return cmp.Or(p.Member.Compare(q.Member), cmp.Compare(p.Incarnation, q.Incarnation), cmp.Compare(p.Seq, q.Seq))
}

// Forget lists records to remove for good. The memories that were made of them
// have erase assertions of their own.
type Forget struct {
	Memories   []memory.ID      `json:"memories,omitempty"`
	Utterances []memory.ID      `json:"utterances,omitempty"`
	Events     []memory.EventID `json:"events,omitempty"`
	Blobs      []string         `json:"blobs,omitempty"` // the names by which memories cite them
}

// maxBlob is the greatest number of plaintext bytes that a blob may claim, and
// maxSealed the greatest number of its bytes after padding and sealing.
const maxBlob = 1 << 40

var maxSealed = uint64(length.Stream(length.Padded(maxBlob)))

// Blob is the note of a sealed blob: where it is, and which key opens it.
type Blob struct {
	Name      string         `json:"name"`   // the name by which memories cite it
	Sealed    envelope.Hash  `json:"sealed"` // SHA-256 of the sealed bytes; its id at the relay, in hexadecimal
	Size      uint64         `json:"size"`   // size of the sealed form, in bytes
	MediaType string         `json:"media_type,omitempty"`
	Key       []byte         `json:"key"`             // 32 bytes
	Event     memory.EventID `json:"event,omitzero"`  // the event of which it is a recording or photo, if known
	Memory    memory.ID      `json:"memory,omitzero"` // the memory that it belongs to, if there is one
	// Plain is the number of plaintext bytes before the zeros that pad it to
	// [length.Padded]. 0 means that it was not padded.
	Plain uint64 `json:"plain,omitempty"`
}

// check checks an op's limits, and that the op agrees with its header about the
// author.
func (o *Op) check(h *envelope.Header) error {
	set := 0
	for _, has := range []bool{o.Assertion != nil, o.Utterance != nil, o.Forget != nil, o.Blob != nil, o.Report != nil, o.RemovedBodies != nil} {
		if has {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("%w: an op has to be exactly one thing, not %d", ErrForm, set)
	}
	switch {
	case o.Assertion != nil:
		a := o.Assertion
		if a.Dot.Member != h.Member || a.Space != h.Space {
			return fmt.Errorf("%w: assertion of another member or space", ErrForm)
		}
		if err := a.Validate(); err != nil {
			return fmt.Errorf("%w: %v", ErrForm, err)
		}
		if a.Act != memory.ActPropose && a.Candidate != nil {
			return fmt.Errorf("%w: %s with a candidate", ErrForm, a.Act)
		}
		return checkEvidence(a.Evidence)
	case o.Utterance != nil:
		return checkUtterance(o.Utterance, h)
	case o.Forget != nil:
		f := o.Forget
		if n := max(len(f.Memories), len(f.Utterances), len(f.Events), len(f.Blobs)); n == 0 || n > MaxForget {
			return fmt.Errorf("%w: forget: %d ids", ErrForm, n)
		}
		return nil
	case o.Report != nil:
		return o.Report.check()
	case o.RemovedBodies != nil:
		return checkRemovedBodies(o.RemovedBodies)
	default:
		b := o.Blob
		if b.Name == "" || len(b.Name) > memory.MaxName || len(b.MediaType) > memory.MaxName || len(b.Key) != 32 || b.Size == 0 || b.Size > maxSealed || b.Sealed.IsZero() {
			return fmt.Errorf("%w: blob: name, hash, size, key are needed", ErrForm)
		}
		if b.Plain > maxBlob || b.Plain != 0 && uint64(length.Stream(length.Padded(int64(b.Plain)))) != b.Size {
			return fmt.Errorf("%w: blob: %d bytes are not sealed in %d", ErrForm, b.Plain, b.Size)
		}
		return nil
	}
}

func checkRemovedBodies(places []Place) error {
	if len(places) == 0 || len(places) > MaxRemovedBodies {
		return fmt.Errorf("%w: gone: %d places", ErrForm, len(places))
	}
	for i, p := range places {
		if p.Seq == 0 || p.Member == (memory.MemberID{}) || i > 0 && places[i-1].Compare(p) >= 0 {
			return fmt.Errorf("%w: gone[%d]: no member, no seq, or not ascending", ErrForm, i)
		}
	}
	return nil
}

func checkEvidence(es []memory.Evidence) error {
	for i, e := range es {
		if len(e.Excerpt) > memory.MaxExcerpt || !utf8.ValidString(e.Excerpt) {
			return fmt.Errorf("%w: evidence[%d].excerpt", ErrForm, i)
		}
	}
	return nil
}

func checkUtterance(u *memory.Utterance, h *envelope.Header) error {
	switch {
	case u.Space != h.Space:
		return fmt.Errorf("%w: utterance of another space", ErrForm)
	case u.ID.IsZero():
		return fmt.Errorf("%w: utterance: no id", ErrForm)
	case len(u.Text) > memory.MaxText || !utf8.ValidString(u.Text):
		return fmt.Errorf("%w: utterance.text: %d bytes", ErrForm, len(u.Text))
	case max(len(u.Speaker), len(u.Place), len(u.Session), len(u.Zone), len(u.Lang)) > memory.MaxName:
		return fmt.Errorf("%w: utterance: a name is too long", ErrForm)
	case u.Redacted < 0:
		return fmt.Errorf("%w: utterance.redacted: %d", ErrForm, u.Redacted)
	}
	return nil
}
