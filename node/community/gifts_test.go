package community

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// maintain runs the maintenance of some homes.
func maintain(t *testing.T, hs ...*home) {
	t.Helper()
	for _, h := range hs {
		if err := h.Maintain(t.Context(), h.giver, h.founder.Root); err != nil {
			t.Fatal(err)
		}
	}
}

// Copies with pseudonyms stay as long as they are allowed.
func TestPseudonymizedCopiesStay(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	one := g.ann.remember("Zuzana says tomatoes want water", "garden")
	g.ann.remember("Zuzana has beans, tomatoes and a well", "garden")
	for i := range g.ann.memories {
		g.ann.memories[i].Entities = []memory.Entity{{Name: "Zuzana", Kind: "person"}}
	}
	w := tagged("garden")
	w.Criteria.Query, w.Criteria.Limit = "tomatoes", 5
	w.Redact.Names, w.Redact.Pseudonyms = true, true
	put := texts(must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, w)).Items)
	if len(put) != 2 || slices.ContainsFunc(put, func(s string) bool { return s[0] != '[' }) {
		t.Fatalf("put in: %v", put)
	}
	maintain(t, g.ann)
	if got := texts(must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)).Items); !slices.Equal(got, put) {
		t.Errorf("after a look: %v", got)
	}
	g.ann.forget(one)
	maintain(t, g.ann)
	if got := texts(must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)).Items); len(got) != 1 {
		t.Errorf("after one was forgotten: %v", got)
	}

	w.Redact.AtLeast = 2
	if _, err := g.ann.Add(ctx, g.ann.giver, g.id, w); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("at_least: %v", err)
	}
	w.Criteria.Query = ""
	if _, err := g.ann.Answers(ctx, g.id, &w); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("answers with at_least: %v", err)
	}
}

// What was removed, by a policy that denied it for a while or by hand, can be added
// again, and does not hold up anything else.
func TestRemovedItemIsAddedAgain(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	g.ann.remember("Beans want poles", "garden")
	w := tagged("garden")
	must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, w))
	g.ann.policy = `permit (principal, action, resource) when { resource.tags.contains("other") };`
	maintain(t, g.ann)
	if v := must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)); len(v.Items) != 0 {
		t.Fatalf("denied, and there: %v", texts(v.Items))
	}
	g.ann.policy = ""
	g.ann.remember("Peas, too", "garden")
	v := must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, w))
	if got := texts(v.Items); !slices.Equal(got, []string{"Beans want poles", "Peas, too"}) {
		t.Fatalf("put in again: %v", got)
	}
	must[serve.CommunityView](t)(g.ann.Remove(ctx, g.id, serve.CommunityRemoval{What: idOf(t, v.Items, "Peas, too")}, nil))
	maintain(t, g.ann)
	must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, w))
	v = must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, w))
	if got := texts(v.Items); !slices.Equal(got, []string{"Beans want poles", "Peas, too"}) {
		t.Errorf("put in a third time: %v", got)
	}
	if len(g.ann.account) != 3 || g.ann.account[1].Added != 2 || g.ann.account[2].Added != 1 || g.ann.account[2].Copies != 2 || g.ann.account[0].To[0] != "community:Gardeners" {
		t.Errorf("account: %+v", g.ann.account)
	}
}

