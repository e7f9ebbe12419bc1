package node_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// noNetwork reaches nobody.
type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("network: is unreachable")
}

// offline cuts a device off until the returned function is called.
func (d *device) offline() (online func()) {
	was := d.net.next
	d.net.next = noNetwork{}
	return func() {
		d.net.next = was
		d.skew += time.Minute // it tries again
	}
}

// cool turns cold whatever can be: what was told three days ago.
func (d *device) cool() serve.MoveAnswer {
	d.t.Helper()
	a, err := d.MoveTiers(d.t.Context(), serve.MoveRequest{Cool: true})
	if err != nil {
		d.t.Fatal(err)
	}
	return a
}

// newWearable has told that many facts, and keeps at most five of them here.
func newWearable(t *testing.T, relay string, facts int) (d *device, ids []memory.ID) {
	t.Helper()
	d = newDevice(t, relay, 1)
	d.skew = -72 * time.Hour
	d.init()
	for i := range facts {
		ids = append(ids, d.tell(fmt.Sprintf("The kettle number %d stands in room %d.", i, 100+i), nil))
	}
	d.skew = 0
	d.cfg.Hot.Records = 5
	d.reopen()
	d.well()
	return d, ids
}

func (d *device) find(query string) serve.SearchResult {
	d.t.Helper()
	r, err := d.Search(d.t.Context(), serve.SearchRequest{Query: query, Only: "memories", K: 1})
	if err != nil || len(r.Hits) == 0 {
		d.t.Fatalf("%q: %+v, %v", query, r, err)
	}
	return r
}

// What exceeds the budget turns cold once the relay has it, comes back unchanged
// when it is recalled, and is named where it can't be fetched.
func TestHotAndCold(t *testing.T) {
	relay := serveRelay(t)
	d, ids := newWearable(t, relay.url, 12)
	ctx := t.Context()
	if _, err := d.Pin(ctx, ids[3], true); err != nil {
		t.Fatal(err)
	}
	was, err := d.Get(ctx, ids[4])
	if err != nil {
		t.Fatal(err)
	}
	d.well()
	if a := d.cool(); a.Hot != 5 || a.Cold != 7 || a.Cooled != 7 || a.Packs == 0 || a.Blocked != "" {
		t.Fatalf("%+v", a)
	}
	d.reopen()

	online := d.offline()
	if m, err := d.Get(ctx, ids[3]); err != nil || m.Text == "" {
		t.Errorf("a pinned memory: %+v, %v", m, err)
	}
	r := d.find("kettle number 4")
	if h := r.Hits[0]; r.Missing != 1 || !h.Cold || h.ID != ids[4] || h.Text != "" || h.Memory == nil || !h.Memory.Cold || h.Memory.Type != was.Type {
		t.Errorf("without a network: %+v", r)
	}
	if _, err := d.Get(ctx, ids[4]); !errors.Is(err, serve.ErrCold) {
		t.Errorf("got without a network: %v", err)
	}
	for _, err := range d.Export(ctx, serve.ExportOptions{}) {
		if err != nil && (!errors.Is(err, serve.ErrCold) || !strings.Contains(err.Error(), "7 memories")) {
			t.Errorf("exported without a network: %v", err)
		}
	}
	if s, err := d.Tiers(ctx); err != nil || s.Missing == "" {
		t.Errorf("%+v, %v", s, err)
	}
	online()

	r = d.find("kettle number 4")
	if h := r.Hits[0]; r.Missing != 0 || h.Cold || h.Text != was.Text {
		t.Errorf("with a network: %+v", r)
	}
	if m, err := d.Get(ctx, ids[4]); err != nil || plain(t, m) != plain(t, was) {
		t.Errorf("came back as %+v, %v", m, err)
	}
	n := 0
	for r, err := range d.Export(ctx, serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == archive.KindAssertion {
			n++
		}
	}
	if n != 13 { // 12 facts and a pin
		t.Errorf("%d assertions were exported", n)
	}
	if m, err := d.Pin(ctx, ids[9], true); err != nil || !m.Pinned {
		t.Errorf("a cold memory, pinned: %+v, %v", m, err)
	}
	if h, err := d.History(ctx, ids[5]); err != nil || len(h) == 0 {
		t.Errorf("history of a cold memory: %+v, %v", h, err)
	}
	if a, err := d.MoveTiers(ctx, serve.MoveRequest{All: true}); err != nil || a.Cold != 0 || a.Hot != 12 || a.Back == 0 {
		t.Errorf("everything back: %+v, %v", a, err)
	}
}

// An index that can no longer be read is rebuilt, including what is cold.
func TestColdMemoriesAreReindexed(t *testing.T) {
	relay := serveRelay(t)
	d, ids := newWearable(t, relay.url, 7)
	d.cool()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(d.cfg.Home, "store", "blobs", "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatal(blobs, err)
	}
	for _, b := range blobs { // the index's segments: there are no other blobs
		if err := os.Truncate(b, 20); err != nil {
			t.Fatal(err)
		}
	}
	d.open()
	d.cool()
	for i, id := range ids {
		if r := d.find(fmt.Sprintf("kettle number %d", i)); r.Hits[0].ID != id || r.Hits[0].Text == "" {
			t.Errorf("kettle %d: %+v", i, r.Hits[0])
		}
	}
}

