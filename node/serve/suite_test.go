package serve_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// fresh gives a client of a node of its own, over a way by which clients come: within
// the process, over a socket, over TCP with a token.
func fresh(t *testing.T, way string) *serve.Client {
	t.Helper()
	return connect(t, way, nodetest.New(t, nodetest.Cheap).Services())
}

// connect gives a client of services.
func connect(t *testing.T, way string, services serve.Services) *serve.Client {
	t.Helper()
	o, address := serve.Options{Services: services}, "127.0.0.1:0"
	c := serve.InProcess(serve.New(o))
	switch way {
	case "tcp":
		o.Token, o.Loopback = token, true
	case "unix":
		address = socket(t)
	}
	if way != "" {
		at := listening(t, way, address, o)
		if info, err := os.Stat(at); way == "unix" && (err != nil || info.Mode().Perm() != 0o600) {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
		c = serve.Dial(way, at, o.Token)
	}
	t.Cleanup(c.Close)
	return c
}

// TestService holds a node to what serve.Services promise, through the handler and the
// client; the tests take turns between the ways by which clients come.
func TestService(t *testing.T) {
	tests := map[string]func(*testing.T, *serve.Client){
		"AddGetList": addGetList, "SameAgain": sameAgain, "ReplaceAndWhy": replaceAndWhy, "Correct": correct,
		"Pinned": pinned, "Erase": erase, "Forget": forgetting, "Conditions": conditions, "DeleteAll": deleteAll, "Search": search,
		"Context": contexts, "Asked": asked, "Modelless": modelless, "Engineless": engineless, "Lock": lock, "Vault": vault,
		"Pause": pause, "Devices": devices, "Changes": changes, "Diagnostics": diagnostics, "Batches": batches, "Secrets": secrets,
		"Alone": alone, "Plugins": plugins, "Dreams": dreams, "Steps": steps, "Blocks": blocks, "Then": then, "Conflicts": conflicts,
		"Reverts": reverts, "Zones": privateZones, "Retention": retention, "Media": media, "Tiers": tiers, "Locksmith": locksmith,
		"Tally": tally, "Graphs": graphs, "Rescanned": rescanned,
	}
	for i, name := range slices.Sorted(maps.Keys(tests)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tests[name](t, fresh(t, []string{"", "unix", "tcp"}[i%3]))
		})
	}
	t.Run("ExportImport", func(t *testing.T) {
		t.Parallel()
		exportImport(t, fresh(t, "unix"), fresh(t, "tcp"))
	})
}

// plain is a request to add a text as it stands.
func plain(text string) serve.AddRequest {
	no := false
	return serve.AddRequest{Text: text, Infer: &no}
}

// slot is a fact of which one value is true at a time.
func slot(attribute, value string) serve.AddRequest {
	r := plain("The wearer's " + attribute + " is " + value)
	r.Slot = &memory.Slot{Subject: "user", Attribute: attribute, Value: value}
	return r
}

