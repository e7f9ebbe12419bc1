package market

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/trade"
)

// A buyer who was shown all that they may see learns nothing about the rest: whether a
// question is answered does not depend on the words of what may not be shown.
func TestThreatHiddenWordsProbed(t *testing.T) {
	secret := "The lithium for the depression comes from the clinic."
	probe := "tomatoes water lithium depression clinic"
	told := map[bool][]int{}
	for _, with := range []bool{true, false} {
		texts := slices.Clone(garden)
		if with {
			texts[7] = secret
		}
		o := answers(t, texts, 13, 100, nil) // one
		b := o.buyer()
		if _, places := o.hears(b, "when do tomatoes want water?"); !slices.Equal(places, []int{0}) {
			t.Fatalf("shown %v", places)
		}
		_, told[with] = o.hears(b, probe)
		if texts, _ := o.hears(b, "lithium from the clinic"); texts != nil {
			t.Errorf("shown %q", texts)
		}
	}
	if !slices.Equal(told[true], told[false]) {
		t.Errorf("with the hidden memory %v, without it %v", told[true], told[false])
	}
	// The same where all buyers together were shown all that they may see.
	for _, with := range []bool{true, false} {
		texts := slices.Clone(garden)
		if with {
			texts[7] = secret
		}
		o := answers(t, texts, 13, 13, nil)
		o.hears(o.buyer(), "when do tomatoes want water?")
		_, told[with] = o.hears(o.buyer(), probe)
	}
	if !slices.Equal(told[true], told[false]) {
		t.Errorf("to another buyer: with the hidden memory %v, without it %v", told[true], told[false])
	}
}

// A second, less redacted listing of the same memories gives nothing to a buyer who was
// shown all that they may see of the first, although its copies are different.
func TestRelistingWithLessRedaction(t *testing.T) {
	o := answers(t, []string{"█ waters the tomatoes before nine.", "█ keeps the basil beside peppers."}, 50, 50, nil)
	b := o.buyer()
	if texts, _ := o.hears(b, "who waters the tomatoes?"); len(texts) != 1 {
		t.Fatalf("shown %q", texts)
	}
	o.publish([]string{"Lena waters the tomatoes before nine.", "Tom keeps the basil beside peppers."}, 50, 50, nil)
	for _, b := range []*Buyer{b, o.buyer()} {
		if texts, _ := o.hears(b, "who waters the tomatoes?"); texts != nil {
			t.Errorf("shown %q", texts)
		}
	}
}

// A seller who withdraws a listing and lists the same again continues from the old counts:
// nobody is shown more.
func TestRelistingKeepsCounts(t *testing.T) {
	o := answers(t, garden, 13, 13, nil) // one
	b := o.buyer()
	if _, places := o.hears(b, "when do tomatoes want water?"); len(places) != 1 {
		t.Fatalf("shown %v", places)
	}
	_, err := o.Withdraw(t.Context(), o.offer.ID().String(), "")
	ok(t, err)
	o.pass(60 * 24 * time.Hour) // no order is open
	for range 2 {
		o.look()
	}
	o.publish(garden, 13, 13, nil)
	if texts, _ := o.hears(b, "what do slugs hate?"); texts != nil {
		t.Errorf("shown %q", texts)
	}
	if texts, _ := o.hears(o.buyer(), "what do slugs hate?"); texts != nil {
		t.Errorf("another is shown %q", texts)
	}
}

// When there is no answer, that too waits for the seller, as an answer does, and the
// seller's refusal looks the same to the buyer.
func TestEmptyAnswerNeedsApproval(t *testing.T) {
	o := answers(t, garden, 50, 100, func(l *listed) { l.Approve = true })
	b := o.buyer()
	no, yes := o.asks(b, "who won the chess tournament in Reykjavik?"), o.asks(b, "what do slugs hate?")
	for _, sale := range o.look() {
		if !sale.Waits || sale.Phase != trade.Funded || sale.Question == "" {
			t.Errorf("%+v", sale)
		}
	}
	_, err := o.Settle(t.Context(), serve.SaleRequest{Order: no.State.ID.String(), Act: serve.DeliverSale})
	if !errors.Is(err, serve.ErrConflict) || !strings.Contains(err.Error(), noAnswer) {
		t.Errorf("what is refunded is called delivered: %v", err)
	}
	_, err = o.Settle(t.Context(), serve.SaleRequest{Order: yes.State.ID.String(), Act: serve.RefundSale})
	ok(t, err)
	for _, order := range []*Bought{no, yes} {
		if texts, _ := o.heard(b, order); texts != nil || order.State.Reason != noAnswer {
			t.Errorf("%q, %q", texts, order.State.Reason)
		}
	}
}

// bundles returns the same copies for each request.
type bundles struct {
	Bundler
	texts []string
}

func (b *bundles) Bundle(context.Context, *serve.ShareRequest, bool, map[string][]string) (p share.Preview, redaction []string, err error) {
	for i, text := range b.texts {
		c := memory.Candidate{Type: memory.Semantic, Text: text, Confidence: 1, Owner: memory.Owner{User: "shared"}}
		p.Copies = append(p.Copies, share.Copy{Of: memory.ID{1, 0, byte(i)}, Candidate: c})
	}
	return p, []string{"names"}, nil
}

// The next version of a listing that sells answers also sells answers. What a market would
// refuse is refused before anything is kept, so that the next one is accepted.
func TestNextVersionSellsAnswers(t *testing.T) {
	o := answers(t, garden, 50, 100, nil)
	o.Shop.c.Bundler = &bundles{o.Shop.c.Bundler, garden}
	r := serve.ListingRequest{Title: "Ask a gardener", Description: "A year of it.", Categories: []string{"garden"}, Languages: []string{"en"}, Price: "0.30 EUR"}
	r.Replaces = o.offer.ID().String()
	l, err := o.Publish(t.Context(), r)
	if err != nil || l.Number != 2 || l.Answers == nil || l.Answers.Each != 4 || l.Answers.All != 8 {
		t.Fatalf("%+v, %v", l, err)
	}
	r.Replaces, r.Answers = "", nil
	plain, err := o.Publish(t.Context(), r)
	ok(t, err)
	if plain.Answers != nil {
		t.Errorf("%+v", plain)
	}
	r.Replaces, r.Answers = plain.ID.String(), &serve.ListingAnswers{Each: 50}
	before, err := o.list(t.Context())
	ok(t, err)
	if _, err := o.Publish(t.Context(), r); !errors.Is(err, trade.ErrForm) && !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("answers after a bundle: %v", err)
	}
	if after, err := o.list(t.Context()); err != nil || len(after) != len(before) {
		t.Errorf("%d versions after %d, %v", len(after), len(before), err)
	}
	r.Answers = nil
	if l, err := o.Publish(t.Context(), r); err != nil || l.Number != 2 {
		t.Errorf("the next one: %+v, %v", l, err)
	}
}

// A buyer who asks a question an hour for two days gets answers to all of them, even if
// the seller looks only once, after the last.
func TestQuestionsWhileTheSellerIsAway(t *testing.T) {
	o := answers(t, garden, 50, 100, nil)
	b := o.buyer()
	var orders []*Bought
	for range askedADay + 10 {
		orders = append(orders, o.asks(b, "what do slugs hate?"))
		o.pass(2 * time.Hour)
	}
	o.look()
	for i, order := range orders {
		if texts, _ := o.heard(b, order); len(texts) == 0 {
			t.Errorf("question %d: %q", i, order.State.Reason)
		}
	}
}