// Without a relay, and before the relay has it, nothing turns cold.
func TestUnsentMemoriesStayHot(t *testing.T) {
	relay := serveRelay(t)
	d, _ := newWearable(t, relay.url, 8)
	d.skew = -72 * time.Hour
	late := d.tell("The lamp is on the stairs.", nil)
	d.skew = 0
	online := d.offline()
	a, err := d.MoveTiers(t.Context(), serve.MoveRequest{Cool: true})
	if err == nil && a.Cooled > 0 {
		t.Errorf("without a network: %+v", a)
	}
	online()
	d.cool()
	online = d.offline()
	if m, err := d.Get(t.Context(), late); err != nil || m.Text == "" {
		t.Errorf("what was never sent: %+v, %v", m, err)
	}
	online()

	alone := newDevice(t, "", 1)
	alone.skew = -72 * time.Hour
	alone.init()
	for i := range 8 {
		alone.tell(fmt.Sprintf("Fact %d", i), nil)
	}
	alone.skew, alone.cfg.Hot.Records = 0, 5
	alone.reopen()
	if a := alone.cool(); a.Cold != 0 || !strings.Contains(a.Blocked, "sync.relay") {
		t.Errorf("without a relay: %+v", a)
	}
}

// Forgetting reaches cold memories: by id without a network, by words with one;
// and what else was in the same delta remains available to others.
func TestForgetColdMemories(t *testing.T) {
	relay := serveRelay(t)
	d, ids := newWearable(t, relay.url, 12)
	ctx := t.Context()
	d.cool()
	online := d.offline()
	if s, err := d.Tiers(ctx); err != nil || s.Cold != 7 {
		t.Fatalf("%+v, %v", s, err)
	}
	var cold []memory.ID
	for _, id := range ids {
		if _, err := d.Get(ctx, id); errors.Is(err, serve.ErrCold) {
			cold = append(cold, id)
		}
	}
	if err := d.Delete(ctx, cold[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Get(ctx, cold[0]); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("what was erased: %v", err)
	}
	if _, err := d.PlanForget(ctx, serve.ForgetSelection{Query: "kettle"}); !errors.Is(err, serve.ErrCold) {
		t.Errorf("by words, without a network: %v", err)
	}
	online()
	d.sync() // what is in the same delta is wanted back
	d.cool()
	d.sync()
	plan, err := d.PlanForget(ctx, serve.ForgetSelection{Query: "kettle number " + fmt.Sprint(indexOf(ids, cold[1])) + " stands"})
	if err != nil || len(plan.Memories) != 1 || plan.Memories[0].ID != cold[1] {
		t.Fatalf("by words: %+v, %v", plan, err)
	}
	if _, err := d.Forget(ctx, plan); err != nil {
		t.Fatal(err)
	}
	d.cool()
	d.well()
	d.cool()
	d.well()

	fresh := newDevice(t, relay.url, 2)
	d.pair(fresh)
	fresh.well()
	fresh.well()
	page, err := fresh.List(ctx, serve.ListQuery{Limit: 100})
	if err != nil || len(page.Memories) != 10 {
		t.Errorf("another device has %d memories, %v", len(page.Memories), err)
	}
	for _, m := range page.Memories {
		if m.ID == cold[0] || m.ID == cold[1] {
			t.Errorf("another device has %q", m.Text)
		}
	}
}

func indexOf(ids []memory.ID, id memory.ID) int {
	for i := range ids {
		if ids[i] == id {
			return i
		}
	}
	return -1
}

// What another device says about a memory that is cold here also applies here
// once the memory is back.
func TestAssertionsAboutColdMemories(t *testing.T) {
	relay := serveRelay(t)
	d, ids := newWearable(t, relay.url, 12)
	ctx := t.Context()
	phone := newDevice(t, relay.url, 2)
	d.pair(phone)
	phone.well()
	d.well()
	d.cool()
	text := "The kettle number 2 was given away."
	if _, err := phone.Update(ctx, ids[2], serve.UpdateRequest{Text: &text}); err != nil {
		t.Fatal(err)
	}
	phone.well()
	d.well()
	d.cool() // which fetches what is wanted
	if m, err := d.Get(ctx, ids[2]); err != nil || m.Text != text {
		t.Errorf("%+v, %v", m, err)
	}
	if a, err := d.MoveTiers(ctx, serve.MoveRequest{All: true}); err != nil || a.Cold != 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	if a, b := d.state(), phone.state(); a != b {
		t.Errorf("here:\n%s\nthere:\n%s", a, b)
	}
}

// Requests of apps fetch nothing: it is not known beforehand whether the app may
// see a cold memory, and the stream of changes would bring back all of them.
func TestAppsDoNotFetchColdMemories(t *testing.T) {
	relay := serveRelay(t)
	d, ids := newWearable(t, relay.url, 12)
	ctx := t.Context()
	cold := d.cool().Cold
	if _, err := d.Get(ctx, ids[3]); cold == 0 || err != nil { // the owner's request does
		t.Fatal(cold, err)
	}
	cold = d.cool().Cold
	c := serve.InProcess(serve.New(serve.Options{Services: d.Services()}))
	defer c.Close()
	n, err := c.AddApp(ctx, serve.AppRequest{Name: "reader", Can: []serve.Right{serve.RightRead}, Types: []string{"episodic"}})
	if err != nil {
		t.Fatal(err)
	}
	app := c.WithKey(n.Key)
	for ch, err := range app.Changes(ctx, 0, false) {
		t.Errorf("%+v, %v", ch, err)
	}
	for _, id := range ids {
		if _, err := app.Get(ctx, id.String()); !errors.Is(err, memory.ErrNotFound) {
			t.Error(err)
		}
	}
	if s, err := d.Tiers(ctx); err != nil || s.Cold != cold {
		t.Errorf("%d were cold: %+v, %v", cold, s, err)
	}
}
