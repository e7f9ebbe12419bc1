package market

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// An arbiter signs a decision only for the order that was asked for, while that order is
// in dispute and assigned to this arbiter, and accepts no answer without the decision.
func TestArbiterDecidesOnlyTheAskedOrder(t *testing.T) {
	var shows, answers trade.Chain
	var took func(step []byte) // what the market does with a decision
	var signed [][]byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/steps") {
			_, _ = w.Write(trade.Encode(shows))
			return
		}
		step, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		signed = append(signed, step)
		took(step)
		_, _ = w.Write(trade.Encode(answers))
	}))
	defer s.Close()
	r, err := remote.New(s.URL, remote.Option{})
	ok(t, err)
	defer r.Close()
	m := r.Market(tradetest.Arbiter.Key, httpsig.KeySigner(tradetest.PartyKey(4)))
	arbiter := &Buyer{Dir: t.TempDir()}

	disputed := func(nonce byte, change func(*trade.Listing)) *tradetest.Deal {
		items, _ := tradetest.Bundle(t)
		b := newPending(t, s.URL)
		d := tradetest.NewDeal(t, tradetest.Listing(t, items, change), b.me(), [16]byte{nonce}, b.State.Order.Recipient, time.Now().Unix())
		d.Deliver()
		d.Step(trade.Dispute, b.me(), nil)
		return d
	}
	meant, other := disputed(1, nil), disputed(2, nil)
	elsewhere := disputed(3, func(l *trade.Listing) { l.Arbiter = tradetest.Party(9).Key })
	delivered := meant.Until(2)
	for what, x := range map[string]struct {
		order trade.Hash
		shows *tradetest.Deal
		want  error
	}{
		"another order":   {meant.State.ID, other, remote.ErrAnswer},
		"not in dispute":  {meant.State.ID, delivered, serve.ErrConflict},
		"another decides": {elsewhere.State.ID, elsewhere, serve.ErrConflict},
	} {
		shows, answers, took = x.shows.Chain, x.shows.Chain, func([]byte) {}
		if _, err := arbiter.Decide(t.Context(), m, tradetest.Arbiter, x.order, "all", "It is empty."); !errors.Is(err, x.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(signed) > 0 {
		t.Errorf("%d decisions were signed", len(signed))
	}

	shows = meant.Chain
	decided := func(d *tradetest.Deal) func([]byte) {
		return func(step []byte) {
			taken, err := trade.ReadStep(step)
			if err != nil {
				t.Error(err)
				return
			}
			at := d.State.At + 1
			_, err = d.State.Apply(&taken, at)
			stamp, signing := trade.SignStamp(taken.Hash, at, tradetest.Market)
			if err := errors.Join(err, signing); err != nil {
				t.Error(err)
			}
			answers = d.Chain
			answers.Links = append(answers.Links[:len(answers.Links):len(answers.Links)], trade.Link{Step: step, Stamp: stamp})
		}
	}
	for what, chain := range map[string]trade.Chain{"nothing was decided": meant.Chain, "another order": other.Chain} {
		took = func([]byte) { answers = chain }
		if _, err := arbiter.Decide(t.Context(), m, tradetest.Arbiter, meant.State.ID, "all", "It is empty."); !errors.Is(err, remote.ErrAnswer) {
			t.Errorf("the answer says that of %s: %v", what, err)
		}
	}
	took = decided(meant)
	st, err := arbiter.Decide(t.Context(), m, tradetest.Arbiter, meant.State.ID, "all", "It is empty.")
	if err != nil || st.ID != meant.State.ID || st.Back != st.Order.Price {
		t.Errorf("decided: %+v, %v", st, err)
	}
}
