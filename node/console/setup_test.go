package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// maker is a Setup that records what happens to the home.
type maker struct{ home string }

var makerWords = strings.Fields("abandon ability able about above absent absorb abstract absurd abuse access accident")

func (m *maker) Offer() SetupOffer { return SetupOffer{Home: "/home/mei/locket", Zone: "Local"} }
func (m *maker) Make(_ context.Context, a SetupAnswers) ([]string, error) {
	if a.Way != serve.WayKeyFile {
		return nil, &SetupError{"way", errors.New("no such way")}
	}
	m.home = "made"
	return makerWords, nil
}
func (m *maker) Keep() error { m.home = "kept"; return nil }
func (m *maker) Discard() error {
	if m.home != "" {
		m.home = "discarded"
	}
	return nil
}
func (m *maker) AtLogin() (SetupLogin, error) { return SetupLogin{File: "unit"}, nil }

// settled is a running setup, with the browser that opened its link.
type settled struct {
	*bench
	in    func(*http.Request)
	m     *maker
	end   func()
	ended chan error
}

func newSetup(t *testing.T) *settled {
	t.Helper()
	clock := &clock{now: time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)}
	c := New(Options{Listen: "127.0.0.1:0", Now: clock.time})
	ctx, cancel := context.WithCancel(t.Context())
	s := &settled{bench: &bench{t: t, c: c, clock: clock}, m: &maker{}, end: cancel, ended: make(chan error, 1)}
	t.Cleanup(func() {
		cancel()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	shown := make(chan string, 1)
	go func() {
		s.ended <- c.SetUp(ctx, s.m, func(l serve.ConsoleLink) error { shown <- l.URL; return nil })
	}()
	u, err := url.Parse(<-shown)
	if err != nil || u.Path != "/setup" {
		t.Fatal(u, err)
	}
	s.origin, s.code = "http://"+u.Host, strings.TrimPrefix(u.Fragment, "open=")
	return s
}

func (s *settled) come() *settled { s.in, _ = s.begin(); return s }

// send sends an answer of the page, and returns the result.
func (s *settled) send(status int, method, path, body string) (v setupState) {
	s.t.Helper()
	res, text := s.ask(method, path, body, func(r *http.Request) { s.in(r); r.Header.Set("Content-Type", "application/json") })
	if res.StatusCode != status || res.Header.Get("Cache-Control") != "no-store" {
		s.t.Errorf("%s %s: %s, %s", method, path, res.Status, text)
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		s.t.Errorf("%s: %v", text, err)
	}
	return v
}

func (s *settled) right(ask []int) string {
	var words []string
	for _, n := range ask {
		words = append(words, " "+strings.ToUpper(makerWords[n-1])+" ")
	}
	b, err := json.Marshal(map[string]any{"words": words})
	if err != nil {
		s.t.Error(err)
	}
	return string(b)
}

const byKeyFile = `{"way": "key-file", "words": "en"}`

func TestSetupKeepsItsState(t *testing.T) {
	s := newSetup(t).come()
	if v := s.send(http.StatusOK, "GET", "/setup/state", ""); v.State != "new" || v.Offer.Home == "" {
		t.Errorf("%+v", v)
	}
	s.want(http.StatusServiceUnavailable, "GET", "/v1/status", s.in)
	s.send(http.StatusUnprocessableEntity, "POST", "/setup/home", `{"way": "magic"}`)
	s.send(http.StatusUnprocessableEntity, "POST", "/setup/home", `way`)
	s.send(http.StatusConflict, "POST", "/setup/check", `{"skip": true}`)
	s.send(http.StatusConflict, "POST", "/setup/login", "")
	v := s.send(http.StatusOK, "POST", "/setup/home", byKeyFile)
	if !slices.Equal(v.Words, makerWords) || len(v.Ask) != askedWords {
		t.Errorf("%+v", v)
	}
	s.send(http.StatusConflict, "POST", "/setup/home", byKeyFile) // another tab
	again := s.send(http.StatusOK, "GET", "/setup/state", "")
	if again.State != "words" || again.Words != nil || !slices.Equal(again.Ask, v.Ask) {
		t.Errorf("the words are shown again: %+v", again)
	}
	for _, wrong := range []string{`{}`, `{"words": ["x", "y", "z"]}`, `{"words": []}`, strings.Replace(s.right(v.Ask), " ", " x", 1)} {
		s.send(http.StatusUnprocessableEntity, "POST", "/setup/check", wrong)
	}
	if s.m.home != "made" {
		t.Error(s.m.home)
	}
	if v := s.send(http.StatusOK, "POST", "/setup/check", s.right(v.Ask)); v.State != "made" {
		t.Errorf("%+v", v)
	}
	if err := <-s.ended; err != nil || s.m.home != "kept" {
		t.Error(err, s.m.home)
	}
	s.send(http.StatusConflict, "DELETE", "/setup/home", "")
	s.send(http.StatusOK, "POST", "/setup/login", "")
	// The session continues with the API of the home.
	s.c.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "here") }))
	s.want(http.StatusOK, "GET", "/v1/status", s.in)
}

