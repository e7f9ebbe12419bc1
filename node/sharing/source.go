package sharing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

func (sh *Sharing) Choose(ctx context.Context, c share.Criteria) (out []memory.Memory, err error) {
	limit := c.Limit
	if c.Query == "" {
		limit = cmp.Or(limit, sharedAll)
		err := sh.c.Engine.View(ctx, func(tx *store.Tx) error {
			for m, err := range tx.Memories(store.Filter{Types: c.Types, States: []memory.State{memory.Active}, Since: c.Since, Until: c.Until}) {
				if err != nil {
					return err
				}
				if c.Fits(m) {
					if out = append(out, *m); len(out) == limit {
						return nil
					}
				}
			}
			return nil
		})
		return out, err
	}
	limit = cmp.Or(limit, sharedHits)
	return sh.find(ctx, &c, limit)
}

// weak is the fraction of the best score below which a hit is not shared,
// because it has little to do with the query.
const weak = 0.4

// find queries the index. Hits with a low confidence are not shared.
func (sh *Sharing) find(ctx context.Context, c *share.Criteria, limit int) (out []memory.Memory, err error) {
	found, err := sh.c.Engine.Search(ctx, recall.Query{Text: c.Query, Now: sh.c.Now(), Zone: sh.c.Zone.String(), Wearer: sh.c.Wearer,
		K: min(4*limit, recall.MaxK), Types: c.Types, Kinds: []recall.Kind{recall.Memory}})
	if err != nil || found.Confidence < recall.Unsure {
		return nil, err
	}
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		for _, h := range found.Hits {
			if h.Score < weak*found.Hits[0].Score || len(out) == limit {
				return nil
			}
			m, _, err := engine.MemoryOfHit(tx, h.ID)
			if errors.Is(err, memory.ErrNotFound) || err == nil && m.State == memory.Erased {
				continue
			}
			if err != nil {
				return err
			}
			if c.Fits(m) {
				out = append(out, *m)
			}
		}
		return nil
	})
	return out, err
}

func (sh *Sharing) Vocabulary(ctx context.Context) (v share.Vocabulary, err error) {
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			v.Add(m)
		}
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			v.Names, v.Places = append(v.Names, u.Speaker), append(v.Places, u.Place)
		}
		return nil
	})
	slices.Sort(v.Names)
	slices.Sort(v.Places)
	v.Names, v.Places = slices.Compact(v.Names), slices.Compact(v.Places)
	return v, err
}

func (sh *Sharing) Records(ctx context.Context) (list []share.Record, err error) {
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(sharesMeta, &list)
		return err
	})
	return list, err
}

func (sh *Sharing) Keep(ctx context.Context, list []share.Record) error {
	return sh.c.Engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta(sharesMeta, list) })
}

// accountMeta is the record with the log of shares.
const accountMeta = "share log"

func (sh *Sharing) Note(ctx context.Context, d share.Deed) error {
	return sh.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		var list []share.Deed
		if _, err := tx.Meta(accountMeta, &list); err != nil {
			return err
		}
		return tx.PutMeta(accountMeta, share.AppendDeed(list, &d))
	})
}

func (sh *Sharing) deeds(ctx context.Context) (list []share.Deed, err error) {
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(accountMeta, &list)
		return err
	})
	slices.Reverse(list)
	return list, err
}

// LogConsent logs what the wearer was asked and answered.
func (sh *Sharing) LogConsent(ctx context.Context, did consent.Did, rule, to string, memories int, until time.Time) error {
	d := share.Deed{At: sh.c.Now().UTC().Truncate(time.Second), Did: string(did), Title: rule, To: []string{to}, Copies: memories}
	if !until.IsZero() {
		d.Why = "until " + until.UTC().Format(time.DateTime)
	}
	return sh.Note(ctx, d)
}

// Redact is [share.Sharing.Redact].
func (sh *Sharing) Redact(ctx context.Context, redacted []byte, of []memory.Memory) ([]memory.Candidate, error) {
	s, err := sh.open()
	if err != nil {
		return nil, err
	}
	return s.Redact(ctx, redacted, of)
}

func (sh *Sharing) View(ctx context.Context, fn func(*store.Tx) error) error {
	return sh.c.Engine.View(ctx, fn)
}

// takePage is how many of a worker's statements one transaction takes over.
const takePage = 50

