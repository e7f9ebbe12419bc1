package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cedar-policy/cedar-go"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/postgres"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	synclog "github.com/locket-dev/locket/sync/translog"
)

// The market suite measures the parts of a sale: copies with redaction; decisions of a policy,
// compared with Cedar's own implementation; a whole order and entries of the log on both databases;
// a search of many listings, compared with PostgreSQL's bare full-text search; and how often an
// attacker can name who is meant in a copy.

func runMarket(ctx context.Context, f *frame) error {
	b := marketBench{stderr: f.stderr}
	f.IntVar(&b.listings, "listings", 1_000_000, "live listings in PostgreSQL that are searched")
	f.IntVar(&b.searches, "searches", 200, "how many searches")
	f.IntVar(&b.rounds, "rounds", 100, "orders, one after the other")
	f.IntVar(&b.entries, "entries", 1000, "entries of the log, each in a transaction of its own")
	f.IntVar(&b.rules, "rules", policy.MaxRules, "rules of the policy")
	f.IntVar(&b.people, "people", 500, "who live in the town of the attacker (see the share suite)")
	if !f.parsed() || f.NArg() > 0 || min(b.listings, b.searches, b.rounds, b.entries, b.rules) < 1 || b.people < 50 || b.rules > policy.MaxRules {
		return f.usage("flags take numbers above 0; --rules takes up to %d, --people from 50", policy.MaxRules)
	}
	return f.print(b.run(ctx))
}

type marketBench struct {
	listings, searches, rounds, entries, rules, people int
	stderr                                             io.Writer
}

