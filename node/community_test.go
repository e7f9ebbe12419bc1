package node_test

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Two nodes pool memories through their APIs: what one adds, as its policy allows, is
// found at the other, marked with its author, until the author is removed.
func TestCommunityOfTwoNodes(t *testing.T) {
	relay := serveRelay(t)
	ann, ben := newDevice(t, relay.url, 71), newDevice(t, relay.url, 72)
	ctx := t.Context()
	ann.init()
	ben.init()
	ann.tell("The tomatoes want water every second day.", nil)
	a, b := serve.InProcess(serve.New(serve.Options{Services: ann.Services()})), serve.InProcess(serve.New(serve.Options{Services: ben.Services()}))
	defer a.Close()
	defer b.Close()

	made, err := b.NewCommunity(ctx, serve.NewCommunity{Name: "Gardeners", As: "Ben"})
	if err != nil || made.Role != "owner" {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := b.NewCommunity(ctx, serve.NewCommunity{Name: "Gardeners"}); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("another of that name: %v", err)
	}
	if _, err := a.JoinCommunity(ctx, serve.JoinCommunity{Link: made.Link, Name: "Beds"}); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("joined without being let in: %v", err)
	}
	key, err := a.GivenKey(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.InviteTo(ctx, "Gardeners", serve.CommunityInvite{Who: "Ann=" + key.Key}); err != nil {
		t.Fatal(err)
	}
	if v, err := a.JoinCommunity(ctx, serve.JoinCommunity{Link: made.Link, Name: "Beds"}); err != nil || v.Role != "member" || v.People != 2 {
		t.Fatalf("%+v, %v", v, err)
	}

	all := serve.ShareRequest{Types: []memory.Type{memory.Semantic}}
	if _, err := a.SetPolicy(ctx, `forbid (principal == Community::"Beds", action, resource);`); err != nil {
		t.Fatal(err)
	}
	if _, err := a.PreviewCommunity(ctx, "Beds", all); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("the policy forbids it: %v", err)
	}
	if _, err := a.SetPolicy(ctx, ""); err != nil {
		t.Fatal(err)
	}
	p, err := a.PreviewCommunity(ctx, "Beds", all)
	if err != nil || len(p.Memories) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	all.Confirm = p.Confirm
	if v, err := a.AddToCommunity(ctx, "Beds", all); err != nil || len(v.Items) != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	if v, err := b.Community(ctx, made.ID.String()[:6]); err != nil || len(v.Items) != 1 || v.Items[0].By != "Ann" {
		t.Fatalf("%+v, %v", v, err)
	}
	search := func() []serve.Hit {
		t.Helper()
		r, err := b.Search(ctx, serve.SearchRequest{Query: "when do the tomatoes want water"})
		if err != nil {
			t.Fatal(err)
		}
		return r.Hits
	}
	if hits := search(); len(hits) != 1 || hits[0].SharedBy == nil || hits[0].SharedBy.By != "Ann in Gardeners" {
		t.Errorf("Ben's search: %+v", hits)
	}
	if _, err := b.RemoveFrom(ctx, "Gardeners", serve.CommunityRemoval{What: "Ann", Reason: "sold questions"}); err != nil {
		t.Fatal(err)
	}
	if hits := search(); len(hits) != 0 {
		t.Errorf("what was removed answers: %+v", hits)
	}
	if _, err := a.Community(ctx, "Beds"); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("Ann reads on: %v", err)
	}
	if err := b.LeaveCommunity(ctx, "Gardeners"); err != nil {
		t.Fatal(err)
	}
	if list, err := b.Communities(ctx); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