// TakeClaims implements share.Inbox. This device asserts the statements in place of the worker, so that
// the wearer's other devices, which are not in the feed, get them.
func (sh *Sharing) TakeClaims(ctx context.Context, as []memory.Assertion, us []memory.Utterance) error {
	lock := sh.c.Engine.AcquireWriter()
	defer lock.Release()
	as, us, err := sh.c.Gate.WithoutSecrets(ctx, as, us)
	if err != nil {
		return err
	}
	for len(as)+len(us) > 0 {
		a, u := as[:min(len(as), takePage)], us[:min(len(us), takePage)]
		err := sh.c.Gate.CommitRemote(ctx, lock, func(tx *store.Tx) error {
			for i := range u {
				said := u[i]
				said.Space, said.Source = sh.c.Ring.Space(), u[i].Source.AsWorker() // so that a revert finds it
				switch old, err := tx.Utterance(said.ID); {
				case err == nil && !old.Source.ByWorker():
					continue // a device's own line, which a worker can't take over
				case err != nil && !errors.Is(err, memory.ErrNotFound):
					return err
				}
				if err := tx.PutUtterance(&said); err != nil {
					return err
				}
			}
			for i := range a {
				if err := sh.takeOne(tx, a[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		as, us = as[len(a):], us[len(u):]
	}
	return nil
}

// asWorker returns the source for a worker's statement. The worker's key identifies it; any name in
// the statement is dropped, because a revert of workers could otherwise miss it.
func asWorker(s memory.Source) memory.Source {
	if s.App() != "" {
		s.Device = ""
	}
	return s.AsWorker()
}

func (sh *Sharing) takeOne(tx *store.Tx, a memory.Assertion) (err error) {
	if m, err := tx.Memory(a.Memory); err == nil && m.State == memory.Erased {
		return nil
	} else if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return err
	}
	a.Seen = nil // here the dots that the worker knew are others
	a.Source = asWorker(a.Source)
	if a.Candidate != nil { // the worker does not know the owner of the memories
		c := *a.Candidate
		c.Source = asWorker(c.Source)
		c.Owner.User = memory.WearerUser
		a.Candidate = &c
	}
	_, err = sh.c.Engine.AssertTx(tx, memory.RankCloud, a)
	return err
}

// Bundle returns what a request would sell, see [share.Sharing.Bundle].
func (sh *Sharing) Bundle(ctx context.Context, r *serve.ShareRequest, answers bool, public map[string][]string) (p share.Preview, redaction []string, err error) {
	w, err := wishOf(r)
	if err != nil {
		return p, nil, err
	}
	s, err := sh.open()
	if err != nil {
		return p, nil, err
	}
	p, err = s.Bundle(ctx, w, answers, public)
	return p, w.Redact.Kinds(), shareError(err)
}

// LogSale adds an entry to the log of what was shared.
func (sh *Sharing) LogSale(ctx context.Context, did, title, to string, copies int, why string) error {
	s, err := sh.open()
	if err != nil {
		return err
	}
	return s.LogSale(ctx, did, title, to, copies, why)
}

// sharedMemory returns a memory, and whether it was forgotten, so that it can't be sold or shown any more.
func sharedMemory(tx *store.Tx, id memory.ID) (m *memory.Memory, forgotten bool, err error) {
	m, _, err = engine.MemoryOfHit(tx, id)
	if errors.Is(err, memory.ErrNotFound) || err == nil && (m.State == memory.Erased || m.Type == memory.Vault || m.Fields.Vault != nil) {
		return nil, true, nil
	}
	return m, false, err
}

// Forgotten returns those of some memories that this home no longer has.
func (sh *Sharing) Forgotten(ctx context.Context, of []memory.ID) (gone []memory.ID, err error) {
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		for _, id := range of {
			_, forgotten, err := sharedMemory(tx, id)
			if err != nil {
				return err
			}
			if forgotten {
				gone = append(gone, id)
			}
		}
		return nil
	})
	return gone, err
}

// WithheldReason returns why one of the memories may not be sold any more, or not be used for answers: it
// was forgotten, or the policy holds it back now. Empty: all may.
func (sh *Sharing) WithheldReason(ctx context.Context, of []memory.ID, answers bool, purpose, form string) (why string, err error) {
	q := policy.Request{Action: policy.Sell, Kind: policy.Buyer, Purpose: purpose, Form: form, Now: sh.c.Now()}
	if answers {
		q.Action = policy.SellAnswers
	}
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		rules, err := rulebook.Read(tx)
		if err != nil {
			return err
		}
		for _, id := range of {
			m, forgotten, err := sharedMemory(tx, id)
			if forgotten {
				why = "a memory in it was forgotten"
				return nil
			}
			if err != nil {
				return err
			}
			it := policy.ItemOf(m)
			if d := rules.Decide(&q, &it); !d.Allow {
				why = "your policy holds a memory in it back: " + d.Why()
				return nil
			}
		}
		return nil
	})
	return why, err
}
