// Package memory is Locket's domain: what a wearable sent, what was said, what is claimed about it,
// and the memories that follow from the claims.
//
// The words, in the order of the data flow:
//
//   - An [Event] is one thing that a wearable sent.
//   - An [Utterance] is what was said in an event: a source record.
//   - A [Candidate] is a memory that an extractor proposes, with [Evidence].
//   - An [Assertion] is what one member says: this candidate, this correction,
//     this pin, this erasure. Assertions are what is stored and synced.
//   - A [Memory] is one typed record as it follows from the assertions. It is
//     never stored as the truth: package reconcile derives it, and every
//     replica that holds the same assertions derives the same memories.
//   - A [Change] is one line of a memory's history.
//
// The package imports nothing but the standard library, and knows nothing of
// storage, transport or encodings. Field names in its struct tags are the
// names that JSON, CBOR and the documents use.
package memory

import (
	"errors"
	"fmt"
)

// Callers can distinguish these errors.
var (
	// ErrNotFound: there is no record with that id, or none that the caller may see.
	ErrNotFound = errors.New("not found")
	// ErrInvalid: a value from outside breaks a rule. The wrapping error names
	// the field.
	ErrInvalid = errors.New("invalid")
	// ErrLocked: the operation needs a key that is not open.
	ErrLocked = errors.New("locked")
	// ErrAmbiguous: an abbreviated id matches more than one record.
	ErrAmbiguous = errors.New("ambiguous")
	// ErrNoSpace: the disk's reserve is reached; nothing was written.
	ErrNoSpace = errors.New("disk reserve reached")
	// ErrInUse: another process has the home open.
	ErrInUse = errors.New("in use")
	// ErrDamaged: the content of the disk differs from what was written.
	ErrDamaged = errors.New("damaged")
)

// ColdError says that a memory exists but that its body is not on this device: it is stored sealed
// at the relay. For callers that do not distinguish this case, it is an [ErrNotFound].
type ColdError struct{ ID ID }

// Error implements error.
func (e *ColdError) Error() string {
	return fmt.Sprintf("memory %s is cold: its text is at the relay", e.ID)
}

// Is reports that the error also is an ErrNotFound.
func (e *ColdError) Is(target error) bool { return target == ErrNotFound }