// Withdrawing questions does not allow a member more questions, and each answer is in the
// wearer's log. Answers to a question that is gone are removed, too.
func TestThreatQuestionsTakenBack(t *testing.T) {
	clock := new(ticks)
	g := newGardeners(t, clock)
	ctx := t.Context()
	looked := &counting{Giver: g.ann.giver}
	look := func() {
		t.Helper()
		if err := g.ann.Maintain(ctx, looked, nil); err != nil {
			t.Fatal(err)
		}
	}
	w := tagged("garden")
	must[serve.CommunityHead](t)(g.ann.Answers(ctx, g.id, &w))
	g.ann.remember("tomatoes want water", "garden")
	for round := range 3 {
		for i := range MaxADay / 2 {
			text := "tomatoes"
			if i%2 > 0 {
				text = "nobody knows this"
			}
			must[serve.CommunityView](t)(g.mei.Ask(ctx, g.id, text))
		}
		look()
		v := must[serve.CommunityView](t)(g.mei.Show(ctx, g.id))
		var ids []memory.Assertion
		answered := 0
		for _, q := range v.Questions {
			answered += len(q.Answers)
			ids = append(ids, memory.Assertion{Memory: q.ID, Act: memory.ActErase})
		}
		if want := []int{MaxADay / 4, MaxADay / 4, 0}[round]; answered != want {
			t.Fatalf("round %d: %d answered", round, answered)
		}
		must[serve.CommunityView](t)(g.mei.with(ctx, g.id, func(sp *space, _ *serve.CommunityView) error { return sp.commitAssertions(ctx, ids...) }))
	}
	if looked.asked != MaxADay {
		t.Errorf("looked %d times, %d of which a day allows", looked.asked, MaxADay)
	}
	if a := g.ann.account; len(a) != 1 || a[0].Added != MaxADay/2 || a[0].Title != "answers in Gardeners" {
		t.Errorf("account: %+v", a)
	}
	look()
	if err := g.ann.in(ctx, idOfCommunity(t, g.id), func(sp *space) error {
		said := must[[]memory.Memory](t)(sp.activeMemories(ctx))
		if len(said) != 0 || len(sp.record.Gifts) != 0 {
			t.Errorf("answers to nothing: %d, %v", len(said), sp.record.Gifts)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	clock.s.Add(24 * 3600)
	must[serve.CommunityView](t)(g.mei.Ask(ctx, g.id, "tomatoes"))
	look()
	if v := must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)); len(v.Questions[0].Answers) != 1 {
		t.Error("nothing is answered on the next day")
	}
}

func idOfCommunity(t *testing.T, id string) memory.SpaceID {
	t.Helper()
	return memory.SpaceID(must[memory.ID](t)(memory.ParseID(id)))
}

// counting counts the searches for questions.
type counting struct {
	Giver
	asked int
}

func (c *counting) Offer(ctx context.Context, w share.ShareSpec, to share.Party, ids *seal.Key, byHand bool) (share.Preview, error) {
	if w.OnlyOriginals == nil {
		c.asked++
	}
	return c.Giver.Offer(ctx, w, to, ids, byHand)
}

// What a home stores about the questions of one member is limited, however long and often
// that member asks.
func TestQuestionsPerMemberAreBounded(t *testing.T) {
	var l looks
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	open, at := map[memory.ID]bool{}, map[memory.ID]time.Time{}
	for range 60 * 24 {
		now = now.Add(time.Hour)
		for id := range open {
			if now.Sub(at[id]) > answerable {
				delete(open, id)
			}
		}
		for range 5 {
			if q := randomID(); l.more(now) {
				open[q], at[q] = true, now
				l.note(q, true, open)
			}
		}
	}
	if most := 8 * MaxADay; len(l.Of) > most || len(l.Waits) > most || len(l.Of) < MaxADay {
		t.Errorf("%d looked at, %d waiting", len(l.Of), len(l.Waits))
	}
}

// A question about which the wearer is asked is answered once the wearer agrees, even if
// it was looked at before.
func TestQuestionIsAnsweredAfterConsent(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	g.ann.remember("tomatoes want water", "garden")
	g.ann.policy = `@ask("30 days") permit (principal == Community::"Gardeners", action == Action::"share", resource);`
	w := tagged("garden")
	must[serve.CommunityHead](t)(g.ann.Answers(ctx, g.id, &w))
	must[serve.CommunityView](t)(g.mei.Ask(ctx, g.id, "tomatoes"))
	answers := func() int {
		t.Helper()
		maintain(t, g.ann)
		return len(must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)).Questions[0].Answers)
	}
	for range MaxADay + 1 { // it waits, and counts once
		if answers() != 0 {
			t.Fatal("answered without a yes")
		}
	}
	g.ann.policy = ""
	for range 2 {
		if n := answers(); n != 1 {
			t.Errorf("%d answers after the yes", n)
		}
	}
}

// Nobody can crowd the others out of a search.
func TestThreatMemberFillsTheSearch(t *testing.T) {
	var ms []memory.Memory
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for by, n := range map[byte]int{1: 50, 2: 4, 3: 1} {
		for i := range n {
			m := memory.Memory{ID: memory.MemberID{by}.LineID(randomID()), Learnt: at.Add(time.Duration(by) * -24 * time.Hour).Add(time.Duration(i) * time.Minute)}
			m.Text = fmt.Sprint(i)
			ms = append(ms, m)
		}
	}
	got := newest(ms, 10)
	has := map[byte]int{}
	for i := range got {
		has[got[i].ID[0]]++
		if i > 0 && got[i].Learnt.After(got[i-1].Learnt) {
			t.Error("not the newest first")
		}
	}
	if len(got) != 10 || has[1] != 5 || has[2] != 4 || has[3] != 1 || got[0].Text != "49" {
		t.Errorf("%v of %d, first %s", has, len(got), got[0].Text)
	}
}
