package market

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/mark"
)

// diary returns copies, each with two or three places at which versions of it can differ.
func diary(n int) (out []share.Copy) {
	what := []string{"The %s usually want 3 cans of water", "She doesn't move the %s in wet soil", "Somebody left %s near the gate, perhaps for the children", "It didn't hurt the %s that hail fell"}
	who := []string{"tomatoes", "beans", "roses", "leeks", "peppers", "plums", "apples", "pears", "figs", "quinces"}
	for i := range n {
		c := memory.Candidate{Type: memory.Semantic, Text: fmt.Sprintf(what[i%len(what)], who[i/len(what)%len(who)]), Confidence: 1, Owner: memory.Owner{User: "shared"}}
		out = append(out, share.Copy{Of: memory.ID{1, byte(i)}, Candidate: c})
	}
	return out
}

func held(words ...string) func(string) bool {
	return func(s string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
}

// sellsDiary lists a marked bundle, as Publish does.
func (o *oracle) sellsDiary(n int) {
	o.Helper()
	p := share.Preview{Copies: diary(n), Holds: held()}
	l, err := draft(&serve.ListingRequest{Title: "A diary", Categories: []string{"garden"}, Languages: []string{"en"}, Price: "0.20 EUR"})
	ok(o.T, err)
	l.Items, l.Counts = uint32(n), map[string]uint32{"semantic": uint32(n)}
	kept := listed{Listing: serve.Listing{Market: o.url}}
	texts, _, err := markedCopies(o.Context(), &serve.ListingRequest{}, &p)
	ok(o.T, err)
	items, err := o.Shop.seal(&kept, &l, p.Copies, texts)
	ok(o.T, err)
	ok(o.T, o.at(o.url, func(m *remote.Market, by trade.Party) error {
		if o.offer, err = o.Shop.offer(o.Context(), m, by, l, items, &kept, nil); err != nil {
			return err
		}
		return o.publishAt(o.Context(), m, &carried{offer: o.offer, items: items})
	}))
}

// buys orders, pays, has the home look, and opens the bundle that arrives.
func (o *oracle) buys(b *Buyer) (*Bought, string) {
	o.Helper()
	var order *Bought
	ok(o.T, b.WithMarket(o.Context(), o.url, func(m *remote.Market, by trade.Party, _ trade.Terms) (err error) {
		order, err = b.Order(o.Context(), m, by, o.url, o.offer)
		return err
	}))
	ok(o.T, b.Pay(o.Context(), order, ""))
	o.look()
	ok(o.T, b.Refresh(o.Context(), order))
	ms, err := b.Open(order)
	ok(o.T, err)
	text := ""
	for _, m := range ms {
		text += m.Text + "\n"
	}
	return order, text
}

// The seller finds out from a text which buyer's copy it came from, also after the listing has
// ended, and until a memory in it is forgotten.
func TestTrace(t *testing.T) {
	o := answers(t, garden, 50, 75, nil)
	o.sellsDiary(40)
	if o.offer.Marks < mark.MinSpots {
		t.Fatalf("%d marks", o.offer.Marks)
	}
	id := o.offer.ID().String()
	var orders []*Bought
	var texts []string
	b := o.buyer()
	for range 3 {
		order, text := o.buys(b)
		orders, texts = append(orders, order), append(texts, text)
	}
	if texts[0] == texts[1] {
		t.Error("two copies are the same")
	}
	named := func(text string, want *Bought) {
		t.Helper()
		v, err := o.Trace(t.Context(), id, text)
		ok(t, err)
		sure := 0
		for _, f := range v.Found {
			if f.Sure {
				sure++
			}
		}
		switch {
		case v.Orders != len(orders) || len(v.Found) != len(orders) || v.Spots != int(o.offer.Marks):
			t.Errorf("%+v", v)
		case want == nil && sure != 0, want != nil && (sure != 1 || v.Found[0].Order != want.State.ID || v.Found[0].Buyer != want.State.Order.Buyer || v.Found[0].Chance > mark.Sure):
			t.Errorf("%d are named: %+v", sure, v.Found)
		}
	}
	for i, text := range texts {
		named(text, orders[i])
		named("I found this:\n"+text[len(text)/3:], orders[i])
	}
	named("Nobody usually wrote this for 3 children.", nil)

	// An order whose chain made room for another, or that never got one, can be traced all the
	// same.
	all, err := o.list(t.Context())
	ok(t, err)
	full := func(ended ...*Bought) *saleKeeper {
		k := o.keeper(all, o.url)
		k.kept[o.offer.ID()] = make([]keptSale, trade.MaxMovedOrders)
		for i := range k.kept[o.offer.ID()] {
			k.kept[o.offer.ID()][i].at = 1 << 40
		}
		for i, b := range ended {
			k.kept[o.offer.ID()][i] = keptSale{name: saleMeta + b.State.ID.String(), at: 1, ended: true}
		}
		return k
	}
	anew := func(b *Bought) {
		ok(t, o.Shop.c.Store.Commit(t.Context(), func(tx *store.Tx) error { return tx.DeleteMeta(saleMeta + b.State.ID.String()) }))
	}
	for _, room := range [][]*Bought{nil, {orders[0]}} {
		anew(orders[1])
		for range 2 {
			ok(t, full(room...).save(t.Context(), &orders[1].Chain, orders[1].State))
		}
		for i, text := range texts {
			named(text, orders[i])
		}
	}
	ok(t, b.movingLocked(t.Context(), orders[0], func() error { return b.step(t.Context(), orders[0], trade.Step{Act: trade.Accept}) }))
	for _, order := range orders[1:] {
		ok(t, b.step(t.Context(), order, trade.Step{Act: trade.Accept}))
	}
	_, err = o.Withdraw(t.Context(), id, "")
	ok(t, err)
	o.look()
	o.look()
	named(texts[2], orders[2])

	if _, err := o.Trace(t.Context(), "00000000", "x"); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("an unknown listing: %v", err)
	}
	all, err = o.list(t.Context())
	ok(t, err)
	unmarked := all[len(all)-1]
	if _, err := o.Trace(t.Context(), unmarked.ID.String(), "x"); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("a listing without marks: %v", err)
	}
	o.gone[memory.ID{1, 3}] = true
	o.look()
	if _, err := o.Trace(t.Context(), id, texts[0]); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("a memory in it was forgotten: %v", err)
	}
	if _, err := os.Stat(offeredFile(o.c.Dir, o.offer.Hash)); err == nil {
		t.Error("its items are kept")
	}
}

