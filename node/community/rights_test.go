package community

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
)

// The part of an id that the command shows distinguishes two items of one member.
func TestRemoveByShortID(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	g.ann.remember("Beans want poles", "all")
	g.ann.remember("Peas want nets", "all")
	v := must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, tagged("all")))
	short := idOf(t, v.Items, "Peas want nets")[serve.AuthorChars:][:10]
	v = must[serve.CommunityView](t)(g.tom.Remove(ctx, g.id, serve.CommunityRemoval{What: short, Reason: "no nets"}, nil))
	if len(v.Items) != 1 || v.Items[0].Text != "Beans want poles" {
		t.Errorf("left: %v", texts(v.Items))
	}
}

// A key is admitted with the words that somebody compared, even if the proposer replaced
// the key under that name.
func TestInvitePinsTheComparedKey(t *testing.T) {
	relay, clock := serveRelay(t), new(ticks)
	mei, bo, eve := newHome(t, relay, clock), newHome(t, relay, clock), newHome(t, relay, clock)
	ctx := t.Context()
	v := must[serve.CommunityView](t)(mei.FoundCommunity(ctx, mei.founder, serve.NewCommunity{Name: "Gardeners"}))
	q := must[envelope.Request](t)(ReadKey(bo.request(t)))
	for _, who := range []string{"Bo=" + eve.request(t), "Bo=" + eve.request(t) + "=" + bo.request(t)} {
		if _, err := mei.Invite(ctx, v.ID.String(), serve.CommunityInvite{Who: who, Words: share.Words(q.Key)}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("another's key under Bo's words: %v", err)
		}
	}
	if v = must[serve.CommunityView](t)(mei.Invite(ctx, v.ID.String(), serve.CommunityInvite{Who: "Bo=" + bo.request(t), Words: share.Words(q.Key)})); v.People != 2 {
		t.Errorf("%d members", v.People)
	}
	if _, err := ReadKey("locket-member-1.none"); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("no key: %v", err)
	}
}

// A removal by a moderator counts until the owner undoes it, or removes the moderator.
func TestModeratorsRemovalIsUndone(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	for _, text := range []string{"Beans want poles", "Peas want nets"} {
		g.ann.remember(text, "all")
	}
	v := must[serve.CommunityView](t)(g.ann.Add(ctx, g.ann.giver, g.id, tagged("all")))
	for _, it := range v.Items {
		v = must[serve.CommunityView](t)(g.tom.Remove(ctx, g.id, serve.CommunityRemoval{What: it.ID.String(), Reason: "Tom's garden has none"}, nil))
	}
	if len(v.Items) != 0 || len(v.Removed) != 2 {
		t.Fatalf("%v, %v", texts(v.Items), texts(v.Removed))
	}
	removal := v.Log[len(v.Log)-1]
	if hidden := v.Removed[1]; hidden.Removal != removal.ID || !hidden.Yours {
		t.Errorf("to Tom: %+v, removed by %s", hidden, removal.ID)
	}
	if hidden := must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)).Removed[1]; hidden.Removal != removal.ID || hidden.Yours {
		t.Errorf("to Mei: %+v, removed by %s", hidden, removal.ID)
	}
	undo := serve.CommunityRemoval{What: removal.ID.String(), Reason: "we all have"}
	if _, err := g.ann.Remove(ctx, g.id, undo, nil); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("a member undoes it: %v", err)
	}
	v = must[serve.CommunityView](t)(g.mei.Remove(ctx, g.id, undo, nil))
	if last := v.Log[len(v.Log)-1]; len(v.Items) != 1 || v.Items[0].ID.String() != removal.What || last.Did != didUndo || last.What != removal.What || last.Why != undo.Reason {
		t.Errorf("undone: %v, %+v", texts(v.Items), last)
	}
	// Another moderator's statement against the owner's does not count, whatever client
	// made it.
	v = must[serve.CommunityView](t)(g.tom.with(ctx, g.id, func(sp *space, _ *serve.CommunityView) error {
		return sp.note(ctx, noteRemoval, v.Log[len(v.Log)-1].ID.String(), "no")
	}))
	if len(v.Items) != 1 {
		t.Errorf("a moderator undid what the owner undid: %v", texts(v.Items))
	}
	must[serve.CommunityView](t)(g.mei.Remove(ctx, g.id, serve.CommunityRemoval{What: "Tom", Reason: "he removes beans"}, g.mei.founder.Root))
	if v = must[serve.CommunityView](t)(g.ann.Show(ctx, g.id)); len(v.Items) != 2 || len(v.Removed) != 0 {
		t.Errorf("after Tom was put out: %v, %v", texts(v.Items), texts(v.Removed))
	}
}

// Only the signer of a removal gives its reason, whatever date another member's note has.
func TestOnlyTheSignerGivesTheReason(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	bo := newHome(t, g.mei.founder.Relay, new(ticks)) // its clock is behind
	must[serve.CommunityView](t)(g.mei.Invite(ctx, g.id, serve.CommunityInvite{Who: "owner=" + bo.request(t), Moderator: true}))
	must[serve.CommunityView](t)(bo.Join(ctx, g.link, ""))
	ann := g.ann.member(t, g.id).String()
	for range 2 { // before it and after it
		must[serve.CommunityView](t)(bo.with(ctx, g.id, func(sp *space, _ *serve.CommunityView) error {
			return sp.note(ctx, noteRemoval, ann, "a slander")
		}))
		if v := must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)); v.People == 4 {
			must[serve.CommunityView](t)(g.mei.Remove(ctx, g.id, serve.CommunityRemoval{What: "Tom", Reason: "asleep"}, g.mei.founder.Root))
			must[serve.CommunityView](t)(g.mei.Remove(ctx, g.id, serve.CommunityRemoval{What: "Ann", Reason: "by her wish"}, nil))
		}
	}
	want := map[string]string{"Tom": "asleep", "Ann": "by her wish"}
	for _, d := range must[serve.CommunityView](t)(bo.Show(ctx, g.id)).Log {
		if d.Did == didPutOut && (d.By != "Mei" || d.Why != want[d.What]) {
			t.Errorf("%+v", d)
		}
	}
}

