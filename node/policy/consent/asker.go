package consent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/serve"
)

// Store stores the questions, sealed.
type Store interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Update(ctx context.Context, fn func(*store.Tx) error) error
}

// Did is what was done with a question, as it is in the wearer's log.
type Did string

// The values of Did.
const (
	DidAsk    Did = "consent asked"
	DidAllow  Did = "consent given"
	DidRefuse Did = "consent refused"
)

// Config is what an Asker needs.
type Config struct {
	Store Store
	Now   func() time.Time
	// Note writes an entry into the wearer's log of sharing. If it can't, nothing is
	// asked or answered.
	Note func(ctx context.Context, did Did, rule, to string, memories int, until time.Time) error
	// Redact returns memories as redaction would show them; with an empty text:
	// nothing is left of that memory.
	Redact func(ctx context.Context, redacted []byte, of []memory.Memory) ([]memory.Candidate, error)
	// WithdrawAllowed withdraws what was allowed before.
	WithdrawAllowed func(context.Context)
	// VaultUntil returns when the vault closes, or zero if it is closed. nil: it is
	// closed.
	VaultUntil func() time.Time
}

// Asker is the part of an open node that asks the wearer. Its methods are safe for
// concurrent use.
type Asker struct{ c Config }

// New makes an Asker.
func New(c Config) *Asker { return &Asker{c} }

// Ask stores what was held back because a rule asks. again also counts a question
// that waits already, because somebody asked once more.
func (d *Asker) Ask(ctx context.Context, held []Held, again bool) error {
	if len(held) == 0 {
		return nil
	}
	now := d.c.Now().UTC().Truncate(time.Second)
	var begun []question
	changed := false
	err := d.c.Store.View(ctx, func(tx *store.Tx) error {
		list, err := read(tx)
		_, begun, changed = ask(list, held, again, now)
		return err
	})
	if err != nil || !changed {
		return err
	}
	for i := range begun {
		if err := d.c.Note(ctx, DidAsk, begun[i].Rule, begun[i].By.Who(), len(begun[i].Of), time.Time{}); err != nil {
			return err
		}
	}
	return d.c.Store.Update(ctx, func(tx *store.Tx) error {
		list, err := read(tx)
		if err != nil {
			return err
		}
		list, _, _ = ask(list, held, again, now)
		return save(tx, list, now)
	})
}

// AskApproval reports whether the wearer agreed to what an app would pay, under a rule
// of policy.Asking. If there is no answer, it asks. A refusal is serve.ErrForbidden.
func (d *Asker) AskApproval(ctx context.Context, by policy.Request, rule *policy.Rule, id memory.ID, goods string) (yes bool, err error) {
	h := Held{By: by, Rules: []*policy.Rule{rule}, Memory: id, Goods: goods}
	err = d.c.Store.View(ctx, func(tx *store.Tx) error {
		list, err := read(tx)
		for i := range list {
			q := &list[i]
			if q.ID != idOf(&h, rule) || !q.holds(d.c.Now()) {
				continue
			}
			if !q.Allowed {
				return fmt.Errorf("%w: the wearer said no, until %s", serve.ErrForbidden, q.Until.Format(time.DateTime))
			}
			yes = at(q.Shown, id) >= 0
		}
		return err
	})
	if yes || err != nil {
		return yes, err
	}
	return false, d.Ask(ctx, []Held{h}, true)
}

// Waiting returns how many questions wait for an answer.
func Waiting(tx *store.Tx, now time.Time) (n int, err error) {
	list, err := read(tx)
	for i := range list {
		if list[i].waits(now) {
			n++
		}
	}
	return n, err
}

// Edition returns a text that changes whenever a question was asked, again or about
// more, or was answered.
func Edition(tx *store.Tx) (string, error) {
	list, err := read(tx)
	var b strings.Builder
	for i := range list {
		q := &list[i]
		fmt.Fprintf(&b, "%s %d %d %d %t %d\n", q.ID, q.Asked, len(q.Of), len(q.Shown), q.Allowed, q.Said.UnixNano())
	}
	return b.String(), err
}

// Agreer implements serve.Consents.
type Agreer struct{ of opened.Of[*Asker] }

// NewAgreer makes an Agreer.
func NewAgreer(of opened.Of[*Asker]) Agreer { return Agreer{of} }

