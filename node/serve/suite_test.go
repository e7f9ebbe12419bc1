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

// fresh returns a client of a node of its own, connected in one of the ways that
// clients use: within the process, over a socket, or over TCP with a token.
func fresh(t *testing.T, way string) *serve.Client {
	t.Helper()
	return connect(t, way, nodetest.New(t, nodetest.Cheap).Services())
}

// connect returns a client of services.
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

// TestService checks a node against what serve.Services promise, through the handler
// and the client; the tests alternate between the ways of connecting.
func TestService(t *testing.T) {
	tests := map[string]func(*testing.T, *serve.Client){
		"AddGetList": addGetList, "SameAgain": sameAgain, "KnownKeepsItsOwn": knownKeepsItsOwn, "ReplaceAndWhy": replaceAndWhy, "Correct": correct,
		"Pinned": pinned, "Erase": erase, "Forget": forgetTopic, "Conditions": conditions, "DeleteAll": deleteAll, "Search": search,
		"Context": contexts, "Asked": asked, "Modelless": modelless, "Engineless": engineless, "Lock": lock, "Vault": vault,
		"Pause": pause, "Devices": devices, "Changes": changes, "Diagnostics": diagnostics, "Batches": batches, "Secrets": secrets,
		"Alone": alone, "Plugins": plugins, "Dreams": dreams, "Steps": steps, "Blocks": blocks, "Then": then, "Conflicts": conflicts,
		"Reverts": reverts, "Zones": privateZones, "Retention": retention, "Media": mediaTopic, "Tiers": tiers, "Locksmith": locksmith,
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

// plain returns a request to add a text as it is.
func plain(text string) serve.AddRequest {
	no := false
	return serve.AddRequest{Text: text, Infer: &no}
}

// slot returns a fact that has one true value at a time.
func slot(attribute, value string) serve.AddRequest {
	r := plain("The wearer's " + attribute + " is " + value)
	r.Slot = &memory.Slot{Subject: "user", Attribute: attribute, Value: value}
	return r
}

// added adds, and returns the memory of the last change.
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
		return res.Changes[0].Memory // what happened to the new one comes first
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
	// Follow from there: what is there already does not come again, and what is added
	// while following is reported.
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

// secrets: what is said to be a password is in no answer until it is asked for.
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
	log, err := c.VaultLog(ctx, 0)
	reads := log.Reads
	if err != nil || len(reads) != 1 || reads[0].ID != page.Memories[0].ID || reads[0].Label != r.Label || reads[0].At.IsZero() {
		t.Fatalf("the log of readings: %+v, %v", reads, err)
	}
}
