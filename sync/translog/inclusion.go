package translog

import (
	"encoding/json"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Inclusion proves that an entry is in a log. It is a file that is kept with the object of the
// entry.
type Inclusion struct {
	Index      int64
	Entry      []byte
	Checkpoint string // the signed checkpoint
	Proof      tlog.RecordProof
}

// Check checks the proof for the log with this key, and returns the entry and the checkpoint.
func (p *Inclusion) Check(log note.Verifier, witnesses ...note.Verifier) (Entry, *Signed, error) {
	s, err := Open([]byte(p.Checkpoint), log, witnesses...)
	if err != nil {
		return Entry{}, nil, err
	}
	if err := Included(s.Checkpoint, p.Index, p.Entry, p.Proof); err != nil {
		return Entry{}, nil, err
	}
	e, err := DecodeEntry(p.Entry)
	return e, s, err
}

type inclusion struct {
	Index      int64    `json:"index"`
	Entry      []byte   `json:"entry"` // base64
	Checkpoint string   `json:"checkpoint"`
	Proof      []string `json:"proof"` // hashes in base64
}

// MarshalJSON encodes the file.
func (p *Inclusion) MarshalJSON() ([]byte, error) {
	return json.Marshal(inclusion{p.Index, p.Entry, p.Checkpoint, Lines(p.Proof)})
}

// UnmarshalJSON decodes the file. [Inclusion.Check] checks it.
func (p *Inclusion) UnmarshalJSON(raw []byte) error {
	var d inclusion
	if err := json.Unmarshal(raw, &d); err != nil {
		return fmt.Errorf("%w: %v", ErrProof, err)
	}
	proof, err := Hashes(d.Proof)
	*p = Inclusion{d.Index, d.Entry, d.Checkpoint, proof}
	return err
}
