package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

var cluster pgtest.Cluster

// cache is the machine code of the extractors, for all tests.
var cache string

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		os.Exit(victim())
	}
	plugincache.Run(func(dir string) (int, error) {
		cache = dir
		return cluster.Main(m), nil
	})
}

// run opens a worker and runs it until the test ends, or until stop.
func run(t *testing.T, c Config) (w *Worker, log *said, stop func()) {
	t.Helper()
	log = &said{}
	c.Log, c.Cache = slog.New(log), cache
	w, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := errors.Join(<-ended, w.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return w, log, stop
}

var granted = delta.Grant{Types: []memory.Type{memory.Resource}, Transcribe: true}

// joined adds a new worker to the owner's space.
func joined(t *testing.T, o *owner, relay string, g delta.Grant) (home string) {
	t.Helper()
	home = t.TempDir()
	request, err := InviteKey(home)
	o.ok(err)
	if again, err := InviteKey(home); err != nil || again != request {
		t.Fatalf("another request before the first was used: %v", err)
	}
	j, err := Join(t.Context(), home, relay, o.let(request, g))
	o.ok(err)
	if j.Space != o.space {
		t.Fatalf("%+v", j)
	}
	return home
}

// The complete path, with real engines and a real relay: join, transcribe, read, removal.
func TestWorkerEndToEnd(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	recording := o.source("audio/wav", audio.Speech(), "recording", "waiting")
	note := o.source("image/png", day(t, "note.png"))
	w, log, _ := run(t, Config{Home: home})

	m := o.await(recording)
	if !strings.Contains(m.Text, "what your country can do for you") || m.Rank != memory.RankCloud || m.Fields.Resource.Content != m.Text ||
		m.Links[0] != (memory.Link{Relation: result.TranscriptOf, To: recording.String()}) || !slices.Contains(m.Tags, result.TagTranscript) ||
		m.Evidence[0].Event.Seq != 1 || m.Source.Model != "pocketsphinx en-us" || m.Sensitivity != memory.Private || m.Lang != "en-US" {
		t.Errorf("%+v", m)
	}
	p := o.await(note)
	if !strings.Contains(p.Text, "Saturday 26 September") || p.Links[0].Relation != result.PrintOf || p.Source.Plugin != "worker/read" || p.Confidence < 0.9 {
		t.Errorf("%+v", p)
	}
	if ps, err := o.replica.Problems(t.Context()); err != nil || len(ps) > 0 {
		t.Errorf("set aside: %+v, %v", ps, err)
	}

	dirs, err := places(home)
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	secret, err := os.ReadFile(filepath.Join(dirs[0], identityFile))
	o.ok(err)
	o.ok(o.replica.RemoveMember(t.Context(), w.Spaces()[0].Member, nil))
	log.wait(t, removedMessage)
	if len(w.Spaces()) > 0 {
		t.Error("the space is still there")
	}
	left, err := os.ReadDir(filepath.Join(home, spacesDir))
	if err != nil || len(left) > 0 {
		t.Errorf("left of the space: %v, %v", left, err)
	}
	err = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for what, s := range map[string]string{"its keys": string(secret[5:37]), "what it heard": "country", "what it read": "Saturday", "the space": string(o.space[:])} {
			if strings.Contains(string(b), s) {
				t.Errorf("%s is in %s", what, path)
			}
		}
		return nil
	})
	if jobs, e := w.Queue().List(t.Context(), queue.Filter{}); err != nil || e != nil || len(jobs) > 0 {
		t.Errorf("%v, %v, %v", jobs, err, e)
	}
}

// If an engine is missing, the recording waits, and is done once the engine is there.
func TestMissingEngineIsNamedAndTheRecordingWaits(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	recording := o.source("audio/wav", audio.Speech(), "recording", "waiting")
	nowhere := t.TempDir()

	w, _, stop := run(t, Config{Home: home, Engines: Engines{Path: nowhere}})
	j := parked(t, w)
	if j.Subject != recording.String() || !strings.Contains(j.Reason, "install Debian's pocketsphinx") || !strings.Contains(j.Reason, "whisper.cpp") {
		t.Fatalf("%+v", j)
	}
	for _, f := range w.EngineStates() {
		if f.Present || f.Need == "" {
			t.Errorf("%+v", f)
		}
	}
	stop()
	run(t, Config{Home: home})
	if m := o.await(recording); !strings.Contains(m.Text, "country") {
		t.Errorf("%+v", m)
	}
}

