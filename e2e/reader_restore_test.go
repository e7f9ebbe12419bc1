package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// restores returns the space of a phrase as a new device reads it: a snapshot, and the deltas after
// it.
func (r *relay) restores(phrase string) (space read) {
	r.t.Helper()
	mustParse(r.t, string(python(r.t, phrase, "restore", r.url)), &space)
	return space
}

// holdsAll compares a home's export with the reader's: each assertion and each heard line, whoever
// said it.
func (space *read) holdsAll(h *home) {
	h.t.Helper()
	space.holds(h)
	have, lines, got := map[string]bool{}, map[string]string{}, map[string]bool{}
	put := func(to map[string]bool, data []byte) {
		var a memory.Assertion
		mustParse(h.t, string(data), &a)
		b, err := json.Marshal(a)
		if err != nil {
			h.t.Fatal(err)
		}
		to[string(b)] = true
	}
	for line := range strings.Lines(h.must("export")) {
		var r record
		mustParse(h.t, line, &r)
		switch r.Kind {
		case archive.KindAssertion:
			put(have, r.Data)
		case archive.KindUtterance:
			var u memory.Utterance
			mustParse(h.t, string(r.Data), &u)
			lines[u.ID.String()] = u.Text
		}
	}
	for _, a := range space.Assertions {
		put(got, a)
	}
	if len(have) == 0 || less(have, got) != less(nil, nil) || less(got, have) != less(nil, nil) {
		h.t.Errorf("of what was said, only the home has %s\nonly the reader has %s", less(have, got), less(got, have))
	}
	if fmt.Sprint(lines) != fmt.Sprint(space.Utterances) {
		h.t.Errorf("the home heard\n%v\nthe reader found\n%v", lines, space.Utterances)
	}
}

// employ lets a worker into the home's own space, has it say one thing about a heard line, and ends
// it.
func (h *home) employ() {
	t := h.t
	t.Helper()
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		switch {
		case strings.Contains(r.System, "You decide who looks"):
			return `{"managers":["semantic"],"reason":"facts"}`
		case strings.Contains(r.System, "manager of semantic"):
			return `{"candidates":[{"message":1,"quote":"Bo works for Philips now","text":"Bo works for Philips","sensitivity":"personal","confidence":0.8,"relation":null}]}`
		case strings.Contains(r.System, "You tidy"):
			return `{"merges":[]}`
		case strings.Contains(r.System, "You compare"):
			return `{"decisions":[]}`
		}
		return `{"candidates":[]}`
	}))
	dir := filepath.Join(t.TempDir(), "worker")
	var asked struct{ Request string }
	mustParse(t, cloud(t, "--json", "worker", "invite-key", "--home", dir), &asked)
	var g serve.Grant
	h.mustJSON(&g, "grant", "worker", asked.Request, "--name", "the PC", "--types", "semantic")
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
	until(t, "the worker has said something", func() bool {
		h.synced()
		return strings.Contains(h.must("--json", "list"), `"worker/language"`)
	})
}

// again ends a home's daemon cleanly, and starts it with more flags.
func (h *home) again(flags ...string) {
	h.t.Helper()
	if err := h.d.stop(h.t); err != nil {
		h.t.Fatal(err)
	}
	h.start(flags...)
}

