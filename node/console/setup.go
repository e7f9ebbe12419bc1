package console

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// Setup makes a home if there is none. The console calls its methods one at a time.
type Setup interface {
	// Offer returns the questions of the page, with the known answers.
	Offer() SetupOffer
	// Make makes the home in a temporary place, and returns the words that recover its keys.
	// Keep or Discard must follow. An error that the person can correct is a [SetupError].
	Make(ctx context.Context, a SetupAnswers) (words []string, err error)
	// Keep moves what Make made to its final place.
	Keep() error
	// Discard removes what Make made. If there is nothing, it does nothing.
	Discard() error
	// AtLogin makes the system start the daemon when the wearer logs in.
	AtLogin() (SetupLogin, error)
}

// SetupOffer describes the possible choices for a new home.
type SetupOffer struct {
	Home   string `json:"home"`   // its folder
	Wearer string `json:"wearer"` // as configured already
	Zone   string `json:"zone"`
	// Languages are the configured languages that are spoken around the wearer, as "de" or
	// "pt-BR"; empty: none are configured.
	Languages []string `json:"languages"`
	Login     string   `json:"login,omitempty"` // systemd or launchd; empty: nothing here can start it
}

// SetupAnswers say how the home is made.
type SetupAnswers struct {
	Wearer     string       `json:"wearer"` // empty: as configured
	Zone       string       `json:"zone"`
	Languages  []string     `json:"languages"`  // spoken around the wearer, as in SetupOffer; empty: as configured
	Way        serve.Way    `json:"way"`        // how the home is opened
	Passphrase serve.Secret `json:"passphrase"` // with serve.WayPassphrase
	Words      string       `json:"words"`      // language of the words: en or zh
}

// SetupLogin says what starts the daemon.
type SetupLogin struct {
	File string `json:"file"`
	Now  string `json:"now"` // the command that starts it now
}

// SetupError is an error in an answer.
type SetupError struct {
	Field string // of SetupAnswers, as in JSON
	Err   error
}

func (e *SetupError) Error() string { return e.Err.Error() }
func (e *SetupError) Unwrap() error { return e.Err }

// Reasons why a setup ended without a home.
var (
	ErrNobodyCame = errors.New("nobody opened the page")
	ErrSetupEnded = errors.New("the setup was ended on the page, or nothing was done there for half an hour")
)

// maxSetup is how much of an answer is read at most.
const maxSetup = 8 << 10

// askedWords is how many of the words are asked for.
const askedWords = 3

// settingUp is the setup of a console. There is only one.
type settingUp struct {
	kept chan struct{} // closed when the home is in its place

	mu    sync.Mutex
	by    Setup    // guarded by mu
	words []string // made, but not checked yet
	ask   []int    // which of them are asked for, from 1
	done  bool     // the home is in its place
	over  bool     // nothing more is made
}

// SetUp serves the page that makes a home, until the home is in its place. Then the caller
// opens it, and connects its API with Serve; the browser's session continues. show is called
// with the link, which is the only one, so that no second browser gets access. What was made
// is discarded if ctx ends, if the page ends its session, or if nobody opens the link in
// time.
func (c *Console) SetUp(ctx context.Context, by Setup, show func(serve.ConsoleLink) error) error {
	s := &settingUp{by: by, kept: make(chan struct{})}
	link, err := c.beginSetup(ctx, s)
	if err != nil {
		return err
	}
	if err := show(link); err != nil {
		return errors.Join(err, s.end())
	}
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	for {
		select {
		case <-s.kept:
			return nil
		case <-ctx.Done():
			return errors.Join(ctx.Err(), s.end())
		case <-tick.C:
		}
		none, came := c.sessions.none(c.now())
		if !none {
			continue
		}
		if err := s.end(); err != nil || s.finished() {
			return err
		}
		if came {
			return ErrSetupEnded
		}
		return ErrNobodyCame
	}
}

