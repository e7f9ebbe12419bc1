package node_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/remote"
)

// A node shares what its index finds, without the names that it knows.
func TestNodeShares(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 51)
	d.init()
	d.said("We met Zuzana at the lake")
	no := false
	for _, text := range []string{"Zuzana waters the tomatoes every evening.", "The tomatoes in the garden are ripe.", "Maja's bank is in Basel."} {
		r := serve.AddRequest{Text: text, Infer: &no}
		if _, err := d.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	reader := &share.Reader{Dir: t.TempDir(), Reserve: 1}
	key, words, err := reader.Key()
	if err != nil {
		t.Fatal(err)
	}
	r := serve.ShareRequest{Query: "tomatoes", Redact: []string{"Zuzana", "times"}, To: []string{"Ann=" + key}, Expires: time.Now().Add(time.Hour)}
	p, err := d.PreviewShare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Memories) != 2 || len(p.Readers) != 1 || p.Readers[0].Words != words {
		t.Fatalf("preview %+v", p)
	}
	for _, m := range p.Memories {
		if strings.Contains(m.Text, "Zuzana") || strings.Contains(m.Text, "evening") {
			t.Errorf("the reader would see %q", m.Text)
		}
	}
	r.Confirm = p.Confirm
	d.tell("Tomatoes are red.", nil)
	if _, err := d.CreateShare(t.Context(), r); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("another one has come since: %v", err)
	}
	r.Confirm = ""
	s, err := d.CreateShare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	link, err := share.ParseLink(s.Link)
	if err != nil {
		t.Fatal(err)
	}
	o, err := reader.Open(t.Context(), link)
	if err != nil || len(o.Memories) != 3 {
		t.Fatalf("%+v, %v", o, err)
	}
	v, err := d.Share(t.Context(), s.ID.String())
	if err != nil || len(v.Memories) != 3 {
		t.Errorf("%+v, %v", v, err)
	}

	d.reopen() // records and keys are kept
	list, err := d.Shares(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != s.ID || list[0].Memories != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	page, err := d.List(t.Context(), serve.ListQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range page.Memories {
		if strings.Contains(m.Text, "ripe") {
			if err := d.Delete(t.Context(), m.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Deleting has already updated the share, so an update finds nothing to do.
	u, err := d.UpdateShare(t.Context(), s.ID.String())
	if err != nil || u.Removed != 0 || u.Added != 0 || u.Share.Memories != 2 {
		t.Errorf("%+v, %v", u, err)
	}
	if o, err := reader.Open(t.Context(), link); err != nil || len(o.Memories) != 2 {
		t.Errorf("what was erased: %+v, %v", o, err)
	}
	if s, err = d.RevokeShare(t.Context(), s.ID.String(), ""); err != nil || s.Revoked.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := reader.Open(t.Context(), link); !errors.Is(err, share.ErrNotShared) {
		t.Errorf("after revocation: %v", err)
	}
	if _, err := d.PreviewShare(t.Context(), serve.ShareRequest{Query: "submarines in Antarctica", To: []string{key}}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("nothing is known of that: %v", err)
	}
}

// The wearer is told that the relay does not answer. A share that can't be revoked now is revoked later.
func TestNodeSharesWithoutTheRelay(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 52)
	d.init()
	d.tell("The tomatoes in the garden are ripe.", nil)
	key, _, err := (&share.Reader{Dir: t.TempDir(), Reserve: 1}).Key()
	if err != nil {
		t.Fatal(err)
	}
	r := serve.ShareRequest{Query: "tomatoes", To: []string{key}}
	s, err := d.CreateShare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	relay.stop()
	if _, err := d.CreateShare(t.Context(), r); !errors.Is(err, serve.ErrRelay) {
		t.Errorf("a new share: %v", err)
	}
	if _, err := d.RevokeShare(t.Context(), s.ID.String(), ""); !errors.Is(err, serve.ErrRelay) {
		t.Errorf("revoking: %v", err)
	}
	list, err := d.Shares(t.Context())
	if err != nil || !slices.ContainsFunc(list, func(o serve.Share) bool { return o.ID == s.ID && o.Revoking }) {
		t.Errorf("%+v, %v", list, err)
	}
}

// A worker of the wearer's space reads the log until its grant is revoked; a
// worker of a feed never gets access to the wearer's space.
func TestThreatWorkerAsksForAnotherSpace(t *testing.T) {
	relay := serveRelay(t)
	d := newDevice(t, relay.url, 52)
	d.init()
	d.home("Graz")
	d.well()
	at, err := remote.New(relay.url, remote.Option{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(at.Close)
	for _, feed := range []bool{false, true} {
		w, err := keyring.ReaderKey(t.TempDir() + "/key")
		if err != nil {
			t.Fatal(err)
		}
		m := membership.MemberOf(w, envelope.Extractor)
		request, err := envelope.SignRequest(envelope.Request{Key: m.Key, Recipient: m.Recipient}, w.Sign)
		if err != nil {
			t.Fatal(err)
		}
		g, err := d.AddGrant(t.Context(), serve.GrantRequest{Key: request, Name: "studio", Types: []memory.Type{memory.Semantic}, Feed: feed})
		if err != nil {
			t.Fatal(err)
		}
		welcome, err := envelope.ParseWelcome(g.Welcome)
		if err != nil || welcome.Space != g.Space || g.Member != envelope.MemberOf(m.Key, g.Space) {
			t.Fatalf("%+v, %v", g, err)
		}
		there := at.Space(g.Space, g.Member, w.SignRequest)
		entries, err := there.Log(t.Context(), 0)
		if err != nil || entries[0].Hash() != welcome.Genesis {
			t.Fatalf("the worker: %v", err)
		}
		state, err := envelope.VerifyLog(entries)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := state.Member(g.Member); !ok || got.Role != envelope.Extractor || len(got.Grant) == 0 {
			t.Errorf("in the log as %+v", got)
		}
		own := at.Space(ownSpace(t, d), envelope.MemberOf(m.Key, ownSpace(t, d)), w.SignRequest)
		if _, err := own.Log(t.Context(), 0); (err == nil) == feed {
			t.Errorf("feed %v: the wearer's space: %v", feed, err)
		}
		list, err := d.Grants(t.Context())
		if err != nil || !slices.ContainsFunc(list, func(o serve.Grant) bool {
			return o.Member == g.Member && o.Name == "studio" && o.Feed == feed && o.Removed.IsZero() && o.PerEvidence == 16
		}) {
			t.Errorf("%+v, %v", list, err)
		}
		if feed {
			if n, err := d.TendGrants(t.Context()); err != nil || n.Feeds != 1 {
				t.Errorf("%+v, %v", n, err)
			}
		}
		before := d.sync()
		if _, err := d.RevokeGrant(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if _, err := there.Log(t.Context(), 0); !errors.Is(err, remote.ErrForbidden) {
			t.Errorf("after revocation: %v", err)
		}
		if after := d.sync(); after.Error != "" || before.Error != "" {
			t.Errorf("sync: %+v", after)
		}
		if _, err := d.RevokeGrant(t.Context(), request); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("revoke twice: %v", err)
		}
	}
	for _, bad := range []serve.GrantRequest{{Key: "x", Types: []memory.Type{memory.Vault}}, {Key: "x", Types: []memory.Type{memory.Core}}, {Key: "x"},
		{Key: "x", Types: []memory.Type{memory.Core}, Recordings: true}} {
		if _, err := d.AddGrant(t.Context(), bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// ownSpace returns the wearer's space.
func ownSpace(t *testing.T, d *device) memory.SpaceID {
	t.Helper()
	ring, err := keyring.Open(d.cfg.Home + "/keys")
	if err != nil {
		t.Fatal(err)
	}
	return ring.Space()
}