// Somebody whom a moderator appoints with a modified program is a member, and the log says
// so. The owner can remove that member.
func TestModeratorCannotAppoint(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	bo := newHome(t, g.mei.founder.Relay, new(ticks))
	must[serve.CommunityView](t)(g.tom.with(ctx, g.id, func(sp *space, _ *serve.CommunityView) error {
		q, err := envelope.ParseRequest(bo.request(t))
		if err != nil {
			return err
		}
		return sp.replica.AddMember(ctx, envelope.Member{ID: q.Member(sp.id), Key: q.Key, Recipient: q.Recipient, Role: envelope.Owner}, "Bo")
	}))
	v := must[serve.CommunityView](t)(bo.Join(ctx, g.link, ""))
	if last := v.Log[len(v.Log)-1]; v.Role != roleMember || !strings.Contains(last.Why, "counts as a member") {
		t.Errorf("Bo is %s, %+v", v.Role, last)
	}
	if _, err := g.tom.Remove(ctx, g.id, serve.CommunityRemoval{What: "Bo", Reason: "so"}, g.tom.founder.Root); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("a moderator puts out an owner of the log: %v", err)
	}
	v = must[serve.CommunityView](t)(g.mei.Ask(ctx, g.id, "who is Bo"))
	v = must[serve.CommunityView](t)(g.mei.Remove(ctx, g.id, serve.CommunityRemoval{What: "Bo", Reason: "nobody knows"}, g.mei.founder.Root))
	if v.People != 3 || !strings.Contains(v.Questions[0].Knows, "3 members, and the 1 who could read it before") {
		t.Errorf("%d members, %q", v.People, v.Questions[0].Knows)
	}
}

// A removal has its reason even if the program was killed between the two. If the reason
// can't be sent to any member, nobody is removed.
func TestRemovalHasAReason(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	if _, err := g.mei.Remove(ctx, g.id, serve.CommunityRemoval{What: "Ann", Reason: strings.Repeat("x", memory.MaxText+1)}, nil); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a long reason: %v", err)
	}
	if v := must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)); v.People != 3 {
		t.Fatalf("%d members after a removal that was refused", v.People)
	}
	at := must[serve.CommunityView](t)(g.mei.Show(ctx, g.id)).ID
	ann, tom := g.ann.member(t, g.id), g.tom.member(t, g.id)
	if err := g.mei.in(ctx, at, func(sp *space) error {
		sp.record.Reasons = map[memory.MemberID]string{ann: "sold questions", tom: "was never put out"}
		return errors.Join(sp.save(ctx), sp.removeMember(ctx, ann, nil))
	}); err != nil {
		t.Fatal(err)
	}
	if err := g.mei.Maintain(ctx, g.mei.giver, g.mei.founder.Root); err != nil {
		t.Fatal(err)
	}
	v := must[serve.CommunityView](t)(g.tom.Show(ctx, g.id))
	if last := v.Log[len(v.Log)-1]; last.Did != didPutOut || last.Why != "sold questions" || v.People != 2 {
		t.Errorf("%d members, %+v", v.People, last)
	}
}

// What a member withdrew also counts, in each home alike. A member who may say no more can
// still leave, and remove with a reason.
func TestStatementsPerMemberAreBounded(t *testing.T) {
	g := newGardeners(t, new(ticks))
	ctx := t.Context()
	tom := g.tom.member(t, g.id)
	v := must[serve.CommunityView](t)(g.tom.with(ctx, g.id, func(sp *space, _ *serve.CommunityView) error {
		for range 3 {
			c, err := noted(noteQuestion, "", "is it late")
			id := sp.me.LineID(randomID())
			err = errors.Join(err, sp.commitAssertions(ctx, memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: &c}))
			if err = errors.Join(err, sp.commitAssertions(ctx, memory.Assertion{Memory: id, Act: memory.ActErase})); err != nil {
				return err
			}
		}
		return sp.note(ctx, noteQuestion, "", "is it early")
	}))
	must[serve.CommunityView](t)(g.mei.Show(ctx, g.id))
	for who, h := range map[string]*home{"its author": g.tom, "another": g.mei} {
		if err := h.in(ctx, v.ID, func(sp *space) error {
			err := sp.wall.count(ctx)
			if got := sp.wall.said[tom]; got != 4 {
				t.Errorf("%s counts %d", who, got)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.tom.in(ctx, v.ID, func(sp *space) error {
		if err := sp.wall.count(ctx); err != nil {
			return err
		}
		sp.wall.said[tom] = MaxSaid - spare
		if err := sp.note(ctx, noteQuestion, "", "one more"); !errors.Is(err, serve.ErrConflict) {
			t.Errorf("asked beyond the limit: %v", err)
		}
		return sp.note(ctx, noteLeaving, "", "leaves")
	}); err != nil {
		t.Errorf("who may say no more does not leave: %v", err)
	}
}