func (b *marketBench) run(ctx context.Context) (out []result, err error) {
	if out, err = allOf(ctx, b.copies, b.policy); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "locket-bench-market-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cluster := pgtest.Cluster{Durable: true}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	url, err := cluster.New(ctx)
	if err != nil {
		return nil, err
	}
	for _, on := range []struct {
		suffix string
		open   func() (*tables.DB, error)
	}{
		{"", func() (*tables.DB, error) { return tables.Open(ctx, dir) }},
		{"_postgres", func() (*tables.DB, error) { return postgres.Open(ctx, url) }},
	} {
		db, err := on.open()
		if err != nil {
			return nil, err
		}
		some, err := b.trade(ctx, db, on.suffix)
		if err == nil && on.suffix != "" {
			var found []result
			found, err = b.search(ctx, db, url)
			some = append(some, found...)
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// copies makes redacted copies, and lets the attacker of the share suite read them.
func (b *marketBench) copies(ctx context.Context) ([]result, error) {
	const how = "names,places,times=month"
	memories, _ := newTown(b.people).memories(b.people / 5)
	began, made := time.Now(), 0
	for time.Since(began) < time.Second {
		copies, err := reader(ctx, memories, how)
		if err != nil {
			return nil, err
		}
		made += len(copies)
	}
	out := []result{{Suite: "market", Case: "projections_per_s", N: made, Value: round(float64(made) / time.Since(began).Seconds()), Unit: "1/s", Note: "redaction " + how}}
	named, err := redTeam(ctx, b.people, b.people/5)
	if err != nil {
		return nil, err
	}
	for _, r := range named {
		if r.Case == "reidentified "+how {
			r.Suite, r.Case = "market", "reidentified_percent"
			out = append(out, r)
		}
	}
	return out, nil
}

// policy measures decisions by rules of which one applies.
func (b *marketBench) policy(context.Context) ([]result, error) {
	var text strings.Builder
	for i := range b.rules {
		fmt.Fprintf(&text, "permit(principal,action,resource)when{resource.type==\"x%d\"};\n", i)
	}
	p, err := policy.Parse(text.String())
	if err != nil {
		return nil, err
	}
	ps, err := cedar.NewPolicySetFromBytes("policy", []byte(text.String()))
	if err != nil {
		return nil, err
	}
	const times = 2000
	now := time.Now()
	var ours, theirs []float64
	uid := cedar.NewEntityUID("Memory", "m")
	for i := range times {
		it := policy.Item{Type: fmt.Sprintf("x%d", i%(b.rules+1)), Learnt: now}
		r := policy.Request{Action: policy.ActionOf(policy.Reader), Kind: policy.Reader, Name: "Ann", Now: now}
		began := time.Now()
		d := policy.Decide([]policy.Policy{p}, nil, &r, &it)
		ours = append(ours, float64(time.Since(began).Nanoseconds())/1000)
		began = time.Now()
		entities := cedar.EntityMap{uid: {UID: uid, Attributes: cedar.NewRecord(cedar.RecordMap{"type": cedar.String(it.Type)})}}
		allow, _ := cedar.Authorize(ps, entities, cedar.Request{Principal: cedar.NewEntityUID("Reader", "Ann"), Action: cedar.NewEntityUID("Action", cedar.String(r.Action)), Resource: uid})
		theirs = append(theirs, float64(time.Since(began).Nanoseconds())/1000)
		if d.Allow != (allow == cedar.Allow) {
			return nil, fmt.Errorf("of %s we say %v, and Cedar %v", it.Type, d.Allow, allow)
		}
	}
	r := result{Suite: "market", Case: "policy_decide_p99_us", N: times, Value: round(percentile(ours, 99)), Unit: "µs", Note: fmt.Sprintf("%d rules", b.rules)}
	return []result{r.beside("cedar-go", round(percentile(theirs, 99)), false)}, nil
}

// party is a new key.
func party() trade.Party {
	_, key, _ := ed25519.GenerateKey(rand.Reader)
	return trade.PartyOf(key)
}

// trade measures orders that are made, paid, delivered and accepted, and appends to the log.
func (b *marketBench) trade(ctx context.Context, db *tables.DB, suffix string) ([]result, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	operator, arbiter, seller, buyer := trade.PartyOf(key), party(), party(), party()
	text, err := envelope.SignRequest(envelope.Request{Key: arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, arbiter.Sign)
	if err != nil {
		return nil, err
	}
	vouchers, err := voucher.New(db, key.Seed(), nil)
	if err != nil {
		return nil, err
	}
	signer, err := synclog.LogSigner("bench", key)
	if err != nil {
		return nil, err
	}
	log, err := translog.New(db, signer)
	if err != nil {
		return nil, err
	}
	m, err := market.New(market.Config{DB: db, Key: key, Arbiter: text, Fee: 500, Vouchers: vouchers, Log: log, LogName: "bench"})
	if err != nil {
		return nil, err
	}
	secret := seal.NewKey()
	defer secret.Zero()
	items, err := bundle.Seal(secret, []memory.Candidate{{Type: memory.Semantic, Text: "Tomatoes want water.", Confidence: 1, Owner: memory.Owner{User: "shared"}}})
	if err != nil {
		return nil, err
	}
	l, err := listing(operator.Key, arbiter.Key, seller, secret, items)
	if err != nil {
		return nil, err
	}
	if _, err := m.Publish(ctx, &trade.Publication{Listing: l.Signed, Items: items}, seller.Key); err != nil {
		return nil, err
	}
	var took []time.Duration
	for i := range b.rounds {
		err := db.Change(ctx, func(tx *sql.Tx) error {
			return ledger.New(db.Dialect, nil).Deposit(ctx, tx, fmt.Sprint("deposit ", i), vouchers.Name(), ledger.Buyer(buyer.Key.String()), ledger.Money{Minor: int64(l.Price), Currency: ledger.Currency(l.Currency)})
		})
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := bargain(ctx, m, l, buyer, seller, secret); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	out := []result{{Suite: "market", Case: "order_round_p99_ms" + suffix, N: b.rounds, Value: round(percentile(milliseconds(took), 99)), Unit: "ms",
		Note: "ordered, paid, delivered and accepted, each durable and with all signatures; without HTTP"}}
	began := time.Now()
	for i := range b.entries {
		err := db.Change(ctx, func(tx *sql.Tx) error {
			_, err := log.Append(ctx, tx, synclog.Entry{Kind: synclog.Listed, Subject: fmt.Sprint("bench ", i), Digest: synclog.Digest(fmt.Append(nil, i)), At: 1})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	out = append(out, result{Suite: "market", Case: "log_append_per_s" + suffix, N: b.entries, Value: round(float64(b.entries) / time.Since(began).Seconds()), Unit: "1/s", Note: "a durable transaction each"})
	return out, db.Read(ctx, func(tx *sql.Tx) error { return ledger.New(db.Dialect, nil).Check(ctx, tx) })
}

func listing(operator, arbiter trade.Key, seller trade.Party, secret *seal.Key, items [][]byte) (*trade.Offer, error) {
	root, size, err := trade.Root(items)
	if err != nil {
		return nil, err
	}
	return trade.SignListing(trade.Listing{Number: 1, Market: operator, Arbiter: arbiter, Title: "A year in a garden", Categories: []string{"garden"}, Languages: []string{"en"},
		Items: uint32(len(items)), Counts: map[string]uint32{"semantic": uint32(len(items))}, Licence: "personal use", Price: 500, Currency: "EUR", Root: root, Size: size,
		Commitment: bundle.Commitment(secret), Deliver: trade.MinTerm, Accept: trade.MinTerm, Created: time.Now().Unix()}, seller)
}

// bargain is an order from its beginning to its end.
func bargain(ctx context.Context, m *market.Market, l *trade.Offer, buyer, seller trade.Party, secret *seal.Key) error {
	o := trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Recipient: seal.NewIdentity().Recipient().String(), Created: time.Now().Unix()}
	_, _ = rand.Read(o.Nonce[:]) // this never fails
	signed, id, err := trade.SignOrder(o, buyer)
	if err != nil {
		return err
	}
	if _, err := m.Order(ctx, signed, buyer.Key); err != nil {
		return err
	}
	c, err := m.Pay(ctx, id, trade.Payment{}, buyer.Key)
	if err != nil {
		return err
	}
	wrapped, err := bundle.Wrap(secret, o.Recipient, id)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		trade.Step
		by trade.Party
	}{{trade.Step{Act: trade.Deliver, Wrapped: wrapped}, seller}, {trade.Step{Act: trade.Accept}, buyer}} {
		s, err := c.Replay()
		if err != nil {
			return err
		}
		step.Order, step.Prev, step.At = s.ID, s.Last, time.Now().Unix()
		signed, _, err := trade.SignStep(step.Step, step.by)
		if err != nil {
			return err
		}
		if c, err = m.Step(ctx, id, signed, step.by.Key); err != nil {
			return err
		}
	}
	return nil
}
