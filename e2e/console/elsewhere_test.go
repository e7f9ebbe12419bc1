package console

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/internal/testing/freeport"
	"github.com/locket-dev/locket/node/serve"
)

// elsewhere opens the console of a separate home from another machine: by a key, over TLS.
// ended receives the result of the command.
func elsewhere(t *testing.T) (link serve.ConsoleLink, c *serve.Client, ended chan error) {
	t.Helper()
	remote := freeport.Addr(t)
	home, c := ownHome(t, "--set", "api.remote="+remote)
	out, err := command(home, "--json", "--set", "api.remote="+remote, "app", "add", "laptop", "--can", "console", "--for", "1h")
	if err != nil {
		t.Fatal(err)
	}
	var given struct{ Link string }
	if err := json.Unmarshal([]byte(out), &given); err != nil || given.Link == "" {
		t.Fatal(out, err)
	}
	file := filepath.Join(t.TempDir(), "laptop.link")
	if err := os.WriteFile(file, []byte(given.Link+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// There is no home on that machine.
	cmd := exec.Command(locket, "--home", filepath.Join(t.TempDir(), "none"), "--json", "open", "--print", "--key-file", file)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // it may leave files there, because it is killed
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	if err != nil || json.Unmarshal([]byte(line), &link) != nil {
		t.Fatal(line, err)
	}
	return link, c, ended
}

// A browser on another machine opens the console by a key, over TLS; the page does what it
// does here, and the command ends when the key is revoked.
func TestFromAnotherMachine(t *testing.T) {
	link, c, ended := elsewhere(t)
	b := openAt(t, plain, link.URL)
	if strings.Contains(js[string](b, `JSON.stringify(localStorage) + document.cookie + document.body.innerHTML`), "lka_") {
		t.Error("the browser has the key")
	}
	b.do(chromedp.Click(".recording button"), chromedp.WaitVisible(".recording.paused"))
	if s, err := c.Status(t.Context()); err != nil || !s.Pause.Paused {
		t.Errorf("%+v, %v", s.Pause, err)
	}
	// New lines appear there by themselves.
	if _, err := c.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitVisible(".recording:not(.paused)"))
	if _, err := c.RevokeApp(t.Context(), "laptop"); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.WaitVisible(".door"))
	if err := <-ended; err == nil {
		t.Error("the command does not say that its key was revoked")
	}
}

// From another machine, no page shows or requests operations that are not allowed there. It
// says instead where they are done.
func TestOperationsFromAnotherMachine(t *testing.T) {
	link, c, _ := elsewhere(t)
	no := false
	if _, err := c.Add(t.Context(), serve.AddRequest{Text: "The canoe lies in Lindau.", Infer: &no}); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, plain, link.URL)
	chromedp.ListenTarget(b.ctx, func(event any) {
		if e, ok := event.(*network.EventResponseReceived); ok && e.Response.Status == http.StatusForbidden {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.wrong = append(b.wrong, "the page asks for what it may not: "+e.Response.URL)
		}
	})
	b.do(chromedp.WaitVisible(".afar-mark"))
	may := js[[]string](b, `fetch("/v1/status", {headers: {"Locket-Console": localStorage["locket.key"]}}).then(r => r.json()).then(s => s.may)`)
	if !slices.Contains(may, "search") || slices.Contains(may, "addZone") {
		t.Fatalf("it may do %q", may)
	}
	b.do(openPalette)
	does := js[[]string](b, `[...document.querySelectorAll(".palette-list li")].map(l => l.dataset.does ?? "")`)
	for _, d := range does {
		if d != "" && !slices.Contains(may, d) {
			t.Errorf("the palette offers %s", d)
		}
	}
	if !slices.Contains(does, "forget") {
		t.Errorf("the palette has %q", does)
	}
	b.do(chromedp.KeyEvent(kb.Escape), chromedp.WaitNotPresent(".palette-field"))
	for _, p := range []struct {
		path, until string
		says        []string
	}{
		{"/", "#main h1", nil}, {"/ask?q=where+is+the+canoe", ".answer", nil}, {"/memories", ".rows li", nil}, {"/graph", "#main h1", nil}, {"/review", "#main h1", nil},
		{"/memories/vault", "#main h1", nil}, {"/consents", "#main h1", nil}, {"/market", "#main h1", nil}, {"/communities", ".communities h1", []string{"locket community"}},
		{"/devices", ".plugins details", []string{"locket zone", "locket relay", "locket wearable", "locket voice", "locket plugin", "locket pair"}},
		{"/sharing", ".policy", []string{"locket share", "locket app", "locket policy"}},
		{"/import", ".empty pre", []string{"locket open"}}, {"/sharing/new", ".empty pre", []string{"locket open"}}, {"/market/sell", ".empty pre", []string{"locket open"}},
		{"/market/move", ".empty pre", []string{"locket open"}}, {"/market/log", ".empty pre", []string{"locket open"}},
	} {
		b.visit(p.path, p.until)
		b.settled()
		for _, d := range js[[]string](b, `[...document.querySelectorAll("[data-does]")].filter(x => x.checkVisibility()).map(x => x.dataset.does)`) {
			if !slices.Contains(may, d) {
				t.Errorf("%s offers %s", p.path, d)
			}
		}
		for _, s := range p.says {
			b.says(s)
		}
		b.accessible(p.path)
		b.shoot("afar" + strings.ReplaceAll(strings.SplitN(p.path, "?", 2)[0], "/", "-"))
	}
	b.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true)) // the link is good once
	for _, path := range []string{"/", "/devices"} {
		b.visit(path, "#main h1")
		b.settled()
		b.fits(path)
		b.shoot("afar-360" + strings.ReplaceAll(path, "/", "-"))
	}
}
