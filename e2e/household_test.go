package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/internal/player"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// wearing is a day that its wearables publish to an existing broker.
type wearing struct {
	t     *testing.T
	all   int
	acked atomic.Int64
	done  chan error
}

func (m *mosquitto) wear(d *day.Day) *wearing {
	events := slices.Collect(d.Events())
	w := &wearing{t: m.t, all: len(events), done: make(chan error, 1)}
	go func() {
		ctx, cancel := context.WithTimeout(m.t.Context(), patience)
		defer cancel()
		rep, err := player.Play(ctx, player.Config{URL: m.url(), TLS: m.tls(), Password: func(device string) string { return "secret-of-" + device },
			Answer: func(_ day.Event, why error) {
				if why == nil {
					w.acked.Add(1)
				}
			}}, events)
		if err == nil && rep.Acked != len(events) {
			err = fmt.Errorf("%d of %d events acknowledged", rep.Acked, len(events))
		}
		w.done <- err
	}()
	return w
}

// reach waits until n events were acknowledged.
func (w *wearing) reach(n int) {
	w.t.Helper()
	until(w.t, fmt.Sprintf("%d events are acknowledged", n), func() bool { return w.acked.Load() >= int64(n) })
}

// end waits until every event was acknowledged.
func (w *wearing) end() {
	w.t.Helper()
	if err := <-w.done; err != nil {
		w.t.Fatal(err)
	}
}

// answer returns the first hit.
func (h *home) answer(question string) string {
	h.t.Helper()
	var res serve.SearchResult
	h.mustJSON(&res, "search", question)
	if len(res.Hits) == 0 {
		return ""
	}
	return res.Hits[0].Text
}

// heard returns the workers' results for recordings and photos, by tag.
func (h *home) heard() map[string][]string {
	h.t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(h.must("--json", "list", "--type", "resource", "--limit", "500")) {
		var m memory.Memory
		mustParse(h.t, line, &m)
		if m.Rank != memory.RankCloud {
			continue
		}
		for _, tag := range m.Tags {
			out[tag] = append(out[tag], strings.ToLower(m.Text+" "+m.Fields.Resource.Content))
		}
	}
	return out
}

// engines fails the test if the worker can't hear or read.
func engines(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(cloud(t, "--json", "worker", "engines")) {
		var f struct {
			Kind, Engine, Need string
			Present            bool
		}
		mustParse(t, line, &f)
		if !f.Present && f.Kind != "language" { // no test here needs it
			t.Fatalf("%s: %s is missing: %s", f.Kind, f.Engine, f.Need)
		}
	}
}

// hire lets a worker in for recordings and photos, makes it work until it heard and read, and
// removes it.
func (h *home) hire() (heard map[string][]string) {
	t := h.t
	t.Helper()
	dir := filepath.Join(t.TempDir(), "worker")
	var asked struct{ Request string }
	mustParse(t, cloud(t, "--json", "worker", "invite-key", "--home", dir), &asked)
	var g serve.Grant
	h.mustJSON(&g, "grant", "worker", asked.Request, "--name", "the PC at home", "--types", "resource", "--transcribe", "--feed", "--recordings")
	cloud(t, "worker", "join", "--home", dir, "--relay", g.Relay, g.Welcome)

	log := new(logbook.Book)
	w := exec.Command(filepath.Join(bin, "locket-cloud"), "worker", "--home", dir)
	w.Stdout, w.Stderr = log, log
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- w.Wait() }()
	defer func() {
		w.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Errorf("locket-cloud worker: %v\n%s", err, log)
		}
		if t.Failed() {
			t.Logf("the worker: %s\n%s", log, cloud(t, "worker", "jobs", "--home", dir))
		}
	}()
	until(t, "the worker has heard and read", func() bool {
		h.must("grant", "tend")
		heard = h.heard()
		return len(heard[result.TagTranscript]) > 0 && len(heard[result.TagPrint]) > 0
	})
	h.must("grant", "revoke", g.Member.String())
	return heard
}

// lend shares how things are done with a stranger, who opens it, and takes it back.
func (h *home) lend() {
	t := h.t
	t.Helper()
	stranger := &home{t: t, dir: filepath.Join(t.TempDir(), "stranger")}
	var key struct{ Key string }
	stranger.mustJSON(&key, "share", "key")
	var s serve.Share
	h.mustJSON(&s, "share", "create", "--type", "procedural", "--redact", "names", "--to", "a stranger="+key.Key, "--title", "how things are done", "--yes")
	var seen struct{ Memories []memory.Memory }
	stranger.mustJSON(&seen, "share", "open", s.Link)
	if s.Memories == 0 || len(seen.Memories) != s.Memories {
		t.Errorf("%d memories were shared, the stranger sees %d", s.Memories, len(seen.Memories))
	}
	for _, m := range seen.Memories {
		if m.Type != memory.Procedural || strings.Contains(m.Text, "Mei") {
			t.Errorf("the stranger sees %s %q", m.Type, m.Text)
		}
	}
	other := &home{t: t, dir: filepath.Join(t.TempDir(), "other")}
	if out, errs, code := other.try("share", "open", s.Link); code == 0 {
		t.Errorf("another stranger opens it: %s%s", out, errs)
	}
	h.must("share", "revoke", s.ID.String())
	if out, errs, code := stranger.try("share", "open", s.Link); code != 1 || !strings.Contains(errs, "revoked") {
		t.Errorf("revoked, and the stranger's open exits with %d: %s%s", code, out, errs)
	}
	if out := stranger.must("share", "open", "--offline", s.Link); strings.TrimSpace(out) == "" {
		t.Error("what was fetched before the revocation is gone: the promise says otherwise")
	}
}