// Consents implements serve.Consents.
func (a Agreer) Consents(ctx context.Context) (out []serve.Consent, err error) {
	d, release, err := a.of.Use()
	if err != nil {
		return nil, err
	}
	defer release()
	now := d.c.Now()
	var list []question
	if err := d.c.Store.View(ctx, func(tx *store.Tx) error { list, err = read(tx); return err }); err != nil {
		return nil, err
	}
	sorting.Stable(list, func(a, b question) int {
		if x, y := a.waits(now), b.waits(now); x != y {
			if x {
				return -1
			}
			return 1
		}
		return b.Last.Compare(a.Last)
	})
	for i := range list {
		if q := &list[i]; q.waits(now) || q.holds(now) {
			v, err := d.toAPI(ctx, q, now)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// toAPI returns a question in the form in which it is served.
func (d *Asker) toAPI(ctx context.Context, q *question, now time.Time) (v serve.Consent, err error) {
	v = serve.Consent{ID: q.ID, Who: q.By.Who(), Action: string(q.By.Action), Purpose: q.By.Purpose, Rule: q.Rule, Words: q.Key, Redacted: q.By.Form != "",
		Asked: q.Asked, First: q.First, Last: q.Last, Most: config.Duration(q.most()), Waits: []serve.ConsentItem{}}
	if q.waits(now) {
		v.More, v.Lapses = q.More, q.lapses()
		if v.Waits, err = d.items(ctx, q, q.Of); err != nil {
			return v, err
		}
	}
	if q.holds(now) {
		v.Answer, v.Said, v.Until, v.All = "refused", q.Said, q.Until, q.All
		if q.Allowed {
			v.Answer = "allowed"
		}
		ids := make([]memory.ID, len(q.Shown))
		for i := range ids {
			ids[i] = q.Shown[i].ID
		}
		v.Shown, err = d.items(ctx, q, ids)
		v.Shown = slices.DeleteFunc(v.Shown, func(it serve.ConsentItem) bool { return q.Shown[at(q.Shown, it.ID)].Mark != it.Mark })
	}
	return v, err
}

// items returns memories as they would be shown, without those that are gone.
func (d *Asker) items(ctx context.Context, q *question, ids []memory.ID) ([]serve.ConsentItem, error) {
	out := []serve.ConsentItem{}
	var of []memory.Memory
	err := d.c.Store.View(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			if text := q.Goods[id]; text != "" {
				of := memory.Type("order")
				if q.By.Action == Reveal {
					of = memory.Vault
				}
				out = append(out, serve.ConsentItem{ID: id, Type: of, Text: text})
			} else if it, ok := entryItem(tx, id); ok && q.By.Action == Reveal {
				out = append(out, it)
			} else if m, err := engine.Live(tx, id); err == nil {
				of = append(of, m)
				it := policy.ItemOf(&m)
				out = append(out, serve.ConsentItem{ID: id, Type: m.Type, Text: m.Text, Mark: it.Mark(), Beyond: m.Beyond()})
			} else if u, err := tx.Utterance(id); err == nil {
				of = append(of, memory.Memory{})
				it := policy.ItemOfLine(u)
				out = append(out, serve.ConsentItem{ID: id, Type: policy.Utterances, Text: u.Text, Mark: it.Mark()})
			}
		}
		return nil
	})
	if err != nil || q.Redacted == nil {
		return out, err
	}
	copies, err := d.c.Redact(ctx, q.Redacted, of)
	if err != nil {
		return nil, err
	}
	for i := range copies {
		if text := copies[i].Text; text != out[i].Text {
			out[i].Text, out[i].Was = text, out[i].Text
		}
		out[i].Beyond = copies[i].Beyond()
	}
	return out, nil
}

// most returns how long a consent is valid at most.
func (q *question) most() time.Duration {
	switch {
	case q.By.Action == Reveal:
		return readingFor
	case q.For == 0:
		return onceFor
	}
	return q.For
}

// AnswerConsent implements serve.Consents.
func (a Agreer) AnswerConsent(ctx context.Context, r serve.ConsentAnswer) (v serve.Consent, err error) {
	d, release, err := a.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	now := d.c.Now().UTC().Truncate(time.Second)
	var list []question
	if err := d.c.Store.View(ctx, func(tx *store.Tx) error { list, err = read(tx); return err }); err != nil {
		return v, err
	}
	q, err := find(list, r.ID, now)
	if err != nil {
		return v, err
	}
	of, err := d.currentItems(ctx, q, r.Of)
	if err != nil {
		return v, err
	}
	until, err := q.until(&r, len(of), now)
	if err != nil {
		return v, err
	}
	if r.Act != "allow" && r.Act != "refuse" {
		return v, fmt.Errorf("%w: act: %.40q: want allow or refuse", memory.ErrInvalid, r.Act)
	}
	if r.Act == "allow" && len(r.Of) == 0 && !r.Remember {
		return v, fmt.Errorf("%w: of: name the memories that the wearer was shown, with their marks: others may wait by now", memory.ErrInvalid)
	}
	if err := d.mayRead(q, &r); err != nil {
		return v, err
	}
	did, n, was := DidAllow, len(of), q.Allowed && q.holds(now)
	if r.Act == "refuse" {
		did = DidRefuse
	}
	if err := d.c.Note(ctx, did, q.Rule, q.By.Who(), n, until); err != nil {
		return v, err
	}
	var kept question
	err = d.c.Store.Update(ctx, func(tx *store.Tx) error {
		again, err := read(tx)
		if err != nil {
			return err
		}
		k, err := find(again, q.ID, now)
		if err != nil {
			return err
		}
		if r.Act == "refuse" {
			k.refuse(until, now)
		} else {
			k.allow(of, r.Remember, until, now)
		}
		kept = *k
		return save(tx, again, now)
	})
	if err != nil {
		return v, err
	}
	if was && !kept.Allowed && d.c.WithdrawAllowed != nil {
		d.c.WithdrawAllowed(context.WithoutCancel(ctx))
	}
	return d.toAPI(ctx, &kept, now)
}

// currentItems returns the waiting memories as they are now. With some, it returns only the
// memories that the wearer was shown, and nothing that was added meanwhile; if one of
// them was changed, the error is serve.ErrConflict.
func (d *Asker) currentItems(ctx context.Context, q *question, some []serve.ConsentSeen) (of []serve.ConsentSeen, err error) {
	items, err := d.items(ctx, q, q.Of)
	for _, it := range items {
		if len(some) > 0 {
			i := at(some, it.ID)
			if i < 0 {
				continue
			}
			if some[i].Mark != it.Mark {
				return nil, fmt.Errorf("consent %s: memory %s: %w: it was changed since it was shown", q.ID, it.ID, serve.ErrConflict)
			}
		}
		of = append(of, serve.ConsentSeen{ID: it.ID, Mark: it.Mark})
	}
	return of, err
}

// until returns how long an answer is valid, or why it can't be given.
func (q *question) until(r *serve.ConsentAnswer, waits int, now time.Time) (time.Time, error) {
	most, span := policy.MaxAsk, refusedFor
	if r.Act == "allow" {
		most, span = q.most(), q.most()
		switch {
		case waits == 0 && !r.Remember:
			return now, fmt.Errorf("consent %s: %w: nothing waits for it", q.ID, serve.ErrConflict)
		case r.Remember && q.For == 0:
			return now, fmt.Errorf("%w: remember: not possible, because the rule %q asks each time", memory.ErrInvalid, q.Rule)
		}
	}
	if r.For != 0 {
		span = r.For.Std()
	}
	if span <= 0 || span > most {
		return now, fmt.Errorf("%w: for: %s: %s at most", memory.ErrInvalid, r.For, policy.Span(most))
	}
	return now.Add(span), nil
}

// find returns the one question whose id is, or begins with, the given text.
func find(list []question, id string, now time.Time) (found *question, err error) {
	if len(id) < 4 {
		return nil, fmt.Errorf("%w: consent %q: want at least 4 characters", memory.ErrInvalid, id)
	}
	for i := range list {
		q := &list[i]
		if !strings.HasPrefix(q.ID, strings.ToLower(id)) || !q.waits(now) && !q.holds(now) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("consent %s: %w", id, memory.ErrAmbiguous)
		}
		found = q
	}
	if found == nil {
		return nil, fmt.Errorf("consent %.40s: %w", id, memory.ErrNotFound)
	}
	return found, nil
}
