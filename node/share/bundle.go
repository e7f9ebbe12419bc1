package share

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// Bundle returns what a request would sell to anybody who pays: the copies that a share with the
// same criteria and redaction would have, as far as the policy allows them to be sold or, with
// answers, to be used for answers. w.To stays empty. public are texts that everybody will see
// beside it, by their names; a text that contains redacted words is refused. Nothing leaves this
// machine.
func (s *Sharing) Bundle(ctx context.Context, w ShareSpec, answers bool, public map[string][]string) (p Preview, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(w.To) > 0 {
		return p, fmt.Errorf("%w: to: a bundle has no readers: anyone may buy it", memory.ErrInvalid)
	}
	ids := seal.NewKey()
	defer ids.Zero()
	p, by, err := s.offer(ctx, &w, &Record{Kind: bundle, answers: answers}, Party{}, ids)
	if err != nil {
		return p, err
	}
	p.Holds = by.Holds
	for name, texts := range public {
		for _, t := range texts {
			if by.Holds(t) {
				return p, fmt.Errorf("%w: %s: %.60q names something that the bundle leaves out", memory.ErrInvalid, name, t)
			}
		}
	}
	return p, nil
}

// ForCommunity returns memory.ErrInvalid for options that do not work with a community.
func (w *ShareSpec) ForCommunity() error {
	if w.Redact.AtLeast > 1 {
		// A copy would stand for several memories, and would stay when one of them is removed.
		return fmt.Errorf("%w: at_least: it does not go with a community; leave it out, or share with readers", memory.ErrInvalid)
	}
	return nil
}

// Offer returns the copies that a request would add to a community, as far as the policy allows.
// ids makes their ids. byHand says that the wearer asks for it, and not a running node that checks
// again. w.To stays empty. Nothing leaves this machine.
func (s *Sharing) Offer(ctx context.Context, w ShareSpec, to Party, ids *seal.Key, byHand bool) (p Preview, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := w.ForCommunity(); err != nil {
		return p, err
	}
	rec := Record{Kind: community, onlyOriginals: w.OnlyOriginals}
	if !byHand {
		rec.Space = memory.SpaceID{1} // a memory that waits for consent is not counted again
	}
	p, _, err = s.offer(ctx, &w, &rec, to, ids)
	return p, err
}

// offer makes the copies of a request for a party that is not a reader. rec has the kind.
func (s *Sharing) offer(ctx context.Context, w *ShareSpec, rec *Record, to Party, ids *seal.Key) (p Preview, by *Redactor, err error) {
	if err := w.Criteria.Check(); err != nil {
		return p, nil, err
	}
	if w.Redact.AtLeast < 0 || w.Redact.AtLeast > MaxCopies {
		return p, nil, fmt.Errorf("%w: at_least: %d, want 1 to %d", memory.ErrInvalid, w.Redact.AtLeast, MaxCopies)
	}
	rec.Criteria, rec.Redact, rec.Purpose, rec.Expires = w.Criteria, w.Redact, w.Purpose, w.Expires
	made, err := s.copies(ctx, rec, []Party{to}, ids)
	if err != nil {
		return p, nil, err
	}
	p.Copies, p.LeftOut, p.Held, p.Few, p.Form = made.copies, made.emptied, made.heldBack, made.tooFew, made.form
	p.Waits = made.waiting
	if err := p.checkNotEmpty(w); err != nil {
		return p, nil, err
	}
	if p.Confirm, err = p.digest(); err != nil {
		return p, nil, err
	}
	records, err := s.c.Catalog.Records(ctx)
	p.Risks = risks(w, p.Copies, nil, records)
	return p, made.redactor, err
}

// LogGift logs that copies go into a community, which then has this number of copies from this home.
// The answers that a node gives by itself on one day are a single entry.
func (s *Sharing) LogGift(ctx context.Context, name string, space memory.SpaceID, added, copies int, answers bool) error {
	return s.note(ctx, DidShare, &Record{Kind: community, Space: space, Title: name, Copies: copies}, func(d *Deed) {
		if d.To, d.Added = []string{"community:" + name}, added; answers {
			d.Title, d.Daily = "answers in "+name, true
		}
	})
}

// LogSale logs what was put up for sale, withdrawn or delivered.
func (s *Sharing) LogSale(ctx context.Context, did, title, to string, copies int, why string) error {
	d := Deed{At: s.c.Now().UTC().Truncate(time.Second), Did: did, Title: title, Copies: copies, Why: why}
	if to != "" {
		d.To = []string{to}
	}
	return s.c.Account.Note(ctx, d)
}
