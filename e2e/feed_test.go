package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A worker with a feed by type, sensitivity and time gets exactly what fits, in separate processes.
// Its model is shown those lines and no other word, and the owner's log names each of them and its
// destination.
func TestFeedObeysItsGrant(t *testing.T) {
	r := newRelay(t)
	h := newHome(t)
	h.run = append(h.run, "--set", "sync.relay="+r.url)
	h.start()
	h.must("add", "My grandmother is called Olga") // before
	wait(1100 * time.Millisecond)                  // times have a precision of a second
	since := time.Now().UTC().Format(time.RFC3339)
	h.must("add", "I am allergic to peanuts")                     // more sensitive
	h.must("add", "I have a meeting with Jonas tomorrow at noon") // of another type
	names := []string{"sister", "Lena", "brother", "Tom", "mother", "Ida", "father", "Karl", "aunt", "Rosa", "uncle", "Finn", "cousin", "Mia", "daughter", "Zoe"}
	for pair := range slices.Chunk(names, 2) {
		h.must("add", "My "+pair[0]+" is called "+pair[1])
	}
	fits := map[string]string{} // text by line
	for line := range strings.Lines(h.must("--json", "list", "--limit", "100")) {
		var m memory.Memory
		mustParse(t, line, &m)
		if m.Type == memory.Semantic && m.Sensitivity == memory.Personal && !strings.Contains(m.Text, "Olga") {
			fits[m.Evidence[0].Utterance.String()] = m.Text
		}
	}
	if len(fits) != len(names)/2 {
		t.Fatalf("%d memories fit: %v", len(fits), fits)
	}
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		switch {
		case strings.Contains(r.System, "You decide who looks"):
			return `{"managers":[],"reason":"names"}`
		case strings.Contains(r.System, "manager of"):
			return `{"candidates":[]}`
		case strings.Contains(r.System, "You tidy"):
			return `{"merges":[]}`
		case strings.Contains(r.System, "You say in a few words"):
			return `{"title":"A family","summary":"They are a family.","facts":[1]}`
		}
		return "They speak of a family."
	}))
	dir := filepath.Join(t.TempDir(), "worker")
	var asked struct{ Request string }
	mustParse(t, cloud(t, "--json", "worker", "invite-key", "--home", dir), &asked)
	var g serve.Grant
	h.mustJSON(&g, "grant", "worker", asked.Request, "--name", "the PC", "--types", "semantic", "--feed", "--sensitivity", "personal", "--since", since)
	cloud(t, "worker", "join", "--home", dir, "--relay", g.Relay, g.Welcome)
	log := new(logbook.Book)
	w := exec.Command(filepath.Join(bin, "locket-cloud"), "worker", "--home", dir, "--speech", "none", "--sight", "none", "--llm-url", s.URL, "--llm-model", s.Model())
	w.Stdout, w.Stderr = log, log
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- w.Wait() }()
	defer func() {
		w.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil || t.Failed() {
			t.Errorf("locket-cloud worker: %v\n%s", err, log)
		}
	}()
	read := map[string]bool{}
	until(t, "the worker has reported what it read", func() bool {
		h.must("grant", "tend")
		var v serve.WorkerLog
		h.mustJSON(&v, "grant", "log", "the PC")
		for _, d := range v.Reads {
			for _, id := range d.Of {
				if d.Kind == "language" {
					read[id] = true
				}
				if d.To == "" || !strings.Contains(s.URL, d.To) {
					t.Fatalf("it is not said where it went: %+v", d)
				}
			}
		}
		done := slices.ContainsFunc(v.Work, func(k serve.WorkerJobs) bool { return k.Kind == "language" && k.Done > 0 && k.Waiting == 0 })
		return done && len(read) > 0
	})
	for id, text := range fits {
		if !read[id] {
			t.Errorf("not read: %s", text)
		}
		delete(read, id)
	}
	if len(read) > 0 {
		t.Errorf("read besides: %v", read)
	}
	shown := ""
	for _, r := range s.Requests() {
		shown += r.Body
	}
	for i := 1; i < len(names); i += 2 {
		if !strings.Contains(shown, names[i]) {
			t.Errorf("%s was not shown", names[i])
		}
	}
	for _, word := range []string{"Olga", "peanut", "Jonas"} {
		if strings.Contains(shown, word) {
			t.Errorf("the model was shown %q", word)
		}
	}
	if t.Failed() {
		t.Log(fmt.Sprint(fits))
	}
}
