// Package delta is what stands inside a sealed body: the operations of one
// delta, as bytes, and the rules under which a worker's are taken.
//
// The words:
//
//   - An [Op] is one thing that a delta says: an assertion, an utterance, what
//     to forget, where a sealed blob lies, or which bodies were taken away.
//   - The plaintext of a body is a frame of zstd under a dictionary that both
//     sides have, padded, so that its length tells little (see pad.go).
//   - The context of a delta is its header without the body's hash and size
//     ([envelope.Header.Context]). The plaintext repeats it: the relay can't put
//     a body under another header, nor can a member that holds the epoch key.
//   - A [Grant] is what a worker was let in for; [Accept] holds it to that.
//
// Everything is a pure function. The bytes are in FORMAT.md.
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
	// ErrForm: the plaintext is not of the one form, or a limit is passed.
	ErrForm = errors.New("malformed body")
	// ErrContext: the body was sealed for another header.
	ErrContext = errors.New("body belongs to another header")
)

// Limits.
const (
	MaxOps    = 4096    // in one delta
	MaxForget = 4096    // ids of each sort in one op
	MaxGone   = 4096    // places in one op
	MaxPlain  = 4 << 20 // bytes of CBOR, decompressed
	// MaxPadded is the largest plaintext that fits a body once it is sealed:
	// age takes 129 bytes, and 16 for each 64 KiB.
	MaxPadded = envelope.MaxBody - 1024
)

// Op is one thing that a delta says. Exactly one field is set.
type Op struct {
	Assertion *memory.Assertion `json:"assertion,omitempty"`
	Utterance *memory.Utterance `json:"utterance,omitempty"`
	Forget    *Forget           `json:"forget,omitempty"`
	Blob      *Blob             `json:"blob,omitempty"`
	Report    *Report           `json:"report,omitempty"`
	Gone      []Place           `json:"gone,omitempty"` // whose bodies were, or will be, taken away; ascending
}

// Place names a delta. That its body is gone is its author's word, or that of an
// owner or a writer; without such a word a body that is not there is withheld.
type Place struct {
	Member memory.MemberID `json:"member"`
	envelope.Position
}

// Compare orders by member, incarnation, then seq.
func (p Place) Compare(q Place) int {
	return cmp.Or(p.Member.Compare(q.Member), cmp.Compare(p.Incarnation, q.Incarnation), cmp.Compare(p.Seq, q.Seq))
}

// Forget names records to remove for good, beside the erase assertions of the
// memories that were made of them.
type Forget struct {
	Memories   []memory.ID      `json:"memories,omitempty"`
	Utterances []memory.ID      `json:"utterances,omitempty"`
	Events     []memory.EventID `json:"events,omitempty"`
	Blobs      []string         `json:"blobs,omitempty"` // names, as memories cite them
}

// maxBlob is how many bytes of plaintext a blob may say it has, and maxSealed how
// many once these are padded and sealed.
const maxBlob = 1 << 40

var maxSealed = uint64(length.Stream(length.Padded(maxBlob)))

// Blob says where a sealed blob lies and what opens it.
type Blob struct {
	Name      string         `json:"name"`   // as memories cite it
	Sealed    envelope.Hash  `json:"sealed"` // SHA-256 of the sealed bytes; in hexadecimal its id at the relay
	Size      uint64         `json:"size"`   // bytes, sealed
	MediaType string         `json:"media_type,omitempty"`
	Key       []byte         `json:"key"`             // 32 bytes
	Event     memory.EventID `json:"event,omitzero"`  // what it is of, where known
	Memory    memory.ID      `json:"memory,omitzero"` // the memory that has it, where there is one
	// Plain is how many bytes it has in plain, before the zeros that bring it to
	// [length.Padded]; 0: none were added.
	Plain uint64 `json:"plain,omitempty"`
}

// check holds an op to its limits, and to what its header says of the author.
func (o *Op) check(h *envelope.Header) error {
	set := 0
	for _, has := range []bool{o.Assertion != nil, o.Utterance != nil, o.Forget != nil, o.Blob != nil, o.Report != nil, o.Gone != nil} {
		if has {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("%w: an op is one thing, not %d", ErrForm, set)
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
	case o.Gone != nil:
		return checkGone(o.Gone)
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

func checkGone(places []Place) error {
	if len(places) == 0 || len(places) > MaxGone {
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
