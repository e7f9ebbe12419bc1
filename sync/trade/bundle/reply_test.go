package bundle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// conversation is an order of an answer.
type conversation struct {
	*testing.T
	items [][]byte
	ms    []memory.Candidate
	l     *trade.Offer
	asker *seal.Identity // identity of the seller
	id    *seal.Identity // identity of the buyer
	order trade.Order
	s     *trade.State
}

const asked = "When do tomatoes want water?"

func converse(t *testing.T) *conversation {
	c := &conversation{T: t, asker: bundle.Asker(tradetest.Key(t)), id: seal.NewIdentity()}
	c.items, c.ms = tradetest.Bundle(t)
	c.l = tradetest.Listing(t, c.items, tradetest.Answers(t))
	c.s, c.order = c.orders(tradetest.Buyer, c.asks(tradetest.Buyer, asked))
	return c
}

func (c *conversation) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *conversation) asks(by trade.Party, text string) *trade.Question {
	c.Helper()
	q, err := bundle.Ask(c.l, text, by.Key, [16]byte{7})
	c.ok(err)
	return q
}

func (c *conversation) orders(by trade.Party, q *trade.Question) (*trade.State, trade.Order) {
	c.Helper()
	b, hash, err := trade.SignOrder(trade.Order{Market: c.l.Market, Listing: c.l.Hash, Price: c.l.Price, Currency: c.l.Currency, Nonce: [16]byte{7},
		Recipient: c.id.Recipient().String(), Created: 1_800_000_000, Question: q}, by)
	c.ok(err)
	o, _, err := trade.ReadOrder(b)
	c.ok(err)
	s, err := trade.Begin(c.l, o, hash, 1)
	c.ok(err)
	return s, o
}

func (c *conversation) answers(places ...int) []int {
	c.Helper()
	q, err := bundle.ReadQuestion(c.asker, &c.order)
	c.ok(err)
	var sent []int
	c.s.Wrapped, sent, err = bundle.Answer(c.s, &q, tradetest.Key(c), c.items, places)
	c.ok(err)
	return sent
}

func (c *conversation) refused(what string, want error) {
	c.Helper()
	if _, err := bundle.OpenReply(c.id, c.s); !errors.Is(err, bundle.ErrReply) || want != nil && !errors.Is(err, want) {
		c.Errorf("%s: %v", what, err)
	}
}

func TestAnswered(t *testing.T) {
	c := converse(t)
	if sent := c.answers(2, 0, 1, 3); len(sent) != trade.MaxLines {
		t.Errorf("it shows %d items", len(sent))
	}
	r, err := bundle.OpenReply(c.id, c.s)
	if err != nil || r.Question != asked || len(r.Items) != 3 || r.Items[0].Text != c.ms[2].Text || r.Places[1] != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, b := range [][]byte{c.s.Wrapped, c.order.Question.Sealed} {
		if strings.Contains(string(b), "omato") {
			t.Error("the sealed question or reply contains its text")
		}
	}
	long := converse(t)
	q := strings.Repeat("wé ", trade.MaxQuestion/4)
	_, long.order = long.orders(tradetest.Buyer, long.asks(tradetest.Buyer, q))
	if got, err := bundle.ReadQuestion(long.asker, &long.order); err != nil || got.Text != q {
		t.Errorf("a long question: %v", err)
	}
	for _, text := range []string{"", strings.Repeat("x", trade.MaxQuestion+1), "\x1b[2J"} {
		if _, err := bundle.Ask(c.l, text, tradetest.Buyer.Key, [16]byte{}); !errors.Is(err, trade.ErrForm) {
			t.Errorf("asked %.20q: %v", text, err)
		}
	}
}

// Somebody who has the sealed question, such as the market, orders with it: the seller sees that it
// was sealed for another order, and does not answer.
func TestThreatQuestionCopied(t *testing.T) {
	c := converse(t)
	for what, o := range map[string]trade.Order{
		"another buyer's order": func() trade.Order { _, o := c.orders(tradetest.Party(9), c.order.Question); return o }(),
		"another order":         func() trade.Order { o := c.order; o.Nonce[0]++; return o }(),
		"another digest": func() trade.Order {
			o, q := c.order, *c.order.Question
			q.Digest[0]++
			o.Question = &q
			return o
		}(),
		"no question": func() trade.Order { o := c.order; o.Question = nil; return o }(),
	} {
		if q, err := bundle.ReadQuestion(c.asker, &o); !errors.Is(err, trade.ErrForm) {
			t.Errorf("%s: %+v, %v", what, q, err)
		}
	}
	if _, err := bundle.ReadQuestion(seal.NewIdentity(), &c.order); !errors.Is(err, trade.ErrForm) {
		t.Errorf("sealed to another: %v", err)
	}
}