// A bundle with too few places is sold unmarked, and the seller is told. So is one that the seller
// wants unmarked, and one of answers.
func TestUnmarkedBundles(t *testing.T) {
	few := share.Preview{Copies: diary(6), Holds: held()}
	many := share.Preview{Copies: diary(60), Holds: held()}
	for _, c := range []struct {
		p      share.Preview
		r      serve.ListingRequest
		marked bool
		shown  bool
	}{{few, serve.ListingRequest{}, false, true}, {many, serve.ListingRequest{}, true, true}, {many, serve.ListingRequest{Unmarked: true}, false, false},
		{many, serve.ListingRequest{Answers: &serve.ListingAnswers{}}, false, false}} {
		texts, _, err := markedCopies(t.Context(), &c.r, &c.p)
		v := serve.SharePreview{Memories: make([]serve.SharedCopy, len(c.p.Copies))}
		ok(t, err)
		ok(t, showMarks(t.Context(), &v, &c.r, &c.p))
		if (texts != nil) != c.marked || (v.Marks != nil) != c.shown || c.shown && v.Marks.Marked != c.marked || (v.Memories[0].Or != "") != c.marked {
			t.Errorf("%d copies, %+v: marked %t, shown %+v, %q", len(c.p.Copies), c.r, texts != nil, v.Marks, v.Memories[0].Or)
		}
	}
}

// No variant reveals what is redacted, and none is used where another field shows which one it
// was.
func TestMarksKeepRedaction(t *testing.T) {
	copies := diary(4)
	copies[1].Candidate.Tags = []string{"She doesn't move"}
	texts, _, err := spotsOf(t.Context(), copies, held("normally", "kids", "three"))
	ok(t, err)
	for i := range texts {
		for _, s := range texts[i].Spots {
			for _, form := range s.Forms {
				if held("normally", "kids", "three", "do")(form) && i != 3 {
					t.Errorf("item %d has the spot %q", i, s.Forms)
				}
			}
		}
	}
	if texts[0].Original() != copies[0].Candidate.Text || len(texts[2].Spots) < 2 {
		t.Errorf("%+v", texts)
	}
	long := make([]share.Copy, 0, 500)
	for range 13 {
		long = append(long, diary(40)...)
	}
	if _, n, _ := spotsOf(t.Context(), long[:500], held()); n > mark.MaxSpots || n < 400 {
		t.Errorf("%d spots", n)
	}
}

