package community

import (
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// gardeners is a community of an owner, a moderator and a member.
type gardeners struct {
	mei, tom, ann *home
	id            string
	link          string
}

func newGardeners(t *testing.T, clock *ticks) gardeners {
	url := serveRelay(t)
	g := gardeners{mei: newHome(t, url, clock), tom: newHome(t, url, clock), ann: newHome(t, url, clock)}
	v := must[serve.CommunityView](t)(g.mei.FoundCommunity(t.Context(), g.mei.founder, serve.NewCommunity{Name: "Gardeners", As: "Mei"}))
	g.id, g.link = v.ID.String(), v.Link
	must[serve.CommunityView](t)(g.mei.Invite(t.Context(), g.id, serve.CommunityInvite{Who: "Tom=" + g.tom.request(t), Moderator: true}))
	must[serve.CommunityView](t)(g.mei.Invite(t.Context(), g.id, serve.CommunityInvite{Who: "Ann=" + g.ann.request(t)}))
	for _, h := range []*home{g.tom, g.ann} {
		must[serve.CommunityView](t)(h.Join(t.Context(), g.link, "Gardeners"))
	}
	return g
}

// Members read each other's copies, redacted and as each one's policy allows, marked with
// their author. What is no longer allowed is removed.
func TestCommunity(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	show := func(h *home) serve.CommunityView { t.Helper(); return must[serve.CommunityView](t)(h.Show(ctx, g.id)) }
	water := g.ann.remember("Zuzana says tomatoes want water", "garden")
	g.ann.remember("Beans want poles", "garden", "never")
	g.ann.policy = `permit (principal == Community::"Gardeners", action == Action::"share", resource) unless { resource.tags.contains("never") };`
	w := tagged("garden")
	w.Redact.Roles = map[string]string{"Zuzana": "my sister"}

	p := must[share.Preview](t)(g.ann.Preview(ctx, g.ann.giver, g.id, w))
	if len(p.Copies) != 1 || p.Held["no rule permits it"] != 1 {
		t.Fatalf("%+v", p)
	}
	w.Confirm = "of another preview"
	if _, err := g.ann.Add(ctx, g.ann.giver, g.id, w); !errors.Is(err, share.ErrChanged) {
		t.Errorf("another preview: %v", err)
	}
	w.Confirm = p.Confirm
	must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, w))
	if v := must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, w)); len(v.Items) != 1 {
		t.Errorf("it was added twice: %v", texts(v.Items))
	}
	v := show(g.mei)
	if got := texts(v.Items); !slices.Equal(got, []string{"[my sister] says tomatoes want water"}) || v.Items[0].By != "Ann" || v.Items[0].ID == water {
		t.Fatalf("Mei sees %+v", v.Items)
	}
	given := must[share.Given](t)(g.mei.Given(ctx, v.ID))
	if len(given.Memories) != 1 || given.By[given.Memories[0].ID] != "Ann in Gardeners" || !given.Community {
		t.Errorf("in Mei's search: %+v", given)
	}
	if given := must[share.Given](t)(g.ann.Given(ctx, v.ID)); len(given.Memories) != 0 {
		t.Errorf("her own answers Ann as another's: %+v", given.Memories)
	}

	g.ann.forget(water)
	if err := g.ann.Maintain(ctx, g.ann.giver, nil); err != nil {
		t.Fatal(err)
	}
	if v := show(g.mei); len(v.Items) != 0 || len(v.Removed) != 0 {
		t.Errorf("forgotten, and still there: %v", texts(v.Items))
	}
	if err := g.mei.in(ctx, v.ID, func(sp *space) error {
		problems, err := sp.replica.Problems(ctx)
		if len(problems) > 0 {
			t.Errorf("what honest members do is quarantined: %+v", problems)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// Each role may do only what it is allowed to do, and all can read the reasons.
func TestCommunityRoles(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	for h, text := range map[*home]string{g.mei: "by Mei", g.tom: "by Tom", g.ann: "by Ann"} {
		h.remember(text, "all")
		must[serve.CommunityView](t)(h.Add(ctx, h.giver, g.id, tagged("all")))
	}
	v := must[serve.CommunityView](t)(g.mei.Show(ctx, g.id))
	newcomer := newHome(t, g.mei.founder.Relay, new(ticks))
	no := func(what string, want error, err error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := g.tom.Rules(ctx, g.id, "Mine.")
	no("a moderator's rules", serve.ErrForbidden, err)
	_, err = g.ann.Remove(ctx, g.id, serve.CommunityRemoval{What: idOf(t, v.Items, "by Tom"), Reason: "so"}, nil)
	no("a member's removal", serve.ErrForbidden, err)
	_, err = g.ann.Remove(ctx, g.id, serve.CommunityRemoval{What: "Tom", Reason: "so"}, nil)
	no("a member puts out", serve.ErrForbidden, err)
	_, err = g.tom.Remove(ctx, g.id, serve.CommunityRemoval{What: "Mei", Reason: "so"}, g.tom.founder.Root)
	no("a moderator puts the owner out", serve.ErrForbidden, err)
	_, err = g.tom.Remove(ctx, g.id, serve.CommunityRemoval{What: idOf(t, v.Items, "by Ann")}, nil)
	no("without a reason", memory.ErrInvalid, err)
	_, err = g.tom.Invite(ctx, g.id, serve.CommunityInvite{Who: "Bo=" + newcomer.request(t), Moderator: true})
	no("a moderator appoints", serve.ErrForbidden, err)
	_, err = newcomer.Join(ctx, g.link, "")
	no("nobody let in", ErrNotMember, err)

	// A member proposes somebody, and a moderator agrees.
	v = must[serve.CommunityView](t)(g.ann.Invite(ctx, g.id, serve.CommunityInvite{Who: "Bo=" + newcomer.request(t)}))
	if len(v.Waiting) != 1 || v.Waiting[0].By != "Ann" || v.People != 3 {
		t.Fatalf("proposed: %+v", v.Waiting)
	}
	for want, words := range map[error]string{memory.ErrInvalid: "", memory.ErrNotFound: "words of another key"} {
		_, err = g.tom.Invite(ctx, g.id, serve.CommunityInvite{Who: "Bo", Words: words})
		no("let in by the name alone", want, err)
	}
	v = must[serve.CommunityView](t)(g.tom.Invite(ctx, g.id, serve.CommunityInvite{Who: "Bo", Words: v.Waiting[0].Words}))
	if len(v.Waiting) != 0 || v.People != 4 {
		t.Fatalf("let in: %+v", v)
	}
	if v = must[serve.CommunityView](t)(newcomer.Join(ctx, g.link, "")); len(v.Items) != 3 || v.Role != roleMember {
		t.Errorf("who came later reads %v as %s", texts(v.Items), v.Role)
	}

	must[serve.CommunityView](t)(g.mei.Rules(ctx, g.id, "Beans first."))
	must[serve.CommunityView](t)(g.tom.Remove(ctx, g.id, serve.CommunityRemoval{What: idOf(t, v.Items, "by Ann"), Reason: "not about gardens"}, nil))
	must[serve.CommunityView](t)(g.mei.Remove(ctx, g.id, serve.CommunityRemoval{What: "Tom", Reason: "he is asleep"}, g.mei.founder.Root))
	v = must[serve.CommunityView](t)(g.ann.Show(ctx, g.id))
	if v.Rules != "Beans first." || !slices.Equal(texts(v.Items), []string{"by Ann", "by Mei"}) || !slices.Equal(texts(v.Removed), []string{"by Tom"}) {
		t.Errorf("%q, %v, %v", v.Rules, texts(v.Items), texts(v.Removed))
	}
	var log []string
	for _, d := range v.Log {
		log = append(log, strings.TrimSpace(d.By+" "+d.Did+" "+d.Why))
	}
	want := []string{"Mei founded", "Mei let in", "Mei let in", "Tom let in", "Mei set the rules", "Tom removed not about gardens", "Mei put out he is asleep"}
	if slices.Sort(log); !slices.Equal(log, slices.Sorted(slices.Values(want))) {
		t.Errorf("log %q", log)
	}
	if _, err := g.tom.Show(ctx, g.id); !errors.Is(err, ErrNotMember) {
		t.Errorf("Tom reads on: %v", err)
	}
	if given := must[share.Given](t)(g.tom.Given(ctx, v.ID)); given.Ended.IsZero() {
		t.Error("what Tom had fetched answers on")
	}

	// When members leave, what they added is removed, and the owner's node removes them from
	// the log.
	if err := newcomer.Leave(ctx, g.id, nil); err != nil {
		t.Fatal(err)
	}
	if err := g.mei.Maintain(ctx, g.mei.giver, g.mei.founder.Root); err != nil {
		t.Fatal(err)
	}
	v = must[serve.CommunityView](t)(g.ann.Show(ctx, g.id))
	if last := v.Log[len(v.Log)-1]; v.People != 2 || last.Did != didLeave {
		t.Errorf("%d members after Bo left, %+v", v.People, last)
	}
	if err := g.mei.Leave(ctx, g.id, g.mei.founder.Root); err != nil {
		t.Fatal(err)
	}
	if _, err := g.ann.Show(ctx, g.id); !errors.Is(err, ErrNotMember) {
		t.Errorf("an ended community: %v", err)
	}
	if err := g.ann.Leave(ctx, g.id, nil); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(g.ann.root()); err != nil || len(left) != 0 {
		t.Errorf("%v stays, %v", left, err)
	}
}

// A question is answered once by the node of a member who allows it, from what its policy
// permits, and at most twenty times a day for one asker.
func TestCommunityQuestions(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	maintain := func(hs ...*home) {
		t.Helper()
		for _, h := range hs {
			if err := h.Maintain(ctx, h.giver, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask := func(text string) serve.CommunityView {
		t.Helper()
		return must[serve.CommunityView](t)(g.mei.Ask(ctx, g.id, text))
	}
	g.ann.remember("tomatoes want water every second day", "garden")
	g.ann.remember("tomatoes of the neighbour were stolen", "gossip")
	g.tom.remember("tomatoes hate Tom", "garden")
	v := ask("tomatoes")
	if len(v.Questions) != 1 || !strings.Contains(v.Questions[0].Knows, "3 members") {
		t.Fatalf("%+v", v.Questions)
	}
	maintain(g.ann, g.tom)
	if v = must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)); len(v.Questions[0].Answers) != 0 {
		t.Fatalf("answered unasked: %+v", v.Questions)
	}
	w := tagged("garden")
	must[serve.CommunityHead](t)(g.ann.Answers(ctx, g.id, &w))
	maintain(g.ann, g.tom, g.ann)
	v = must[serve.CommunityView](t)(g.mei.Show(ctx, g.id))
	if got := texts(v.Questions[0].Answers); !slices.Equal(got, []string{"tomatoes want water every second day"}) || v.Questions[0].Answers[0].By != "Ann" {
		t.Fatalf("answers: %v", got)
	}
	for range MaxADay + 2 {
		ask("water")
	}
	maintain(g.ann)
	v = must[serve.CommunityView](t)(g.mei.Show(ctx, g.id))
	answered := 0
	for _, q := range v.Questions {
		answered += min(1, len(q.Answers))
	}
	if answered != MaxADay {
		t.Errorf("%d answered in a day", answered)
	}
}

// A member's statements about items of others, or in a form that this member may not use, do
// not count for anybody, whatever client made them.
func TestThreatCommunityMember(t *testing.T) {
	me, other := memory.MemberID{1}, memory.MemberID{2}
	propose := func(change func(*memory.Assertion)) *delta.Op {
		a := memory.Assertion{Dot: memory.Dot{Member: me, Seq: 1}, Memory: me.LineID(randomID()), Act: memory.ActPropose, Candidate: &memory.Candidate{Type: memory.Semantic, Text: "x"}}
		change(&a)
		return &delta.Op{Assertion: &a}
	}
	by := &envelope.Member{ID: me, Role: envelope.Writer}
	if why := refused(propose(func(*memory.Assertion) {}), by); why != "" {
		t.Errorf("an item: %s", why)
	}
	flooded := wall{said: map[memory.MemberID]int{me: MaxSaid}}
	for m, full := range map[memory.MemberID]bool{me: true, other: false} {
		if why, err := flooded.room(t.Context(), m, 1, MaxSaid); err != nil || (why != "") != full {
			t.Errorf("after a flood of %s, %s: %q, %v", me, m, why, err)
		}
	}
	for what, op := range map[string]*delta.Op{
		"another's item":  propose(func(a *memory.Assertion) { a.Memory = other.LineID(a.Memory) }),
		"another's end":   propose(func(a *memory.Assertion) { a.Memory, a.Act, a.Candidate = other.LineID(a.Memory), memory.ActErase, nil }),
		"a correction":    propose(func(a *memory.Assertion) { a.Act, a.Candidate = memory.ActCorrect, nil }),
		"a vault":         propose(func(a *memory.Assertion) { a.Candidate.Type = memory.Vault }),
		"a line":          {Utterance: &memory.Utterance{}},
		"a forgetting":    {Forget: &delta.Forget{Memories: []memory.ID{other.LineID(randomID())}}},
		"a worker's word": {Report: &delta.Report{}},
	} {
		if refused(op, by) == "" {
			t.Errorf("%s is taken", what)
		}
	}
	if refused(propose(func(*memory.Assertion) {}), &envelope.Member{ID: me, Role: envelope.Extractor}) == "" {
		t.Error("a worker's item is taken")
	}

	// They do not reach any other member, either, if a client sends them nevertheless.
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	g.mei.remember("by Mei", "all")
	v := must[serve.CommunityView](t)(g.mei.Add(ctx, g.mei.giver, g.id, tagged("all")))
	victim := v.Items[0].ID
	must[serve.CommunityView](t)(g.ann.with(ctx, g.id, func(sp *space, _ *serve.CommunityView) error {
		return errors.Join(sp.commitAssertions(ctx, memory.Assertion{Memory: victim, Act: memory.ActErase}),
			sp.note(ctx, noteRules, "", "Ann rules."), sp.note(ctx, noteFee, "", "9.00 EUR to Ann"), sp.note(ctx, noteRemoval, victim.String(), "because"))
	}))
	v = must[serve.CommunityView](t)(g.mei.Show(ctx, g.id))
	if !slices.Equal(texts(v.Items), []string{"by Mei"}) || v.Rules != "" || v.Fee != "" || len(v.Removed) != 0 {
		t.Errorf("%q, %q, %v, %+v", v.Rules, v.Fee, texts(v.Items), v.Removed)
	}
	if err := g.mei.in(ctx, v.ID, func(sp *space) error {
		problems, err := sp.replica.Problems(ctx)
		if len(problems) != 2 || !strings.Contains(problems[0].Reason+problems[1].Reason, "another member") {
			t.Errorf("quarantined: %+v", problems)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// The view is the same in whatever order things arrived.
func TestViewInAnyOrder(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	for _, h := range []*home{g.mei, g.tom, g.ann} {
		for range 3 {
			h.remember("a memory "+randomText(), "all")
		}
		must[serve.CommunityView](t)(h.Add(ctx, h.giver, g.id, tagged("all")))
		must[serve.CommunityView](t)(h.Ask(ctx, g.id, "what is "+randomText()))
	}
	v := must[serve.CommunityView](t)(g.mei.Rules(ctx, g.id, "One."))
	must[serve.CommunityView](t)(g.mei.Rules(ctx, g.id, "Two."))
	for _, it := range v.Items[len(v.Items)-2:] {
		must[serve.CommunityView](t)(g.mei.Remove(ctx, g.id, serve.CommunityRemoval{What: it.ID.String(), Reason: "so"}, nil))
		if _, err := g.tom.Remove(ctx, g.id, serve.CommunityRemoval{What: it.ID.String(), Reason: "also"}, nil); err != nil && !errors.Is(err, memory.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if _, err := g.mei.Show(ctx, g.id); err != nil {
		t.Fatal(err)
	}
	if err := g.mei.in(ctx, v.ID, func(sp *space) error {
		said := must[[]memory.Memory](t)(sp.activeMemories(ctx))
		var entries []*envelope.Entry
		for _, b := range must[[][]byte](t)(sp.journal.Entries(ctx)) {
			entries = append(entries, must[*envelope.Entry](t)(envelope.ParseEntry(b)))
		}
		name := func(m *envelope.Member) string { return m.ID.String() }
		want := see(sp.me, entries, name, said)
		if want.Rules != "Two." || len(want.Removed) == 0 || len(want.Questions) != 3 {
			t.Errorf("%+v", want)
		}
		for range 50 {
			rand.Shuffle(len(said), func(i, j int) { said[i], said[j] = said[j], said[i] })
			if got := see(sp.me, entries, name, said); !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v\n%+v", got, want)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