// A second browser, or one from elsewhere, can't change or see anything of a
// setup.
func TestThreatSetupByAnother(t *testing.T) {
	s := newSetup(t).come()
	s.send(http.StatusOK, "POST", "/setup/home", byKeyFile)
	if res, _ := s.ask("POST", "/session", fmt.Sprintf(`{"code": %q}`, s.code), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }); res.StatusCode != http.StatusForbidden {
		t.Errorf("the link is good twice: %s", res.Status)
	}
	for path, method := range map[string]string{"/setup/state": "GET", "/setup/home": "POST", "/setup/check": "POST", "/setup/login": "POST"} {
		s.want(http.StatusUnauthorized, method, path, nil)
		s.want(http.StatusUnauthorized, method, path, func(r *http.Request) { s.in(r); r.Header.Del("Cookie") })
		s.want(http.StatusUnauthorized, method, path, func(r *http.Request) { s.in(r); r.Header.Del(keyHeader) })
		s.want(http.StatusForbidden, method, path, func(r *http.Request) { s.in(r); r.Header.Set("Origin", "http://127.0.0.1:1") })
		s.want(http.StatusMisdirectedRequest, method, path, func(r *http.Request) { s.in(r); r.Host = "evil.example" })
	}
	s.want(http.StatusUnauthorized, "DELETE", "/setup/home", nil)
	if s.m.home != "made" {
		t.Error(s.m.home)
	}
	if _, err := s.c.OpenConsole(t.Context()); err == nil {
		t.Error("a second link while a home is set up")
	}
	// A console on an address that others can reach can't set up a home.
	if err := New(Options{Listen: "0.0.0.0:0"}).SetUp(t.Context(), &maker{}, nil); err == nil {
		t.Error("a setup for the network")
	}
	// Without a setup these routes don't exist.
	b := newBench(t)
	in, _ := b.begin()
	b.want(http.StatusNotFound, "GET", "/setup/state", in)
}

// However a setup ends, what it made is removed.
func TestSetupEnds(t *testing.T) {
	for name, end := range map[string]struct {
		do   func(*settled)
		want error
	}{
		"interrupt": {func(s *settled) { s.end() }, context.Canceled},
		"page":      {func(s *settled) { s.want(http.StatusNoContent, "DELETE", "/session", s.in) }, ErrSetupEnded},
		"idle":      {func(s *settled) { s.clock.pass(idleTime) }, ErrSetupEnded},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup(t).come()
			s.send(http.StatusOK, "POST", "/setup/home", byKeyFile)
			s.send(http.StatusOK, "DELETE", "/setup/home", "") // begins again
			if s.m.home != "discarded" {
				t.Error(s.m.home)
			}
			s.send(http.StatusOK, "POST", "/setup/home", byKeyFile)
			end.do(s)
			if err := <-s.ended; !errors.Is(err, end.want) || s.m.home != "discarded" {
				t.Error(err, s.m.home)
			}
		})
	}
	s := newSetup(t)
	s.clock.pass(codeTime)
	if err := <-s.ended; !errors.Is(err, ErrNobodyCame) {
		t.Error(err)
	}
}
