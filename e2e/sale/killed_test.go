package sale

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

const (
	price      = "5.00 EUR"
	periodDays = 30
	deposited  = 10_000_000 // each buyer's deposit at each market, in minor units
	patience   = 10 * time.Minute
)

// pair is a seller and their buyer.
type pair struct {
	seller, buyer *process
	dir           string // the buyer's folder
}

// place is a market, with the first pair's listings there.
type place struct {
	*process
	rule, approve, growing string // listings: delivered by rule, or after approval; a growing one
	answers                string // a listing that sells answers
	periods                uint32 // periods of the growing one that were issued
}

// world has all parties.
type world struct {
	t      *testing.T
	clock  *clock
	chance *rand.Rand
	places [2]*place
	pairs  [2]*pair // the second moves its listings
	took   map[string]time.Duration
	failed map[string]int // first attempts at each transition that a kill interrupted
}

// round is one transition of one order, in which one party is killed.
type round struct {
	*world
	n         int
	pair      *pair
	at, other *place
	order     string
	there     trade.Hash // the listing, once it moved
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// Whoever is killed at whichever transition, nobody is paid who gave neither key nor money back, no
// key is given without payment or against the seller's word, the ledger's sums are zero, each cent
// is where the orders say, and every order has a time limit. KILLS sets the number of rounds, and
// KILLS_SEED another seed.
func TestKilledAtEachTransition(t *testing.T) {
	number := func(name string, or uint64) uint64 {
		if n, err := strconv.ParseUint(os.Getenv(name), 10, 32); err == nil {
			return n
		}
		return or
	}
	w := newWorld(t, number("KILLS_SEED", 1))
	rounds := int(number("KILLS", 32))
	began := time.Now()
	for n := range rounds {
		w.round(n)
		if n%20 == 19 {
			w.books()
		}
		if n%50 == 49 {
			t.Logf("%d rounds in %v", n+1, time.Since(began).Round(time.Second))
		}
	}
	for range 3 { // every deadline passes
		w.clock.on(31)
		for _, p := range w.places {
			w.ok(w.swept(p))
		}
	}
	orders := w.books()
	t.Logf("%d kills, %d orders, first tries that a kill cut off: %v", rounds, orders, w.failed)
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, clock: newClock(t), chance: rand.New(rand.NewPCG(seed, 5)), took: map[string]time.Duration{}, failed: map[string]int{}}
	arbiter, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	w.ok(err)
	file := filepath.Join(t.TempDir(), "arbiter.key")
	w.ok(os.WriteFile(file, []byte(arbiter), 0o600))
	var cluster pgtest.Cluster
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	for i, db := range []string{"-", cluster.Database(t)} {
		w.places[i] = &place{process: newProcess(t, "operator", fmt.Sprintf("%s %d %s %s", t.TempDir(), 5+i, file, db)), periods: 1}
	}
	for i := range w.pairs {
		p := &pair{dir: t.TempDir()}
		p.seller = newProcess(t, "seller", filepath.Join(t.TempDir(), "home"))
		p.buyer = newProcess(t, "buyer", p.dir)
		w.pairs[i] = p
		w.ok(p.seller.do(nil, command{Do: "tell", Text: "Tomatoes want water at the root."}))
		for _, at := range w.places {
			var codes []string
			w.ok(at.do(&codes, command{Do: "issue", Text: fmt.Sprint("batch ", i)}))
			w.ok(p.buyer.do(nil, command{Do: "deposit", Market: at.url, Text: codes[0]}))
		}
	}
	for _, at := range w.places {
		for _, l := range []struct {
			c  command
			id *string
		}{{command{Title: "By rule"}, &at.rule}, {command{Title: "By hand", Approve: true}, &at.approve}, {command{Title: "It grows", Subscribing: true}, &at.growing},
			{command{Title: "It answers", Answering: true}, &at.answers}} {
			l.c.Do, l.c.Market = "publish", at.url
			w.ok(w.pairs[0].seller.do(l.id, l.c))
		}
		w.ok(w.pairs[0].buyer.do(nil, command{Do: "subscribe", Market: at.url, Listing: at.growing}))
	}
	return w
}

// round kills one party at one transition, and makes sure that the transition still happens.
func (w *world) round(n int) {
	w.t.Helper()
	what := transitions[n%len(transitions)]
	r := &round{world: w, n: n, pair: w.pairs[0], at: w.places[n/len(transitions)%2]}
	r.other = w.places[1-n/len(transitions)%2]
	victims := map[string]*process{"operator": r.at.process}
	if what.name == "moved" {
		r.pair = w.pairs[1]
		victims["other operator"] = r.other.process
	}
	victims["seller"], victims["buyer"] = r.pair.seller, r.pair.buyer
	names := []string{"buyer", "operator", "seller", "other operator"}[:len(victims)]
	who := names[w.chance.IntN(len(names))]
	complain := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatalf("round %d, %s, order %s, %s killed: %v\nsells: %s\nbuys: %s\noperates: %s", n, what.name, r.order, who, err, r.pair.seller.log, r.pair.buyer.log, r.at.log)
		}
	}
	act := what.begin(r)
	tried := make(chan error, 2)
	go func() { tried <- act() }()
	beside := who != "operator" && who != "other operator" && !slices.Contains(what.actors, who)
	if beside { // it looks for work
		go func() {
			tried <- victims[who].do(nil, command{Do: map[string]string{"seller": "sales", "buyer": "fetch"}[who]})
		}()
	}
	usual := max(w.took[what.name], 20*time.Millisecond)
	timer := time.NewTimer(time.Duration(w.chance.Int64N(int64(usual))))
	<-timer.C
	victims[who].kill()
	err := <-tried
	if beside {
		err = errors.Join(err, <-tried)
	}
	if err != nil {
		w.failed[what.name]++
	}
	victims[who].start()
	for try := range 5 {
		began := time.Now()
		if err = act(); err == nil {
			if try == 0 {
				w.took[what.name] = (w.took[what.name] + time.Since(began)) / 2
			}
			break
		}
	}
	complain(err)
	complain(r.pair.seller.do(nil, command{Do: "sales"}))
	complain(r.pair.buyer.do(nil, command{Do: "fetch"}))
	switch what.name {
	case "renewed":
		complain(r.wasRenewed())
	case "moved": // so that a seller does not have too many
		complain(r.pair.seller.do(nil, command{Do: "withdraw", Listing: r.there.String()}))
		fallthrough
	default:
		s, err := r.state()
		complain(err)
		complain(r.holds(r.pair, s))
	}
	complain(r.at.do(nil, command{Do: "check"}))
}

// as calls a market as a pair's buyer.
func (w *world) as(p *pair, at *place, f func(ctx context.Context, m *remote.Market) error) error {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	return (&market.Buyer{Dir: p.dir, Now: now}).WithMarket(ctx, at.url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error { return f(ctx, m) })
}

// state asks the market for the state of the round's order.
func (r *round) state() (s *trade.State, err error) {
	var id trade.Hash
	if err := id.UnmarshalText([]byte(r.order)); err != nil {
		return nil, err
	}
	err = r.as(r.pair, r.at, func(ctx context.Context, m *remote.Market) error { _, s, err = m.Get(ctx, id); return err })
	return s, err
}
