package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// atLink is an output that reports the link in it.
type atLink struct {
	mu    sync.Mutex
	text  bytes.Buffer // guarded by mu
	found func(link string)
}

func (w *atLink) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b)
	if line, _, whole := strings.Cut(w.text.String(), "\n"); whole && w.found != nil && strings.Contains(line, "#open=") {
		go w.found(line)
		w.found = nil
	}
	return len(b), nil
}

// A first daemon also offers the page. If it is ended before it makes a home, it leaves none.
func TestRunOffersTheSetupPage(t *testing.T) {
	t.Setenv("PATH", "") // no browser
	home := filepath.Join(t.TempDir(), "home")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, answers := io.Pipe()
	defer answers.Close()
	p := &answerer{in: answers, replies: []reply{{"Set one up now?", fixed("b")}}}
	d := testDeps()
	d.Terminal = func() bool { return true }
	if code := run(ctx, []string{"--home", home, "run"}, in, &atLink{found: func(string) { cancel() }}, p, d); code != cli.ExitFailed || len(p.asked) != 1 {
		t.Errorf("exit %d, asked %q", code, p.asked)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("something is made")
	}
}

// What the page sends must follow the rules of the command, and an existing home is not changed.
func TestSetupPageAnswers(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	links := make(chan string, 1)
	ended := make(chan int, 1)
	var told bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"--home", home, "open", "--print"}, strings.NewReader(""), &atLink{found: func(l string) { links <- l }}, &told, testDeps())
	}()
	u, err := url.Parse(<-links)
	if err != nil {
		t.Fatal(err)
	}
	origin := "http://" + u.Host
	key := ""
	cookies := []*http.Cookie{}
	send := func(path, body string) (status int, v map[string]any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", origin+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", origin)
		r.Header.Set("Locket-Console", key)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(&v); err != nil {
			t.Fatal(err)
		}
		if path == "/session" {
			cookies, key = res.Cookies(), v["key"].(string)
		}
		return res.StatusCode, v
	}
	send("/session", `{"code": "`+strings.TrimPrefix(u.Fragment, "open=")+`"}`)
	for body, field := range map[string]string{
		`{"way": "magic", "words": "en"}`:                                   "way",
		`{"way": "passphrase", "passphrase": "short", "words": "en"}`:       "passphrase",
		`{"way": "key-file", "words": "fr"}`:                                "words",
		`{"way": "key-file", "words": "en", "zone": "Europe/Atlantis"}`:     "zone",
		`{"way": "key-file", "words": "en", "languages": ["de", "German"]}`: "languages",
	} {
		if status, v := send("/setup/home", body); status != http.StatusUnprocessableEntity || v["field"] != field || strings.Contains(v["detail"].(string), "--") {
			t.Errorf("%s: %d, %v", body, status, v)
		}
		if _, err := os.Stat(home); err == nil {
			t.Errorf("%s makes something", body)
		}
	}
	// Another process has made a home meanwhile.
	if err := os.MkdirAll(filepath.Join(home, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	if status, v := send("/setup/home", `{"way": "key-file", "words": "en"}`); status != http.StatusConflict {
		t.Errorf("%d, %v", status, v)
	}
	cancel()
	if code := <-ended; code != cli.ExitFailed {
		t.Errorf("exit %d: %s", code, told.String())
	}
	if _, err := os.Stat(filepath.Join(home, "keys")); err != nil {
		t.Error(err)
	}
}
