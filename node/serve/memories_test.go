package serve_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func addGetList(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	texts := []string{"Ann likes tea", "The bike is blue", "Tram 4 goes to the lake", "Bo plays chess", "Rain was heavy"}
	ids := map[memory.ID]string{}
	for _, text := range texts {
		r := plain(text)
		r.Tags, r.Metadata = []string{"note"}, memory.Metadata{"from": "test"}
		ids[added(t, c, r)] = text
	}
	for id, text := range ids {
		for _, name := range []string{id.String(), strings.ToUpper(id.String()), id.String()[:20]} {
			m, err := c.Get(ctx, name)
			if err != nil || m.ID != id || m.Text != text || m.State != memory.Active || m.Type != memory.Semantic ||
				m.Metadata["from"] != "test" || m.Rank != memory.RankPerson {
				t.Fatalf("get %s: %+v, %v", name, m, err)
			}
		}
	}
	var paged []string
	var learnt []time.Time
	q := serve.ListQuery{Limit: 2, Tag: "note", Type: memory.Semantic}
	for pages := 0; ; pages++ {
		page, err := c.List(ctx, q)
		if err != nil || len(page.Memories) > 2 || pages > 3 {
			t.Fatalf("page %d: %+v, %v", pages, page, err)
		}
		for _, m := range page.Memories {
			paged, learnt = append(paged, m.Text), append(learnt, m.Learnt)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	slices.Sort(paged)
	if !slices.Equal(paged, slices.Sorted(slices.Values(texts))) {
		t.Fatalf("pages give %q", paged)
	}
	if !slices.IsSortedFunc(learnt, func(a, b time.Time) int { return b.Compare(a) }) {
		t.Fatalf("not newest first: %v", learnt)
	}
	var streamed int
	for _, err := range c.All(ctx, serve.ListQuery{Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		streamed++
	}
	if streamed != len(texts) {
		t.Fatalf("the stream has %d of %d", streamed, len(texts))
	}
	for _, q := range []serve.ListQuery{{Tag: "other"}, {Type: memory.Core}, {State: memory.Archived}, {Until: time.Unix(1, 0)}, {Agent: "x"}} {
		if page, err := c.List(ctx, q); err != nil || len(page.Memories) > 0 {
			t.Fatalf("%+v gives %d, %v", q, len(page.Memories), err)
		}
	}
	_, err := c.List(ctx, serve.ListQuery{Cursor: "no such cursor"})
	want(t, err, memory.ErrInvalid)
	_, err = c.Get(ctx, strings.Repeat("0", 26))
	want(t, err, memory.ErrNotFound)
	_, err = c.Get(ctx, "zz")
	want(t, err, memory.ErrInvalid)
}

func sameAgain(t *testing.T, c *serve.Client) {
	id := added(t, c, plain("Ann likes tea"))
	res, err := c.Add(t.Context(), plain("Ann likes tea."))
	if err != nil || len(res.Changes) != 1 || res.Changes[0].Verdict != memory.Noop || res.Changes[0].Memory != id {
		t.Fatalf("said again: %+v, %v", res, err)
	}
	if len(res.Left) > 0 {
		t.Errorf("left %v of a request that had nothing but its text", res.Left)
	}
	page, err := c.List(t.Context(), serve.ListQuery{})
	if err != nil || len(page.Memories) != 1 || page.Memories[0].Heard != 2 {
		t.Fatalf("%+v, %v", page, err)
	}
}

// A memory that is known already keeps what it has, and the answer names what came with the text
// and was not used.
func knownKeepsItsOwn(t *testing.T, c *serve.Client) {
	r := plain("Ann likes tea")
	r.Tags, r.Metadata = []string{"drinks"}, memory.Metadata{"from": "a"}
	id := added(t, c, r)
	if res, err := c.Add(t.Context(), r); err != nil || len(res.Left) > 0 || res.Says() != "" {
		t.Fatalf("the same again: %+v, %v", res, err)
	}
	private := memory.Private
	r.Tags, r.Metadata, r.Sensitivity, r.Expires = []string{"drinks", "shop"}, memory.Metadata{"from": "b"}, &private, time.Now().Add(time.Hour)
	res, err := c.Add(t.Context(), r)
	if err != nil || !slices.Equal(res.Left, []string{"expires", "metadata", "sensitivity", "tags"}) || !strings.Contains(res.Says(), "expires, metadata, sensitivity, tags") {
		t.Fatalf("known, with more: %+v, %v", res, err)
	}
	if m, err := c.Get(t.Context(), id.String()); err != nil || m.Sensitivity != memory.Personal || len(m.Tags) != 1 || m.Metadata["from"] != "a" {
		t.Fatalf("%+v, %v", m, err)
	}
}

func replaceAndWhy(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	first := added(t, c, slot("home", "Ghent"))
	second := added(t, c, slot("home", "Lyon"))
	old, err := c.Get(ctx, first.String())
	if err != nil || old.State != memory.Superseded || old.Into != second {
		t.Fatalf("the old home: %+v, %v", old, err)
	}
	page, err := c.List(ctx, serve.ListQuery{})
	if err != nil || len(page.Memories) != 1 || page.Memories[0].ID != second {
		t.Fatalf("active: %+v, %v", page.Memories, err)
	}
	why, err := c.Why(ctx, second.String())
	if err != nil || why.Verdict == "" || why.Reason == "" || len(why.Replaced) != 1 || why.Replaced[0].ID != first || len(why.History) == 0 {
		t.Fatalf("why the new: %+v, %v", why, err)
	}
	why, err = c.Why(ctx, first.String())
	if err != nil || why.Into == nil || why.Into.ID != second {
		t.Fatalf("why the old: %+v, %v", why, err)
	}
}

func correct(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	id := added(t, c, plain("The bike is blue")).String()
	text, yes, no := "The bike is green", true, false
	m, err := c.Update(ctx, id, serve.UpdateRequest{Text: &text, Tag: []string{"bike"}, Reason: "repainted"})
	if err != nil || m.Text != text || !slices.Contains(m.Tags, "bike") {
		t.Fatalf("%+v, %v", m, err)
	}
	if m, err = c.Update(ctx, id, serve.UpdateRequest{Untag: []string{"bike"}, Archived: &yes}); err != nil || len(m.Tags) != 0 || m.State != memory.Archived {
		t.Fatalf("archived: %+v, %v", m, err)
	}
	if m, err = c.Update(ctx, id, serve.UpdateRequest{Archived: &no}); err != nil || m.State != memory.Active {
		t.Fatalf("restored: %+v, %v", m, err)
	}
	h, err := c.History(ctx, id)
	if err != nil || len(h) < 2 || h[0].Verdict != memory.Add || h[1].Verdict != memory.Update || h[1].Old != "The bike is blue" || h[1].New != text {
		t.Fatalf("history %+v, %v", h, err)
	}
	_, err = c.Update(ctx, strings.Repeat("0", 26), serve.UpdateRequest{Text: &text})
	want(t, err, memory.ErrNotFound)

	// What changed since it was read is not overwritten.
	old, third, none := "The bike is blue", "The bike is red", ""
	for _, was := range []serve.Was{{Text: &old}, {Text: &text, Value: &old}} {
		_, err = c.Update(ctx, id, serve.UpdateRequest{Text: &third, Tag: []string{"late"}, Was: &was})
		want(t, err, serve.ErrChanged)
	}
	if m, err = c.Get(ctx, id); err != nil || m.Text != text || len(m.Tags) != 0 {
		t.Fatalf("half done: %+v, %v", m, err)
	}
	_, err = c.Update(ctx, id, serve.UpdateRequest{Text: &third, Was: &serve.Was{}})
	want(t, err, memory.ErrInvalid)
	if m, err = c.Update(ctx, id, serve.UpdateRequest{Text: &third, Was: &serve.Was{Text: &text, Value: &none}}); err != nil || m.Text != third {
		t.Fatalf("%+v, %v", m, err)
	}
}

func pinned(t *testing.T, c *serve.Client) {
	id := added(t, c, slot("home", "Ghent")).String()
	if m, err := c.Pin(t.Context(), id, true); err != nil || !m.Pinned {
		t.Fatalf("%+v, %v", m, err)
	}
	if m, err := c.Pin(t.Context(), id, false); err != nil || m.Pinned {
		t.Fatalf("%+v, %v", m, err)
	}
}

func erase(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	id := added(t, c, plain("Bo owes Ann a lunch")).String()
	if d, err := c.Delete(ctx, id); err != nil || d.State != memory.Erased {
		t.Fatalf("%+v, %v", d, err)
	}
	_, err := c.Get(ctx, id)
	want(t, err, memory.ErrNotFound)
	_, err = c.Delete(ctx, id)
	want(t, err, memory.ErrNotFound)
	h, err := c.History(ctx, id)
	if err != nil || len(h) == 0 {
		t.Fatalf("an erased memory has a history: %+v, %v", h, err)
	}
	for _, ch := range h {
		if strings.Contains(ch.Old+ch.New, "lunch") {
			t.Fatalf("the history still tells %+v", ch)
		}
	}
	for ch, err := range c.Changes(ctx, 0, false) {
		if err != nil || strings.Contains(ch.Old+ch.New, "lunch") {
			t.Fatalf("the changes still tell %+v, %v", ch, err)
		}
	}
	if res, err := c.Search(ctx, serve.SearchRequest{Query: "lunch"}); err != nil || len(res.Hits) > 0 {
		t.Fatalf("still found: %+v, %v", res, err)
	}
}

func forgetTopic(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	gone := added(t, c, plain("Bo owes Ann a lunch"))
	kept := added(t, c, plain("The bike is blue"))
	for _, r := range []serve.ForgetRequest{{IDs: []string{gone.String()[:16]}}, {Query: "lunch"}} {
		plan, err := c.PlanForget(ctx, r)
		if err != nil || plan.Plan == nil || plan.Confirm == "" || len(plan.Plan.Memories) != 1 || plan.Plan.Memories[0].ID != gone {
			t.Fatalf("plan for %+v: %+v, %v", r, plan, err)
		}
		if _, err := c.Get(ctx, gone.String()); err != nil {
			t.Fatalf("a plan changed something: %v", err)
		}
	}
	plan, err := c.PlanForget(ctx, serve.ForgetRequest{Query: "lunch"})
	if err != nil {
		t.Fatal(err)
	}
	since := added(t, c, plain("Another lunch with Bo"))
	done, err := c.Forget(ctx, plan.Confirm)
	if err != nil || done.Result == nil || done.Result.Memories != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	_, err = c.Get(ctx, gone.String())
	want(t, err, memory.ErrNotFound)
	for _, id := range []memory.ID{kept, since} {
		if _, err := c.Get(ctx, id.String()); err != nil {
			t.Fatalf("what the plan did not name is gone: %v", err)
		}
	}
	if _, err := c.Forget(ctx, plan.Confirm); err == nil {
		t.Fatal("a plan can be confirmed twice")
	}
	all, err := c.PlanForget(ctx, serve.ForgetRequest{Last: 36e11})
	if err != nil || len(all.Plan.Memories) != 2 || all.Plan.From.IsZero() || !all.Plan.To.After(all.Plan.From) {
		t.Fatalf("the last hour: %+v, %v", all.Plan, err)
	}
}

func search(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	for _, text := range []string{"Ann likes green tea", "The bike is blue", "Tram 4 goes to the lake"} {
		added(t, c, plain(text))
	}
	res, err := c.Search(ctx, serve.SearchRequest{Query: "bike blue", K: 2})
	if err != nil || len(res.Hits) == 0 || len(res.Hits) > 2 || !res.Known || res.Confidence <= 0 || res.Confidence > 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	hit := res.Hits[0]
	if hit.Text != "The bike is blue" || hit.Memory == nil || hit.Memory.ID != hit.ID || len(hit.Parts) == 0 {
		t.Fatalf("%+v", hit)
	}
	var sum float64
	for _, p := range hit.Parts {
		sum += p
	}
	if d := sum - hit.Score; d > 1e-6 || d < -1e-6 {
		t.Fatalf("the parts add up to %v, the score is %v", sum, hit.Score)
	}
	if res, err = c.Search(ctx, serve.SearchRequest{Query: "quantum chromodynamics"}); err != nil || res.Known {
		t.Fatalf("what nobody said is known: %+v, %v", res, err)
	}
	if res, err = c.Search(ctx, serve.SearchRequest{Query: "bike", Types: []memory.Type{memory.Core}}); err != nil || len(res.Hits) > 0 {
		t.Fatalf("of another type: %+v, %v", res, err)
	}
}
