package share

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// Bundle gives what a wish would sell to anybody who pays: the copies that a share
// with the same criteria and redaction would have, as far as the policy lets them be
// sold. w.To stays empty. public are texts that everybody will see beside it, by
// their names; one that says what is redacted is refused. Nothing leaves this machine.
func (s *Sharing) Bundle(ctx context.Context, w ShareSpec, public map[string][]string) (p Preview, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := w.Criteria.Check(); err != nil {
		return p, err
	}
	if len(w.To) > 0 {
		return p, fmt.Errorf("%w: to: a bundle is for whoever buys it", memory.ErrInvalid)
	}
	if w.Redact.AtLeast < 0 || w.Redact.AtLeast > MaxCopies {
		return p, fmt.Errorf("%w: at_least: %d, want 1 to %d", memory.ErrInvalid, w.Redact.AtLeast, MaxCopies)
	}
	ids := seal.NewKey()
	defer ids.Zero()
	made, err := s.copies(ctx, &Record{Kind: bundle, Criteria: w.Criteria, Redact: w.Redact, Purpose: w.Purpose}, []Party{{}}, ids)
	if err != nil {
		return p, err
	}
	p.Copies, p.LeftOut, p.Held, p.Few, p.Form = made.copies, made.left, made.held, made.few, made.form
	if err := p.some(&w); err != nil {
		return p, err
	}
	for name, texts := range public {
		for _, t := range texts {
			if made.by.Holds(t) {
				return p, fmt.Errorf("%w: %s: %.60q says what the bundle leaves out", memory.ErrInvalid, name, t)
			}
		}
	}
	if p.Confirm, err = p.digest(); err != nil {
		return p, err
	}
	records, err := s.c.Catalog.Records(ctx)
	p.Risks = risks(&w, p.Copies, nil, records)
	return p, err
}

// Sold notes in the account what was put up for sale, taken from it or delivered.
func (s *Sharing) Sold(ctx context.Context, did, title, to string, copies int, why string) error {
	d := Deed{At: s.c.Now().UTC().Truncate(time.Second), Did: did, Title: title, Copies: copies, Why: why}
	if to != "" {
		d.To = []string{to}
	}
	return s.c.Account.Note(ctx, d)
}