// beginSetup starts to listen, and makes the link.
func (c *Console) beginSetup(ctx context.Context, s *settingUp) (serve.ConsoleLink, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.origin != "" {
		return serve.ConsoleLink{}, errClosed
	}
	l, err := serve.Listen(ctx, "tcp", c.listen)
	if err != nil {
		return serve.ConsoleLink{}, err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return serve.ConsoleLink{}, errors.Join(errors.New("a home can be set up only on a loopback address"), l.Close())
	}
	c.setup = s
	c.begin(l)
	code, until := c.sessions.code(c.now())
	return serve.ConsoleLink{URL: c.origin + "/setup#open=" + code, Expires: until}, nil
}

// end discards what was made and not kept.
func (s *settingUp) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	return s.discard()
}

func (s *settingUp) discard() error {
	if s.done {
		return nil
	}
	s.words, s.ask = nil, nil
	return s.by.Discard()
}

func (s *settingUp) finished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// setupState is the progress of a setup.
type setupState struct {
	State string     `json:"state"` // new, words or made
	Ask   []int      `json:"ask,omitempty"`
	Offer SetupOffer `json:"offer"`
	Words []string   `json:"words,omitempty"` // only in the answer to the request that made them
}

// routes adds the routes that the page of a setup calls.
func (s *settingUp) routes(mux *http.ServeMux, within func(http.HandlerFunc) http.HandlerFunc) {
	for path, h := range map[string]func(*http.Request) (any, error){
		"GET /setup/state": s.state, "POST /setup/home": s.make, "POST /setup/check": s.check, "DELETE /setup/home": s.discardMade, "POST /setup/login": s.atLogin,
	} {
		mux.HandleFunc(path, within(func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			v, err := h(r)
			s.mu.Unlock()
			if wrong, ok := errors.AsType[*SetupError](err); ok {
				refuse(w, http.StatusUnprocessableEntity, wrong.Field, wrong.Error())
				return
			}
			if err != nil {
				refuse(w, http.StatusConflict, "", err.Error())
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v) // a browser that has left needs no answer
		}))
	}
}

// now returns the state; the caller holds mu, as for all functions below.
func (s *settingUp) now() setupState {
	v := setupState{State: "new", Ask: s.ask, Offer: s.by.Offer()}
	switch {
	case s.done:
		v.State = "made"
	case s.words != nil:
		v.State = "words"
	}
	return v
}

func (s *settingUp) state(*http.Request) (any, error) { return s.now(), nil }

func (s *settingUp) make(r *http.Request) (any, error) {
	var a SetupAnswers
	if err := read(r, &a); err != nil {
		return nil, err
	}
	if s.over || s.done || s.words != nil {
		return nil, errors.New("a home is made already, or the setup has ended")
	}
	words, err := s.by.Make(r.Context(), a)
	if err != nil {
		return nil, err
	}
	s.words = words
	s.ask = rand.Perm(len(words))[:min(askedWords, len(words))]
	slices.Sort(s.ask)
	for i := range s.ask {
		s.ask[i]++
	}
	v := s.now()
	v.Words = words
	return v, nil
}

// check checks the words that were asked for, or skip.
func (s *settingUp) check(r *http.Request) (any, error) {
	var in struct {
		Words []string `json:"words"`
		Skip  bool     `json:"skip"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if s.over || s.words == nil {
		return nil, errors.New("there are no words to check")
	}
	for i, n := range s.ask {
		if !in.Skip && (i >= len(in.Words) || !strings.EqualFold(strings.TrimSpace(in.Words[i]), s.words[n-1])) {
			return nil, &SetupError{"words." + string(rune('0'+i)), errors.New("this is not the right word")}
		}
	}
	if err := s.by.Keep(); err != nil {
		return nil, err
	}
	s.done, s.words, s.ask = true, nil, nil
	close(s.kept)
	return s.now(), nil
}

// discardMade discards what was made, so that the answers can be given anew.
func (s *settingUp) discardMade(*http.Request) (any, error) {
	if s.done {
		return nil, errors.New("the home is in its place")
	}
	if err := s.discard(); err != nil {
		return nil, err
	}
	return s.now(), nil
}

func (s *settingUp) atLogin(*http.Request) (any, error) {
	if !s.done {
		return nil, errors.New("there is no home yet")
	}
	return s.by.AtLogin()
}

// read parses an answer of the page.
func read(r *http.Request, v any) error {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxSetup))
	if err != nil || r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(b, v) != nil {
		return &SetupError{"", errors.New("want the answer in JSON")}
	}
	return nil
}