// Three places next to each other do not together form a redacted phrase.
func TestMarksFormNoRedactedPhrase(t *testing.T) {
	copies := []share.Copy{{Candidate: memory.Candidate{Text: "She said maybe somebody often came"}}}
	texts, n, err := spotsOf(t.Context(), copies, held("perhaps someone frequently"))
	ok(t, err)
	for bits := range 1 << n {
		if s := texts[0].WithForms(func(i int) int { return bits >> i & 1 }); strings.Contains(s, "perhaps someone frequently") {
			t.Errorf("%q", s)
		}
	}
	if n < 2 {
		t.Errorf("%d places are left", n)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := spotsOf(ctx, copies, held()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Versions that were sold with marks outlive their listing; the newest hundred are kept.
func TestMarkedVersionsAreKept(t *testing.T) {
	var all []listed
	for n := 300; n > 0; n-- {
		l := listed{Listing: serve.Listing{ID: trade.Hash{1}, Version: trade.Hash{1, byte(n), byte(n >> 8)}, Number: n, Marks: 64, Withdrawn: time.Unix(1, 0)}, Key: []byte{1}, Sent: true, Sold: n%2 == 0}
		all = append(all, l)
	}
	keys, _ := over(all, nil)
	if kept := len(all) - len(keys); kept != maxTraced {
		t.Errorf("%d keep their keys", kept)
	}
	if keys[all[0].Version] || !keys[all[1].Version] || !keys[all[250].Version] {
		t.Error("others are kept than the newest that were sold")
	}
}

// What the policy holds back is withdrawn, refunded and reported, but not destroyed: copies that
// were sold can still be traced.
func TestTraceAfterAPolicyWithdrawal(t *testing.T) {
	o := answers(t, garden, 50, 75, nil)
	o.sellsDiary(40)
	b := o.buyer()
	sold, text := o.buys(b)
	var open *Bought
	ok(t, b.WithMarket(t.Context(), o.url, func(m *remote.Market, by trade.Party, _ trade.Terms) (err error) {
		open, err = b.Order(t.Context(), m, by, o.url, o.offer)
		return err
	}))
	ok(t, b.Pay(t.Context(), open, ""))
	ok(t, b.movingLocked(t.Context(), sold, func() error { return b.step(t.Context(), sold, trade.Step{Act: trade.Accept}) }))
	ok(t, o.each(t.Context(), func(l *listed) { l.Approve = true }))
	o.held = "your policy holds a memory in it back: health"
	o.look()
	o.look()
	all, err := o.list(t.Context())
	ok(t, err)
	if l := versionOf(all, o.offer.Hash); l.Held != o.held || l.Withdrawn.IsZero() || len(l.Key) == 0 {
		t.Errorf("%+v, key %t", l.Listing, len(l.Key) > 0)
	}
	if ok(t, b.Refresh(t.Context(), open)); open.State.Phase != trade.Refunded {
		t.Errorf("the open order is %s", open.State.Phase)
	}
	v, err := o.Trace(t.Context(), o.offer.ID().String(), text)
	ok(t, err)
	if len(v.Found) != 1 || !v.Found[0].Sure || v.Found[0].Order != sold.State.ID {
		t.Errorf("%+v", v)
	}
}

// A seller who wants no marks has none in later versions, either. A subscription of an older
// program that made no marks continues without them, since its market may not accept marks.
func TestLaterVersionsStayUnmarked(t *testing.T) {
	o := answers(t, garden, 50, 75, nil)
	o.wish = &share.Preview{Copies: diary(40), Holds: held()}
	wish := serve.ListingRequest{Title: "A diary", Categories: []string{"garden"}, Languages: []string{"en"}, Price: "0.20 EUR", Market: o.url, EveryDays: 30}
	newest := func(id trade.Hash) *listed {
		all, err := o.list(t.Context())
		ok(t, err)
		l, err := find(all, id.String())
		ok(t, err)
		return l
	}
	period := func(id trade.Hash) *listed {
		o.pass(31 * 24 * time.Hour)
		l := newest(id)
		ok(t, o.period(t.Context(), l, l.due(o.c.Now())))
		return newest(id)
	}
	plain := wish
	plain.Unmarked = true
	first, err := o.Publish(t.Context(), plain)
	ok(t, err)
	next := wish
	next.Replaces = first.ID.String()
	if p, err := o.Preview(t.Context(), next); err != nil || p.Marks != nil {
		t.Errorf("the preview shows marks %+v, %v", p.Marks, err)
	}
	o.pass(31 * 24 * time.Hour)
	second, err := o.Publish(t.Context(), next)
	ok(t, err)
	if third := period(first.ID); first.Marks+second.Marks+third.Marks != 0 || !first.Unmarked || !second.Unmarked || third.Number != 3 {
		t.Errorf("%+v, %+v, %+v", first, second, third.Listing)
	}
	marked, err := o.Publish(t.Context(), wish)
	ok(t, err)
	if again := period(marked.ID); marked.Marks == 0 || again.Marks == 0 {
		t.Errorf("%+v, %+v", marked, again.Listing)
	}
	ok(t, o.each(t.Context(), func(l *listed) {
		if l.ID == marked.ID {
			l.Marking = false // as written by a program that made no marks
		}
	}))
	if old := period(marked.ID); old.Marks != 0 || old.Number != 3 {
		t.Errorf("%+v", old.Listing)
	}
	_, c, err := offeredIn(o.c.Dir, marked.Version)
	ok(t, err)
	if v := offerOf(c.offer, &trade.Hit{}); v.Marks != marked.Marks {
		t.Errorf("the offer names another number of marks: %d", v.Marks)
	}
}
