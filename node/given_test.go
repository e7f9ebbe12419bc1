package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/given"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// What others share is found beside one's own memories, marked, and never becomes
// one's own; it is gone when it expires or is revoked.
func TestSharedMemoriesAreFound(t *testing.T) {
	relay := serveRelay(t)
	ann, ben := newDevice(t, relay.url, 61), newDevice(t, relay.url, 62)
	ctx := t.Context()
	ann.init()
	ann.tell("The tomatoes want water every second day.", nil)
	ann.tell("The basil stands beside the tomatoes.", nil)
	ann.home("Graz") // a slot that Ben has, too
	ben.init()
	own := ben.tell("My tomatoes stand on the balcony.", nil)
	ben.home("Porto")

	reader := &share.Reader{Dir: filepath.Join(ben.cfg.Home, "reader"), Reserve: 1, Now: func() time.Time { return time.Now().Add(ben.skew) }}
	key, _, err := reader.Key()
	if err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	shared, err := ann.CreateShare(ctx, serve.ShareRequest{Types: []memory.Type{memory.Semantic}, To: []string{"Ben=" + key}, Expires: until})
	if err != nil {
		t.Fatal(err)
	}
	link, err := share.ParseLink(shared.Link)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Open(ctx, link); err != nil {
		t.Fatal(err)
	}
	if err := reader.Name(ctx, link.Space, "Ann"); err != nil {
		t.Fatal(err)
	}

	c := serve.InProcess(serve.New(serve.Options{Services: ben.Services()}))
	defer c.Close()

	// The API returns the same key, and opens and leaves the share as the reader
	// does.
	if k, err := c.GivenKey(ctx); err != nil || k.Key != key || k.Words == "" {
		t.Fatalf("%+v, %v", k, err)
	}
	if err := c.LeaveGiven(ctx, link.Space); err != nil {
		t.Fatal(err)
	}
	if err := c.LeaveGiven(ctx, link.Space); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("it was left already: %v", err)
	}
	for bad, want := range map[string]error{"http://127.0.0.1:1/": memory.ErrInvalid, strings.Replace(shared.Link, relay.url, "http://127.0.0.1:1", 1): serve.ErrRelay} {
		if _, err := c.OpenGiven(ctx, serve.OpenGivenRequest{Link: bad}); !errors.Is(err, want) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if g, err := c.OpenGiven(ctx, serve.OpenGivenRequest{Link: shared.Link, From: " Ann "}); err != nil || g.By != "Ann" || len(g.Memories) != 3 {
		t.Fatalf("%+v, %v", g, err)
	}

	n, err := c.AddApp(ctx, serve.AppRequest{Name: "garden", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	blind, err := c.AddApp(ctx, serve.AppRequest{Name: "diary", Can: []serve.Right{serve.RightRead}, Types: []string{"episodic"}})
	if err != nil {
		t.Fatal(err)
	}
	const question = "when do the tomatoes want water"
	mark := serve.SharedBy{By: "Ann", Share: link.Space, Until: until}
	var theirs memory.ID
	for who, client := range map[string]*serve.Client{"the wearer": c, "an app": c.WithKey(n.Key)} {
		res, err := client.Search(ctx, serve.SearchRequest{Query: question})
		if err != nil || !res.Known || len(res.Hits) < 2 {
			t.Fatalf("%s: %+v, %v", who, res, err)
		}
		h := res.Hits[0]
		if !strings.Contains(h.Text, "water") || h.SharedBy == nil || *h.SharedBy != mark {
			t.Fatalf("%s is shown %+v, marked %+v", who, h, h.SharedBy)
		}
		for _, h := range res.Hits {
			if (h.ID == own) != (h.SharedBy == nil) {
				t.Errorf("%s: %q is marked %+v", who, h.Text, h.SharedBy)
			}
			sum := 0.0
			for _, p := range h.Parts {
				sum += p
			}
			if d := sum - h.Score; d < -1e-4 || d > 1e-4 {
				t.Errorf("%q: parts add up to %f of %f", h.Text, sum, h.Score)
			}
		}
		theirs = h.ID
		if m, err := client.Get(ctx, theirs.String()[:12]); err != nil || m.ID != theirs || m.Owner.User != "shared by Ann" {
			t.Errorf("%s gets %+v, %v", who, m, err)
		}
		around, err := client.Context(ctx, serve.ContextRequest{Topic: question})
		day := func(add int) bool { // the day is in the home's zone
			return strings.Contains(around.Text, "shared by Ann until "+until.AddDate(0, 0, add).Format(time.DateOnly))
		}
		if err != nil || !day(-1) && !day(0) && !day(1) {
			t.Errorf("%s has in mind:\n%s\n%v", who, around.Text, err)
		}
		said, err := client.Ask(ctx, serve.AskRequest{Question: question})
		if err != nil || !said.Known || len(said.Evidence) == 0 || said.Evidence[0].SharedBy == nil || *said.Evidence[0].SharedBy != mark {
			t.Errorf("%s is answered %+v, %v", who, said, err)
		}
	}
	if res, err := c.WithKey(blind.Key).Search(ctx, serve.SearchRequest{Query: question}); err != nil || len(res.Hits) != 0 {
		t.Errorf("an app that sees nothing of the kind: %+v, %v", res, err)
	}

	// It does not belong to the wearer: it is not listed, can't be changed, is not
	// known in the past, and Ann's home is not Ben's.
	page, err := c.List(ctx, serve.ListQuery{Limit: 100})
	if err != nil || len(page.Memories) != 2 {
		t.Errorf("Ben's own are %+v, %v", page.Memories, err)
	}
	if _, err := c.Delete(ctx, theirs.String()); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("it is Ann's to delete: %v", err)
	}
	text := "The tomatoes want no water."
	if _, err := c.Update(ctx, theirs.String(), serve.UpdateRequest{Text: &text}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("it is Ann's to change: %v", err)
	}
	if res, err := c.Search(ctx, serve.SearchRequest{Query: question, KnownAt: time.Now()}); err != nil || len(res.Hits) != 1 {
		t.Errorf("the past was not shared: %+v, %v", res.Hits, err)
	}
	if res, err := c.Search(ctx, serve.SearchRequest{Query: question, Only: serve.OnlyUtterances}); err != nil || len(res.Hits) != 0 {
		t.Errorf("lines were not shared: %+v, %v", res.Hits, err)
	}
	if res, err := c.Search(ctx, serve.SearchRequest{Query: "where do I live"}); err != nil || len(res.Hits) == 0 || res.Hits[0].SharedBy != nil {
		t.Errorf("where Ben lives: %+v, %v", res.Hits, err)
	}
	list, err := c.GivenShares(ctx)
	if err != nil || len(list) != 1 || list[0].By != "Ann" || len(list[0].Memories) != 3 || !list[0].Until.Equal(until) {
		t.Errorf("what is given: %+v, %v", list, err)
	}

	// It expires by the clock, without a network and without a process that checks.
	ben.skew = 49 * time.Hour
	if res, err := c.Search(ctx, serve.SearchRequest{Query: question}); err != nil || len(res.Hits) != 1 {
		t.Errorf("after it lapsed: %+v, %v", res.Hits, err)
	}
	if _, err := c.Get(ctx, theirs.String()); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("after it lapsed: %v", err)
	}
	ben.skew = 0
	if res, err := c.Search(ctx, serve.SearchRequest{Query: question}); err != nil || len(res.Hits) < 2 {
		t.Errorf("the clock is right again: %+v, %v", res.Hits, err)
	}

	// It is gone when it is revoked, once the relay was asked.
	if _, err := ann.RevokeShare(ctx, shared.ID.String(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Open(ctx, link); !errors.Is(err, share.ErrNotShared) {
		t.Fatal(err)
	}
	if _, err := c.OpenGiven(ctx, serve.OpenGivenRequest{Link: shared.Link}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("after it was revoked it is opened: %v", err)
	}
	if res, err := c.Search(ctx, serve.SearchRequest{Query: question}); err != nil || len(res.Hits) != 1 || res.Hits[0].ID != own {
		t.Errorf("after it was revoked: %+v, %v", res.Hits, err)
	}
	collection, err := given.Open(ctx, reader, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer collection.Close()
	if err := collection.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(ben.cfg.Home, "reader", "shares")); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if list, err := c.GivenShares(ctx); err != nil || len(list) != 0 {
		t.Errorf("what is given: %+v, %v", list, err)
	}
}
