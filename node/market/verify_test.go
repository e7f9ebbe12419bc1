package market

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market/tables"
	cloudlog "github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/cloud/market/witness"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	"github.com/locket-dev/locket/sync/translog"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func database(t *testing.T) *tables.DB {
	t.Helper()
	db, err := tables.Open(t.Context(), t.TempDir())
	ok(t, err)
	t.Cleanup(func() { ok(t, db.Close()) })
	return db
}

// history is one log of the test market.
type history struct {
	*cloudlog.Log
	db *tables.DB
}

func newHistory(t *testing.T, name string, ws ...cloudlog.Witness) *history {
	t.Helper()
	signer, err := translog.LogSigner(name, tradetest.MarketKey)
	ok(t, err)
	h := &history{db: database(t)}
	h.Log, err = cloudlog.New(h.db, signer, ws...)
	ok(t, err)
	return h
}

// add appends an entry and publishes the log.
func (h *history) add(t *testing.T, kind translog.Kind, subject string, signed []byte) {
	t.Helper()
	ok(t, h.db.Change(t.Context(), func(tx *sql.Tx) error {
		_, err := h.Append(t.Context(), tx, translog.Entry{Kind: kind, Subject: subject, Digest: translog.Digest(signed), At: 1})
		return err
	}))
	_, err := h.Publish(t.Context())
	ok(t, err)
}

// operator serves terms and one of its histories.
type operator struct {
	terms trade.Terms
	shows http.Handler
}

func (o *operator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/market" {
		_, _ = w.Write(trade.Encode(o.terms))
		return
	}
	http.StripPrefix("/v1/market/log", o.shows).ServeHTTP(w, r)
}

// bought puts an accepted order into a buyer's folder.
func bought(t *testing.T, b *Buyer, at time.Time) *tradetest.Deal {
	t.Helper()
	d, err := b.keys()
	ok(t, err)
	items, err := bundle.Seal(tradetest.Key(t), []memory.Candidate{{Type: memory.Semantic, Text: "Tomatoes want water.", Confidence: 1, Owner: memory.Owner{User: "shared"}}})
	ok(t, err)
	buyer := trade.Party{Key: trade.KeyOf(d.Key()), Sign: d.Sign}
	deal := tradetest.NewDeal(t, tradetest.Listing(t, items, nil), buyer, [16]byte{}, d.OrderIdentity([16]byte{}).Recipient().String(), at.Unix())
	deal.Deliver()
	deal.Step(trade.Accept, buyer, nil)
	ok(t, (&Bought{Market: "https://market.example", Chain: deal.Chain, Items: items}).Save(b.file(deal.State.ID)))
	return deal
}