// parked waits for a parked job.
func parked(t *testing.T, w *Worker) queue.Job {
	t.Helper()
	return await(t, w, func(j *queue.Job) bool { return j.State == queue.Parked })
}

// putOff returns the first job that will be tried again.
func putOff(t *testing.T, w *Worker) queue.Job {
	t.Helper()
	return await(t, w, func(j *queue.Job) bool { return j.State == queue.Waiting && j.Reason != "" })
}

func await(t *testing.T, w *Worker, is func(*queue.Job) bool) queue.Job {
	t.Helper()
	for tick := time.NewTicker(20 * time.Millisecond); t.Context().Err() == nil; <-tick.C {
		jobs, err := w.Queue().List(t.Context(), queue.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(jobs, func(j queue.Job) bool { return is(&j) }); i >= 0 {
			return jobs[i]
		}
	}
	t.Fatal("no such job came")
	return queue.Job{}
}

// fake makes a program in a separate PATH.
func fake(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A secret that an engine hears or reads does not leave the worker.
func TestSecretsAreRedacted(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	note := o.source("image/png", day(t, "note.png"))
	tsv := "2\\t1\\t1\\t0\\t0\\t0\\t0\\t0\\t9\\t9\\t-1\\t\\n4\\t1\\t1\\t1\\t1\\t0\\t0\\t0\\t9\\t9\\t-1\\t\\n"
	for _, word := range strings.Fields("Guest network, the Wi-Fi password is HarborKite4471, ask at the desk.") {
		tsv += "5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t9\\t9\\t96\\t" + word + "\\n"
	}
	path := fake(t, "tesseract", `case "$1" in --list-langs) echo eng;; *) cat >/dev/null; printf '`+tsv+`';; esac`)
	_, log, _ := run(t, Config{Home: home, Engines: Engines{Path: path}})
	m := o.await(note)
	if strings.Contains(m.Text+m.Fields.Resource.Content+m.Fields.Resource.Title, "HarborKite") || !strings.Contains(m.Text, "Guest network") || m.Metadata["redacted"] != "1" {
		t.Errorf("%+v %+v", m, m.Fields.Resource)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if strings.Contains(log.text.String(), "HarborKite") || !strings.Contains(log.text.String(), "secrets were taken out") {
		t.Error(log.text.String())
	}
}

// A job without a grant for resources, or with an input that no engine accepts, is parked.
func TestUnprocessableJobsAreParked(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	w, _, _ := run(t, Config{Home: joined(t, o, relay, delta.Grant{Types: []memory.Type{memory.Semantic}}), Engines: Engines{Speech: "none"}})
	o.source("image/png", day(t, "note.png"))
	if j := parked(t, w); !strings.Contains(j.Reason, "grant") {
		t.Errorf("%+v", j)
	}
	w, _, _ = run(t, Config{Home: joined(t, o, relay, granted), Engines: Engines{Speech: "none"}})
	bad := o.source("image/jpeg", []byte("not a photo at all"))
	if j := parked(t, w); j.Subject != bad.String() || !strings.Contains(j.Reason, "does not take this input") || j.Attempts != 1 {
		t.Errorf("%+v", j)
	}
}

// An engine that hangs or crashes only affects its own job, which is tried again.
func TestHangAndCrash(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	o.source("image/png", day(t, "note.png"))
	for reason, x := range map[string]struct {
		script string
		wall   time.Duration
	}{"out of time": {"sleep 1000", 5 * time.Second}, "crashed: segmentation fault": {"kill -SEGV $$", time.Hour}} {
		path := fake(t, "tesseract", `case "$1" in --list-langs) echo eng;; *) `+x.script+`;; esac`)
		c := Config{Home: home, Engines: Engines{Path: path, Speech: "none"}}
		c.Engines.Limits = engine.Limits{Wall: x.wall}
		w, log, stop := run(t, c)
		log.wait(t, "job: will be tried again")
		putOff(t, w) // it is stored after it is logged
		stop()
		q, err := Jobs(t.Context(), c)
		o.ok(err)
		jobs, err := q.List(t.Context(), queue.Filter{State: queue.Waiting})
		if err != nil || len(jobs) != 1 || !strings.Contains(jobs[0].Reason, reason) || jobs[0].Next.IsZero() {
			t.Errorf("%s: %+v, %v", reason, jobs, err)
		}
		o.ok(q.Leave(t.Context(), o.space))
		o.ok(q.Close())
	}
}

func TestJoinRefuses(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	welcome := o.let(must(InviteKey(t.TempDir())), granted)
	home := t.TempDir()
	if _, err := Join(t.Context(), home, relay, welcome); err == nil || !strings.Contains(err.Error(), "make one first") {
		t.Errorf("no request: %v", err)
	}
	must(InviteKey(home))
	if _, err := Join(t.Context(), home, relay, welcome); !errors.Is(err, ErrNotAdmitted) {
		t.Errorf("another worker's welcome: %v", err)
	}
	if _, err := Join(t.Context(), home, relay, welcome[:40]); err == nil {
		t.Error("half a welcome was taken")
	}
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

// A running worker starts with a space that it joins.
func TestJoinedWhileRunning(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := t.TempDir()
	request := must(InviteKey(home))
	run(t, Config{Home: home, Engines: Engines{Speech: "none"}})
	note := o.source("image/png", day(t, "note.png"))
	if _, err := Join(t.Context(), home, relay, o.let(request, granted)); err != nil {
		t.Fatal(err)
	}
	if m := o.await(note); !strings.Contains(m.Text, "BOOK SWAP") {
		t.Errorf("%+v", m)
	}
	if second := must(InviteKey(home)); second == request {
		t.Error("one identity for two spaces")
	}
}

// The second of two workers on one home is refused.
func TestOneProcessPerHome(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	run(t, Config{Home: home})
	kept := filepath.Join(home, "run", "of an engine at work")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Home: home, Cache: cache}); !errors.Is(err, memory.ErrInUse) {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the second one took what the first works with: %v", err)
	}
	alone := t.TempDir() // a member of no space
	run(t, Config{Home: alone})
	if _, err := Open(t.Context(), Config{Home: alone, Cache: cache}); !errors.Is(err, memory.ErrInUse) {
		t.Error(err)
	}
}

// Photos that make a reader use up all memory or time are parked with the reason, and do no other
// harm: the photo behind them is read.
func TestHostileMediaIsParked(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	bomb := o.source("image/png", pngOf(1<<16, 1<<16))
	cut := o.source("image/png", day(t, "note.png")[:900])
	note := o.source("image/png", day(t, "note.png"))
	w, _, _ := run(t, Config{Home: home, Engines: Engines{Speech: "none"}})
	if m := o.await(note); !strings.Contains(m.Text, "BOOK SWAP") {
		t.Errorf("%+v", m)
	}
	reasons := map[string]string{}
	for tick := time.NewTicker(20 * time.Millisecond); len(reasons) < 2; <-tick.C {
		jobs, err := w.Queue().List(t.Context(), queue.Filter{State: queue.Parked})
		o.ok(err)
		for _, j := range jobs {
			reasons[j.Subject] = j.Reason
		}
	}
	if !strings.Contains(reasons[bomb.String()], "65536×65536 pixels") || !strings.Contains(reasons[cut.String()], "does not take this input") {
		t.Errorf("%v", reasons)
	}
}

// pngOf makes the header of a PNG of the given size, without matching content.
func pngOf(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	head = binary.BigEndian.AppendUint32(head, height)
	head = append(head, 8, 0, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))
}