// A seller who answers another question, from another bundle or with nothing has delivered nothing.
// The buyer shows the seed of the order's identity, and the arbiter needs no other statement.
func TestThreatSellerAnswersAnother(t *testing.T) {
	arbiter := seal.NewIdentity()
	judge := func(c *conversation) (f bundle.Finding) {
		t.Helper()
		var err error
		c.s.Evidence, err = bundle.ShowKey(c.s, c.id, arbiter.Recipient().String())
		c.ok(err)
		f, err = bundle.Judge(c.s, func(b []byte) ([]byte, error) { return seal.OpenWith(arbiter, b) })
		c.ok(err)
		return f
	}
	honest := converse(t)
	honest.answers(0)
	if f := judge(honest); f.Broken != "" || f.Reply == nil || f.Reply.Question != asked || f.Reply.Items[0].Text != honest.ms[0].Text {
		t.Errorf("as it should be: %+v", f)
	}

	c := converse(t)
	other, _ := c.orders(tradetest.Buyer, c.asks(tradetest.Buyer, "Is basil good?"))
	q, err := bundle.ReadQuestion(c.asker, &other.Order)
	c.ok(err)
	c.s.Wrapped, _, err = bundle.Answer(c.s, &q, tradetest.Key(t), c.items, []int{0})
	c.ok(err)
	c.refused("another question", nil)
	if f := judge(c); f.Broken == "" {
		t.Errorf("another question: %+v", f)
	}

	c = converse(t)
	c.items[1], c.items[2] = c.items[2], c.items[1]
	c.answers(1)
	c.refused("another bundle", trade.ErrRoot)
	if f := judge(c); f.Broken == "" {
		t.Errorf("another bundle: %+v", f)
	}

	c = converse(t)
	foreign := seal.NewKey()
	c.items, err = bundle.Seal(foreign, c.ms)
	c.ok(err)
	c.l = tradetest.Listing(t, c.items, tradetest.Answers(t))
	c.s, c.order = c.orders(tradetest.Buyer, c.asks(tradetest.Buyer, asked))
	c.answers(1) // with the listed key, which is not that of the items
	c.refused("items under another key", bundle.ErrKey)

	c = converse(t)
	c.answers(0, 0)
	c.refused("one item twice", nil)
	c.answers(0)
	c.s.Wrapped[len(c.s.Wrapped)-1]++
	c.refused("a changed byte", nil)
	c.answers(0)
	moved := *c.s
	moved.ID[0]++
	c.s = &moved
	c.refused("the answer of another order", nil)
}

// A request to join a community is sealed for one order, also with the longest possible name and
// recipient; a question is not such a request, and vice versa.
func TestEntryQuestion(t *testing.T) {
	c := converse(t)
	entry := *c.l
	entry.Entry = true
	reader := seal.NewIdentity().Recipient().String()
	name := strings.Repeat("名", bundle.MaxName/3)
	q, err := bundle.Enter(&entry, name, reader, tradetest.Buyer.Key, [16]byte{7})
	c.ok(err)
	order := trade.Order{Market: c.l.Market, Listing: c.l.Hash, Price: c.l.Price, Currency: c.l.Currency, Recipient: reader, Nonce: [16]byte{7}, Created: 1, Question: q}
	b, _, err := trade.SignOrder(order, tradetest.Buyer)
	c.ok(err)
	order, _, err = trade.ReadOrder(b)
	c.ok(err)
	got, err := bundle.ReadEntry(c.asker, &order)
	if err != nil || got.Text != name || got.Recipient != reader || got.Buyer != tradetest.Buyer.Key {
		t.Errorf("%+v, %v", got, err)
	}
	for name, change := range map[string]func(*trade.Order){
		"another's":      func(o *trade.Order) { o.Buyer = tradetest.Seller.Key },
		"another order":  func(o *trade.Order) { o.Nonce = [16]byte{8} },
		"another digest": func(o *trade.Order) { o.Question = &trade.Question{Sealed: q.Sealed, Digest: trade.Hash{1}} },
		"a question":     func(o *trade.Order) { o.Question = c.asks(tradetest.Buyer, asked) },
		"nothing":        func(o *trade.Order) { o.Question = nil },
	} {
		o := order
		change(&o)
		if got, err := bundle.ReadEntry(c.asker, &o); !errors.Is(err, trade.ErrForm) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := bundle.ReadEntry(seal.NewIdentity(), &order); !errors.Is(err, trade.ErrForm) {
		t.Errorf("opened by another: %v", err)
	}
	if _, err := bundle.Ask(&entry, asked, tradetest.Buyer.Key, [16]byte{7}); !errors.Is(err, trade.ErrForm) {
		t.Errorf("asked of an entry: %v", err)
	}
	if _, err := bundle.Enter(c.l, "Ann", reader, tradetest.Buyer.Key, [16]byte{7}); !errors.Is(err, trade.ErrForm) {
		t.Errorf("entered where answers are sold: %v", err)
	}
	for _, blank := range []string{" ", "Ann ", "\u3000Ann"} {
		if _, err := bundle.Enter(&entry, blank, reader, tradetest.Buyer.Key, [16]byte{7}); !errors.Is(err, trade.ErrForm) {
			t.Errorf("entered as %q: %v", blank, err)
		}
	}
	if _, err := bundle.Enter(&entry, "Ann", "nobody", tradetest.Buyer.Key, [16]byte{7}); !errors.Is(err, trade.ErrForm) {
		t.Errorf("entering with an invalid recipient: %v", err)
	}
}