func TestVerify(t *testing.T) {
	ctx := t.Context()
	signer, err := translog.LogSigner("market.test", tradetest.MarketKey)
	ok(t, err)
	key, err := translog.Key(translog.VerifierKey(signer))
	ok(t, err)
	cosigner, err := translog.Cosigner("other.test", tradetest.PartyKey(9), nil)
	ok(t, err)
	w, err := witness.New(database(t), cosigner, key)
	ok(t, err)
	away := httptest.NewServer(http.StripPrefix(translog.WitnessPath, w.Handler()))
	defer away.Close()

	honest, second := newHistory(t, "market.test", &cloudlog.Remote{URL: away.URL + translog.WitnessPath, HTTP: http.DefaultClient, Verifier: w.Key()}), newHistory(t, "market.test")
	arbiter, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	ok(t, err)
	named := away.URL + " " + translog.VerifierKey(cosigner)
	o := &operator{terms: trade.Terms{Market: tradetest.Market.Key, Arbiter: arbiter, Pays: []string{"voucher"}, Log: "market.test", Witnesses: []string{named}}, shows: honest.Handler()}
	at := httptest.NewServer(o)
	defer at.Close()

	ann := &Buyer{Dir: t.TempDir()}
	old := bought(t, ann, time.Now().Add(-2*logWithin))
	honest.add(t, translog.Listed, "another", []byte("another"))
	v, err := ann.Verify(ctx, at.URL, Verification{})
	if !errors.Is(err, ErrHidden) || len(v.Orders) != 1 || !v.Orders[0].Hidden || v.Orders[0].Listed {
		t.Fatalf("an order that the log lacks: %+v, %v", v, err)
	}
	soon := &Buyer{Dir: t.TempDir()}
	bought(t, soon, time.Now())
	if v, err := soon.Verify(ctx, at.URL, Verification{}); err != nil || !v.Orders[0].Waits || v.Orders[0].Hidden {
		t.Fatalf("an order of now: %+v, %v", v, err)
	}
	// A timestamp that is years ahead does not keep an order from being missed.
	ahead := &Buyer{Dir: t.TempDir()}
	bought(t, ahead, time.Now().Add(10000*time.Hour))
	from := time.Now()
	for _, x := range []struct {
		after  time.Duration
		hidden bool
	}{{0, false}, {logWithin - time.Minute, false}, {logWithin, true}, {logWithin + time.Minute, true}} {
		ahead.Now = func() time.Time { return from.Add(x.after) }
		v, err := ahead.Verify(ctx, at.URL, Verification{})
		if errors.Is(err, ErrHidden) != x.hidden || v.Orders[0].Hidden != x.hidden || v.Orders[0].Waits == x.hidden {
			t.Errorf("an order stamped ahead, after %s: %+v, %v", x.after, v, err)
		}
	}
	honest.add(t, translog.Listed, old.State.Offer.ID().String(), old.State.Offer.Signed)
	honest.add(t, translog.Receipt, old.State.ID.String(), old.Chain.Links[2].Step)
	v, err = ann.Verify(ctx, at.URL, Verification{Witnesses: []string{named}})
	if err != nil || v.Before != 1 || v.Size != 3 || !v.Orders[0].Listed || !v.Orders[0].Receipt || v.Orders[0].Hidden {
		t.Fatalf("%+v, %v", v, err)
	}
	if len(v.Witnesses) != 1 || !v.Witnesses[0].Signed || v.Witnesses[0].Size != 3 || v.Witnesses[0].Error != "" {
		t.Fatalf("the witness: %+v", v.Witnesses)
	}
	shown := v.Note

	// The operator shows a different history with as many entries, and one with more.
	for _, subject := range []string{"a", "b", "c", "d"} {
		second.add(t, translog.Listed, subject, []byte(subject))
		if subject == "a" || subject == "b" {
			continue
		}
		o.shows = second.Handler()
		fork := func(who string, b *Buyer, how Verification) {
			t.Helper()
			_, err := b.Verify(ctx, at.URL, how)
			f, is := errors.AsType[*translog.Fork](err)
			if !is || f.Check(key) != nil {
				t.Fatalf("%s of %s: %v", who, subject, err)
			}
			raw, err := os.ReadFile(filepath.Join(b.Dir, logsDir, tradetest.Market.Key.String()+".fork.json"))
			ok(t, err)
			var kept translog.Fork
			if err := errors.Join(json.Unmarshal(raw, &kept), kept.Check(key)); err != nil {
				t.Errorf("%s: the evidence does not prove the fork: %v", who, err)
			}
		}
		fork("who looked before", ann, Verification{})
		fork("who asks the witness", &Buyer{Dir: t.TempDir()}, Verification{})
		// The evidence is shown where it can't be written to disk.
		full := &Buyer{Dir: t.TempDir()}
		ok(t, os.MkdirAll(filepath.Join(full.Dir, logsDir, tradetest.Market.Key.String()+".fork.json", "in the way"), 0o700))
		v, err := full.look(ctx, at.URL, Verification{})
		if err != nil || v.Fork == nil || v.Unkept == nil {
			t.Fatalf("no place for the evidence: %+v, %v", v, err)
		}
		shows, err := logOf(at.URL, v)
		ok(t, err)
		var kept translog.Fork
		if err := errors.Join(json.Unmarshal([]byte(shows.Evidence), &kept), kept.Check(key)); err != nil || shows.File != "" || shows.Unkept == "" {
			t.Errorf("the page shows %+v: %v", shows, err)
		}
		if _, err := full.Verify(ctx, at.URL, Verification{}); !isFork(err) || !strings.Contains(err.Error(), "could not be kept") {
			t.Errorf("the command says %v", err)
		}
		o.terms.Witnesses = nil
		fork("who has another's", &Buyer{Dir: t.TempDir()}, Verification{With: shown})
		if v, err := (&Buyer{Dir: t.TempDir()}).Verify(ctx, at.URL, Verification{}); err != nil || v.Size == 0 {
			t.Errorf("who has nothing to compare with: %v", err)
		}
		o.terms.Witnesses = []string{named}
	}

	// A log with another name is another log; a key that is not the market's can't sign.
	o.shows, o.terms.Log = honest.Handler(), "market.else"
	if _, err := ann.Verify(ctx, at.URL, Verification{}); err == nil {
		t.Error("another name was taken")
	}
	other := newHistory(t, "market.else")
	other.add(t, translog.Listed, "a", []byte("a"))
	o.shows = other.Handler()
	if _, err := ann.Verify(ctx, at.URL, Verification{}); !errors.Is(err, ErrOtherMarket) {
		t.Errorf("another log of the market: %v", err)
	}
	o.terms.Log, o.shows = "market.test", honest.Handler()
	if v, err := ann.Verify(ctx, at.URL, Verification{}); err != nil || v.Size != 3 {
		t.Errorf("the log again: %v", err)
	}
	o.shows = newHistory(t, "market.test").Handler()
	if v, err := ann.Verify(ctx, at.URL, Verification{}); !errors.Is(err, ErrHidden) || v.Size != 0 || v.Before != 3 {
		t.Errorf("an empty log: %+v, %v", v, err)
	}
	o.shows = honest.Handler()
	if _, err := ann.Verify(ctx, at.URL, Verification{Witnesses: []string{"ftp://x y"}}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("no witness: %v", err)
	}
	absent, err := translog.Cosigner("absent.test", tradetest.PartyKey(8), nil)
	ok(t, err)
	unsigned := " " + translog.VerifierKey(absent)
	for _, text := range []string{away.URL + unsigned, away.URL + "/" + unsigned, away.URL + " " + unsigned, " " + away.URL + unsigned, strings.Replace(away.URL, "http", "HTTP", 1) + unsigned} {
		if _, err := ann.Verify(ctx, at.URL, Verification{Witnesses: []string{text}}); !errors.Is(err, translog.ErrWitness) {
			t.Errorf("the witness %q, which did not sign: %v", text, err)
		}
	}
}

// A listing whose log has more versions than one answer of the log names hides none of them: not a
// new one from its buyer, and not an older one.
func TestManyVersionsAreInTheLog(t *testing.T) {
	s, l, _ := newStall(t)
	early, late := s.buyer(), s.buyer()
	const versions, middle = 300, 150
	items, _ := tradetest.Bundle(t)
	for l.Number < versions {
		if l.Number == middle {
			s.buys(early, l, 0)
		}
		was := l
		l = tradetest.Listing(t, items, func(l *trade.Listing) { l.Number, l.First, l.Prev = was.Number+1, was.ID(), was.Hash })
		_, err := s.m.Publish(t.Context(), &trade.Publication{Listing: l.Signed, Items: items}, tradetest.Seller.Key)
		ok(t, err)
	}
	s.buys(late, l, 0)
	for _, b := range []*Buyer{early, late} {
		for range 2 { // what is missing counts as hidden after an hour
			if v, err := b.Verify(t.Context(), s.url, Verification{}); err != nil || !v.Orders[0].Listed || !v.Orders[0].Receipt {
				t.Errorf("%+v, %v", v.Orders, err)
			}
			s.pass(2 * logWithin)
		}
	}
}