// A household, each part of which is a process: glasses behind a broker with TLS, a relay, a phone,
// a worker and a stranger. Glasses, phone and relay are each killed while something is running.
func TestHouseholdOfProcesses(t *testing.T) {
	t.Parallel()
	engines(t)
	d, err := day.Fixed()
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(5, 6))
	within := func(most time.Duration) { wait(time.Duration(chance.Int64N(int64(most)))) }
	r := newRelay(t)
	m := newMosquitto(t)
	m.start()
	glasses := m.node()
	for _, kind := range []string{"audio", "photo", "utterance"} { // the day is long past, and a node sweeps when it starts
		glasses.run = append(glasses.run, "--set", "retention."+kind+".age=36500d")
	}
	glasses.run = append(glasses.run, "--set", "sync.relay="+r.url, "--set", "wearer="+d.Wearer, "--set", "zone="+d.Zone)
	g := glasses.start()

	worn := m.wear(d)
	worn.reach(1 + chance.IntN(worn.all/2))
	g.kill()
	kept := len(glasses.utterances())
	glasses.start()
	worn.end()
	question := "Where did I put my passport?"
	until(t, "the glasses know where the passport is", func() bool { return strings.Contains(glasses.answer(question), "blue folder") })

	quiet := talking(t, m.wearable("pin"), 20*time.Millisecond) // throughout the pairing and the kills
	phone := glasses.letIn("phone")
	p := phone.start()
	until(t, "the phone hears something", func() bool { return len(phone.holdings()) > 0 })
	within(500 * time.Millisecond)
	r.kill()
	within(500 * time.Millisecond)
	r.start()
	before := len(phone.holdings())
	until(t, "the phone hears something new", func() bool { return len(phone.holdings()) > before })
	within(500 * time.Millisecond)
	p.kill()
	phone.start()
	rs := quiet()
	acknowledged(t, rs...)

	said := len(rs)
	for _, l := range d.Lines {
		if l.Kind == "text" {
			said++
		}
	}
	enough := func(have map[string]bool) bool { return len(have) > said }
	// The broker acknowledged, and keeps what the glasses have not taken yet. Sentences become
	// memories, too, so a number of records equal to that of sentences does not mean that all have
	// come.
	until(t, "the glasses and the phone hear the last sentence", func() bool {
		last := rs[len(rs)-1].ID
		return glasses.utterances()[last] != "" && phone.utterances()[last] != ""
	})
	converge(t, glasses, phone, enough)
	glasses.knows(rs)
	phone.knows(rs)
	if here, there := glasses.answer(question), phone.answer(question); here != there || here == "" {
		t.Errorf("%s The glasses say %q, the phone %q", question, here, there)
	}

	heard := glasses.hire()
	if text := fmt.Sprint(heard[result.TagTranscript]); !strings.Contains(text, "country") {
		t.Errorf("heard: %s", text)
	}
	glasses.lend()

	have := converge(t, glasses, phone, enough)
	if there := phone.heard(); len(there[result.TagTranscript]) == 0 || len(there[result.TagPrint]) == 0 {
		t.Errorf("what the worker made is not on the phone: %v", there)
	}
	words := []string{"lighthouse", "Okafor", "Huaihai"} // shorter ones occur by chance
	for _, l := range d.Lines {
		if len(l.Text) > 12 {
			words = append(words, l.Text)
		}
	}
	for _, s := range d.Expect.Secrets {
		words = append(words, s.Value)
	}
	if found := filesHold(t, r.dir, words); found != nil {
		t.Errorf("in clear at the relay: %v", slices.Compact(found))
	}
	if found := filesHold(t, r.dir, []string{"SQLite format 3"}); found == nil {
		t.Error("the relay's folder has no database: nothing was looked through")
	}
	for _, w := range words {
		is := regexp.QuoteMeta(strings.ToLower(w))
		if strings.Trim(w, "0123456789") == "" { // a fraction of a second is not a code
			is = `(^|[^0-9.])` + is + `($|[^0-9])`
		}
		if regexp.MustCompile(is).MatchString(strings.ToLower(r.log.String())) {
			t.Errorf("the relay's log holds %q", w)
		}
	}
	for _, h := range []*home{glasses, phone} {
		if out := h.must("doctor", "--verify"); !strings.Contains(out, "every record") {
			t.Errorf("%s: doctor --verify: %s", filepath.Base(h.dir), out)
		}
	}
	t.Logf("%d records on both; the glasses were killed after %d of %d lines, and %d more were said through the other kills", len(have), kept, said-len(rs), len(rs))
}
