package share

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy/consent"
)

// Deed is one entry of the owner's log of sharing.
type Deed struct {
	At      time.Time      `json:"at"`
	Did     string         `json:"did"` // one of the words below
	Share   memory.SpaceID `json:"share"`
	Title   string         `json:"title,omitempty"`
	To      []string       `json:"to,omitempty"` // names of the readers
	Copies  int            `json:"copies"`       // number of shared copies afterwards
	Added   int            `json:"added,omitempty"`
	Removed int            `json:"removed,omitempty"`
	Why     string         `json:"why,omitempty"` // why it was refused
	By      string         `json:"by,omitempty"`  // app:NAME if an app made the share
	// Daily adds the deed to the entry of the same day, so that actions that others
	// trigger do not push other entries out of the log.
	Daily bool `json:"-"`
}

// AppendDeed adds a deed to a log: at its end, or with Daily to the entry of that day.
func AppendDeed(list []Deed, d *Deed) []Deed {
	for i := range list {
		same := &list[i]
		if d.Daily && same.Did == d.Did && same.Share == d.Share && same.Title == d.Title && same.At.Truncate(24*time.Hour).Equal(d.At.Truncate(24*time.Hour)) {
			same.Added, same.Copies = same.Added+d.Added, d.Copies
			return list
		}
	}
	list = append(list, *d)
	return list[max(0, len(list)-MaxDeedLog):]
}

// The values of Did.
const (
	DidShare   = "shared"
	DidUpdate  = "updated"
	DidTake    = "taken back" // removed because it was forgotten, changed, or may no longer be shared
	DidPutOut  = "reader removed"
	DidRevoke  = "revoked"
	DidRefuse  = "refused" // it was not shared
	DidList    = "put up for sale"
	DidSell    = "sold"                 // the key was delivered
	DidEnd     = "sale ended"           // the listing was withdrawn
	DidAsk     = string(consent.DidAsk) // a rule asks the wearer; To names who would be shown something
	MaxDeedLog = 500                    // entries that are kept
)

// Account stores the owner's log, sealed, with at most [MaxDeedLog] entries.
// nil means that no log is kept.
type Account interface {
	Note(ctx context.Context, d Deed) error
}

// note writes an entry. If it can't be written, the share is not made.
func (s *Sharing) note(ctx context.Context, did string, rec *Record, change func(*Deed)) error {
	if s.c.Account == nil || rec.Kind == Feed {
		return nil
	}
	d := Deed{At: s.c.Now().UTC().Truncate(time.Second), Did: did, Share: rec.Space, Title: rec.Title, Copies: rec.Copies}
	if rec.By != nil {
		d.By = memory.AppDevice + rec.By.App
	}
	for _, p := range rec.activeParties() {
		d.To = append(d.To, p.Name)
	}
	if change != nil {
		change(&d)
	}
	return s.c.Account.Note(ctx, d)
}