// After a relay has dropped the bodies that a snapshot covers, another implementation finds in it
// what the devices hold, assertion by assertion, across two epochs, with a worker's words and
// without what was forgotten. It reports when a relay changes or withholds any part of the
// snapshot.
func TestReaderRestoresFromASnapshot(t *testing.T) {
	r := newRelay(t)
	glasses, phrase := initPhrase(t, "glasses", r.url)
	glasses.start()
	moved, dentist := glasses.remember("I moved to Suzhou last week."), glasses.remember("My dentist is Dr. Wu.")
	debt := glasses.remember("I owe Bo 40 euros.")
	glasses.must("add", "Bo works for Philips now")
	for _, name := range []string{"Lena", "Tom", "Ida", "Karl", "Rosa", "Finn", "Mia"} { // a worker waits for eight lines
		glasses.must("add", "A friend of mine is called "+name)
	}
	glasses.must("replay", filepath.Join("..", "testdata", "day", "note.png"))
	glasses.employ()
	phone := glasses.letIn("phone")
	phone.synced()
	phone.remember("The bike's lock is the blue one.")
	phone.synced()
	before := glasses.otherDevices()
	glasses.letIn("lost")
	for _, id := range glasses.otherDevices() {
		if !slices.Contains(before, id) {
			glasses.ask(phrase+"\n", "devices", "remove", id.String())
		}
	}
	glasses.must("pin", moved)
	glasses.must("update", dentist, "--text", "My dentist is Dr. Wang.")
	glasses.must("delete", debt, "--yes")
	glasses.synced()
	phone.synced()
	whole := r.reads(phrase)
	whole.holdsAll(glasses)

	glasses.again("--set", "sync.snapshots=1", "--set", "sync.compact=true")
	for range 2 { // made, verified, and the bodies dropped
		glasses.synced()
		phone.synced()
	}
	glasses.synced()
	glasses.again()
	for _, space := range []read{r.reads(phrase), r.restores(phrase)} {
		space.holdsAll(glasses)
		if s := space.Snapshot; s == nil || s.Standing != "verified" || len(space.Problems) > 0 {
			t.Fatalf("taken: %+v, problems %v", s, space.Problems)
		}
		if space.Bodies != 0 || len(space.Epochs) != 2 || !strings.Contains(fmt.Sprint(space.Memories), "Bo works for Philips") || space.Memories[debt].Text != "" {
			t.Errorf("%d bodies, epochs %v, memories\n%s", space.Bodies, space.Epochs, listed(space.Memories))
		}
		if len(space.Blobs) != len(whole.Blobs) {
			t.Errorf("photos: %v, before %v", space.Blobs, whole.Blobs)
		}
	}

	// Later content is read delta by delta.
	after := phone.remember("The new key is under the flower pot.")
	phone.synced()
	glasses.must("unpin", moved)
	glasses.synced()
	phone.synced()
	for _, space := range []read{r.reads(phrase), r.restores(phrase)} {
		space.holdsAll(glasses)
		space.holdsAll(phone)
		if space.Bodies == 0 || space.Snapshot == nil || space.Memories[after].Text == "" || space.Memories[moved].Pinned {
			t.Errorf("%d bodies, memories\n%s", space.Bodies, listed(space.Memories))
		}
	}
	r.lies(phrase)
}

// lies makes the reader ask through somebody who changes the parts of a snapshot.
func (r *relay) lies(phrase string) {
	t := r.t
	behind, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	checkpoints := func(path string) bool { return strings.HasSuffix(path, "/checkpoints") }
	blobs := func(path string) bool { return strings.Contains(path, "/blobs/") }
	flip := func(at func(n int) int) func([]byte) []byte {
		return func(b []byte) []byte { b[at(len(b))] ^= 1; return b }
	}
	for name, lie := range map[string]struct {
		of     func(path string) bool
		change func([]byte) []byte // nil: the part is missing
		reason string
	}{
		"a bit of what is signed": {checkpoints, flip(func(int) int { return 100 }), ""},
		"a bit of a part":         {blobs, flip(func(n int) int { return n / 2 }), "part: "},
		"a part that is shorter":  {blobs, func(b []byte) []byte { return b[:len(b)-1] }, "part: "},
		"no parts":                {blobs, nil, "relay: "},
		"no checkpoints":          {checkpoints, func([]byte) []byte { return []byte{0x80} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := &httputil.ReverseProxy{
				Rewrite: func(p *httputil.ProxyRequest) {
					p.SetURL(behind)
					p.Out.Host = p.In.Host // the signature covers it
				},
				ModifyResponse: func(a *http.Response) error {
					if !lie.of(a.Request.URL.Path) {
						return nil
					}
					b, err := io.ReadAll(a.Body)
					if err != nil {
						return err
					}
					if lie.change == nil {
						a.StatusCode, b = http.StatusNotFound, nil
					} else {
						b = lie.change(b)
					}
					a.Body, a.ContentLength = io.NopCloser(strings.NewReader(string(b))), int64(len(b))
					a.Header.Set("Content-Length", fmt.Sprint(len(b)))
					return a.Body.Close()
				},
			}
			s := httptest.NewServer(proxy)
			defer s.Close()
			out, errs, err := tryPython(t, phrase, "space", s.URL)
			if err != nil {
				if lie.reason != "" && !strings.HasPrefix(errs, lie.reason) {
					t.Errorf("%v: %s", err, errs)
				}
				return // refused completely
			}
			var space read
			mustParse(t, string(out), &space)
			if space.Snapshot != nil || len(space.Withheld) == 0 {
				t.Errorf("taken: %+v; withheld: %v", space.Snapshot, space.Withheld)
			}
			if lie.reason != "" && !slices.ContainsFunc(space.Problems, func(p string) bool { return strings.HasPrefix(p, lie.reason) }) {
				t.Errorf("problems: %q", space.Problems)
			}
		})
	}
}
