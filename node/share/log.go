package share

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Deed is one line of the owner's account of what was shared.
type Deed struct {
	At      time.Time      `json:"at"`
	Did     string         `json:"did"` // one of the words below
	Share   memory.SpaceID `json:"share"`
	Title   string         `json:"title,omitempty"`
	To      []string       `json:"to,omitempty"` // readers, by name
	Copies  int            `json:"copies"`       // that are shared after it
	Added   int            `json:"added,omitempty"`
	Removed int            `json:"removed,omitempty"`
	Why     string         `json:"why,omitempty"` // in words, where it was not done
}

// What was done.
const (
	DidShare   = "shared"
	DidUpdate  = "updated"
	DidTake    = "taken back" // what was forgotten, changed, or may go no more
	DidPutOut  = "reader removed"
	DidRevoke  = "revoked"
	DidRefuse  = "refused" // to share it
	DidList    = "put up for sale"
	DidSell    = "sold"       // the key was delivered
	DidEnd     = "sale ended" // the listing was withdrawn
	MaxDeedLog = 500          // lines that are kept
)

// Account keeps the owner's account, sealed, and at most [MaxDeedLog] lines of it.
// Nil: none is kept.
type Account interface {
	Note(ctx context.Context, d Deed) error
	Deeds(ctx context.Context) ([]Deed, error) // the newest first
}

// note writes a line. A share whose line can't be written is not made.
func (s *Sharing) note(ctx context.Context, did string, rec *Record, change func(*Deed)) error {
	if s.c.Account == nil || rec.Kind == Feed {
		return nil
	}
	d := Deed{At: s.c.Now().UTC().Truncate(time.Second), Did: did, Share: rec.Space, Title: rec.Title, Copies: rec.Copies}
	for _, p := range rec.live() {
		d.To = append(d.To, p.Name)
	}
	if change != nil {
		change(&d)
	}
	return s.c.Account.Note(ctx, d)
}