// added adds, and gives the memory of the last change.
func added(t *testing.T, c *serve.Client, r serve.AddRequest) memory.ID {
	t.Helper()
	res, err := c.Add(t.Context(), r)
	if err != nil {
		t.Fatalf("adding %q: %v", r.Text, err)
	}
	for _, ch := range res.Changes {
		if ch.Verdict == memory.Add || ch.Verdict == memory.Noop {
			return ch.Memory
		}
	}
	if len(res.Changes) > 0 && res.Changes[0].Verdict == memory.Update {
		return res.Changes[0].Memory // what became of the new one comes first
	}
	t.Fatalf("adding %q: no memory came of it: %+v", r.Text, res)
	return memory.ID{}
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("error %v, want %v", err, target)
	}
}

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
	page, err := c.List(t.Context(), serve.ListQuery{})
	if err != nil || len(page.Memories) != 1 || page.Memories[0].Heard != 2 {
		t.Fatalf("%+v, %v", page, err)
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

func forgetting(t *testing.T, c *serve.Client) {
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

func lock(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	id := added(t, c, plain("Ann likes tea")).String()
	if _, err := c.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	_, err := c.Get(ctx, id)
	want(t, err, memory.ErrLocked)
	_, err = c.Search(ctx, serve.SearchRequest{Query: "tea"})
	want(t, err, memory.ErrLocked)
	if st, err := c.Status(ctx); err != nil || !st.Locked {
		t.Fatalf("a locked node tells its status: %+v, %v", st, err)
	}
	_, err = c.Unlock(ctx, "not the passphrase")
	want(t, err, serve.ErrPassphrase)
	if _, err := c.Unlock(ctx, nodetest.Passphrase); err != nil {
		t.Fatal(err)
	}
	if m, err := c.Get(ctx, id); err != nil || m.Text != "Ann likes tea" {
		t.Fatalf("%+v, %v", m, err)
	}
}

func vault(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	id := added(t, c, plain("Ann likes tea")).String()
	_, err := c.Reveal(ctx, id)
	want(t, err, memory.ErrInvalid)
	_, err = c.UnlockVault(ctx, "not the passphrase", 0)
	want(t, err, serve.ErrPassphrase)
	open, err := c.UnlockVault(ctx, nodetest.Passphrase, time.Minute)
	if err != nil || open.VaultUntil.IsZero() {
		t.Fatalf("%+v, %v", open, err)
	}
}

func pause(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	if p, err := c.Pause(ctx, time.Hour); err != nil || !p.Paused || p.Until.IsZero() {
		t.Fatalf("%+v, %v", p, err)
	}
	if st, err := c.Status(ctx); err != nil || !st.Pause.Paused {
		t.Fatalf("%+v, %v", st.Pause, err)
	}
	if p, err := c.Pause(ctx, 0); err != nil || !p.Paused || !p.Until.IsZero() {
		t.Fatalf("%+v, %v", p, err)
	}
	for range 2 {
		if p, err := c.Resume(ctx); err != nil || p.Paused {
			t.Fatalf("%+v, %v", p, err)
		}
	}
}

func devices(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	cred, err := c.AddDevice(ctx, "glasses")
	if err != nil || cred.Name != "glasses" || len(cred.Password) < 16 || cred.Username == "" || !strings.Contains(cred.Topics, "locket/v1/glasses") {
		t.Fatalf("%s %s, %v", cred.Name, cred.Topics, err)
	}
	_, err = c.AddDevice(ctx, "glasses")
	want(t, err, serve.ErrConflict)
	list, err := c.Devices(ctx)
	if err != nil || len(list) != 1 || list[0].Name != "glasses" || list[0].Added.IsZero() {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := c.RemoveDevice(ctx, "glasses"); err != nil {
		t.Fatal(err)
	}
	_, err = c.RemoveDevice(ctx, "glasses")
	want(t, err, memory.ErrNotFound)
}

func changes(t *testing.T, c *serve.Client) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	added(t, c, plain("Ann likes tea"))
	var last uint64
	for ch, err := range c.Changes(ctx, 0, false) {
		if err != nil || ch.Seq <= last {
			t.Fatalf("%+v after %d, %v", ch, last, err)
		}
		last = ch.Seq
	}
	if last == 0 {
		t.Fatal("no change is told")
	}
	// Follow from there: what is there already does not come again, what
	// comes while one follows is told.
	second, third := added(t, c, plain("The bike is blue")), memory.ID{}
	for ch, err := range c.Changes(ctx, last, true) {
		if err != nil || ch.Seq <= last {
			t.Fatalf("%+v, %v", ch, err)
		}
		last = ch.Seq
		if ch.Memory == second && third.IsZero() {
			third = added(t, c, plain("Bo plays chess"))
		}
		if ch.Memory == third {
			return
		}
	}
	t.Fatal("the stream that is followed ended")
}

func diagnostics(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	added(t, c, plain("Ann likes tea"))
	st, err := c.Status(ctx)
	if err != nil || st.Memories[memory.Semantic] != 1 || st.Version == "" {
		t.Fatalf("%+v, %v", st, err)
	}
	for _, verify := range []bool{false, true} {
		r, err := c.Doctor(ctx, verify)
		if err != nil || !r.OK || r.Verified != verify || len(r.Findings) == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if list, err := c.Refusals(ctx, 1); err != nil || len(list) > 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err := c.Quarantine(ctx, 1); err != nil || len(list) > 1 {
		t.Fatalf("%+v, %v", list, err)
	}
}

// secrets: what is said as a password is in no answer until it is asked for.
func secrets(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	const said = "Xq7-pine-Tr0ut-88"
	res, err := c.Add(ctx, serve.AddRequest{Text: "The wifi password is " + said})
	if err != nil || res.Redacted == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	page, err := c.List(ctx, serve.ListQuery{Type: memory.Vault})
	if err != nil || len(page.Memories) != 1 || page.Memories[0].Fields.Vault == nil || page.Memories[0].Fields.Vault.Sealed != nil {
		t.Fatalf("%+v, %v", page, err)
	}
	id := page.Memories[0].ID.String()
	found, err := c.Search(ctx, serve.SearchRequest{Query: said + " wifi password"})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range found.Hits {
		if strings.Contains(h.Text, said) {
			t.Fatalf("found in clear: %+v", h)
		}
		for _, e := range h.Evidence {
			if strings.Contains(e.Excerpt, said) {
				t.Fatalf("in the evidence in clear: %+v", e)
			}
		}
	}
	_, err = c.Reveal(ctx, id)
	want(t, err, serve.ErrVaultLocked)
	if _, err := c.UnlockVault(ctx, nodetest.Passphrase, time.Minute); err != nil {
		t.Fatal(err)
	}
	r, err := c.Reveal(ctx, id)
	if err != nil || string(r.Secret) != said {
		t.Fatalf("revealed %q for %s, %v", string(r.Secret), r.Label, err)
	}
	reads, err := c.VaultLog(ctx, 0)
	if err != nil || len(reads) != 1 || reads[0].ID != page.Memories[0].ID || reads[0].Label != r.Label || reads[0].At.IsZero() {
		t.Fatalf("the log of readings: %+v, %v", reads, err)
	}
}
