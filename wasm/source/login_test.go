package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/locket-dev/locket/wasm/bundle"
)

// guarded is go-containerregistry's registry, which implements the distribution spec, behind a 401
// as the token specification describes it (RFC 7617, RFC 6750, distribution's auth/token).
type guarded struct {
	*httptest.Server
	host string
	mu   sync.Mutex
	// What it demands: "basic", or "bearer" with a token that realm issues.
	asks  string
	realm string
	blob  func(w http.ResponseWriter, r *http.Request, answer []byte) bool // replaces a blob; nil: unchanged
}

const (
	theUser, thePassword, theToken = "ann", "open-sesame", "tok-4711"
)

func newGuarded(t *testing.T, asks string) *guarded {
	t.Helper()
	g := &guarded{asks: asks}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			if user, password, ok := r.BasicAuth(); !ok || user != theUser || password != thePassword {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			json.NewEncoder(w).Encode(map[string]string{"token": theToken})
			return
		}
		user, password, _ := r.BasicAuth()
		switch {
		case g.asks == "basic" && (user != theUser || password != thePassword):
			w.Header().Set("Www-Authenticate", `Basic realm="home"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		case g.asks == "bearer" && r.Header.Get("Authorization") != "Bearer "+theToken:
			w.Header().Set("Www-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="home",scope="repository:ann/parking:pull,push"`, g.realm))
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		}
		g.mu.Lock()
		blob := g.blob
		g.mu.Unlock()
		if blob != nil && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			rec := httptest.NewRecorder()
			inner.ServeHTTP(rec, r)
			if blob(w, r, rec.Body.Bytes()) {
				return
			}
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	g.realm, g.host = g.URL+"/token", strings.TrimPrefix(g.URL, "http://")
	return g
}

// farAway is later than any test's clock.
var farAway = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)

// ref returns the reference of a tag there.
func (g *guarded) ref(tag string) string { return "oci://" + g.host + "/ann/parking:" + tag }

func (g *guarded) instead(blob func(http.ResponseWriter, *http.Request, []byte) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blob = blob
}

func logins(t *testing.T, text string) Options {
	t.Helper()
	path := filepath.Join(t.TempDir(), "logins")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{Insecure: true, Logins: path}
}

// TestPush: a plugin that was pushed with a name and password, or with a token obtained with them,
// can be fetched with them, and not without, or with others.
func TestPush(t *testing.T) {
	ctx := context.Background()
	b, _ := plugin(t, "1.0.0")
	for _, asks := range []string{"nothing", "basic", "bearer", "a token at once"} {
		t.Run(asks, func(t *testing.T) {
			g := newGuarded(t, strings.Replace(asks, "a token at once", "bearer", 1))
			good := logins(t, "machine other.example login x password y\nmachine "+g.host+"\n  login "+theUser+"\n  password "+thePassword+"\n")
			if asks == "a token at once" {
				good = logins(t, "machine "+g.host+" password "+theToken)
			}
			digest, err := Push(ctx, g.ref("1.0.0"), b, good)
			if err != nil {
				t.Fatal(err)
			}
			for _, ref := range []string{g.ref("1.0.0"), "oci://" + g.host + "/ann/parking@" + digest} {
				got, err := Fetch(ctx, ref, good)
				if err != nil {
					t.Fatal(err)
				}
				if m, err := got.Open(); err != nil || m.ID != "ann/parking" {
					t.Error(m, err)
				}
			}
			if _, err := Push(ctx, g.ref("1.0.0"), b, good); err != nil {
				t.Errorf("again: %v", err)
			}
			if asks == "nothing" {
				return
			}
			for name, o := range map[string]Options{
				"no login":         {Insecure: true},
				"another's login":  logins(t, "machine other.example login "+theUser+" password "+thePassword),
				"a wrong password": logins(t, "machine "+g.host+" login "+theUser+" password guess"),
				"a wrong token":    logins(t, "machine "+g.host+" password guess"),
			} {
				if asks == "basic" && name == "a wrong token" {
					continue // it is never sent, because that server wants a name
				}
				if _, err := Fetch(ctx, g.ref("1.0.0"), o); !errors.Is(err, ErrLogin) || strings.Contains(err.Error(), "guess") {
					t.Errorf("fetched with %s: %v", name, err)
				}
				if _, err := Push(ctx, g.ref("2.0.0"), b, o); !errors.Is(err, ErrLogin) {
					t.Errorf("pushed with %s: %v", name, err)
				}
			}
		})
	}
	g := newGuarded(t, "nothing")
	unsigned := b
	unsigned.Manifest, unsigned.Signature = []byte("id = \"ann/parking\"\nversion = \"1.0.0\"\nabi = 1\nkinds = [\"text\"]\n"), nil
	if _, err := Push(ctx, g.ref("1.0.0"), unsigned, Options{Insecure: true}); !errors.Is(err, bundle.ErrBundle) {
		t.Errorf("unsigned: %v", err)
	}
	for _, ref := range []string{g.URL + "/ann/parking:1.0.0", "oci://" + g.host + "/ann/parking", "oci://" + g.host + "/ann/parking@sha256:" + strings.Repeat("0", 64)} {
		if _, err := Push(ctx, ref, b, Options{Insecure: true}); !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if _, err := Push(ctx, g.ref("1.0.0"), b, Options{}); !errors.Is(err, ErrAddress) {
		t.Errorf("for strangers: %v", err)
	}
}

// TestBlobs: what a registry may return instead of a layer.
func TestBlobs(t *testing.T) {
	ctx := context.Background()
	b, _ := plugin(t, "1.0.0")
	g := newGuarded(t, "basic")
	o := logins(t, "machine "+g.host+" login "+theUser+" password "+thePassword)
	if _, err := Push(ctx, g.ref("1.0.0"), b, o); err != nil {
		t.Fatal(err)
	}
	for name, blob := range map[string]func(http.ResponseWriter, *http.Request, []byte) bool{
		"half of it": func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			w.Write(b[:len(b)/2])
			return true
		},
		"half of it, said to be all": func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			w.Write(b[:len(b)/2])
			return true
		},
		"one bit of it turned": func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			b[len(b)/2] ^= 1
			w.Write(b)
			return true
		},
		"more than it": func(w http.ResponseWriter, _ *http.Request, b []byte) bool {
			w.Write(append(b, 0))
			return true
		},
	} {
		g.instead(blob)
		if _, err := Fetch(ctx, g.ref("1.0.0"), o); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	g.instead(nil)
	if _, err := Fetch(ctx, g.ref("1.0.0"), o); err != nil {
		t.Errorf("as it is: %v", err)
	}
}

// TestLoginsAreNotSentToOtherHosts: if a server redirects to another host, that host gets no name, password or token,
// and can't ask for them.
func TestLoginsAreNotSentToOtherHosts(t *testing.T) {
	ctx := context.Background()
	b, file := plugin(t, "1.0.0")
	for _, asks := range []string{"basic", "bearer"} {
		g := newGuarded(t, asks)
		o := logins(t, "machine "+g.host+" login "+theUser+" password "+thePassword)
		if _, err := Push(ctx, g.ref("1.0.0"), b, o); err != nil {
			t.Fatal(err)
		}
		var heard []string
		challenge := ""
		elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if h := r.Header.Get("Authorization"); h != "" {
				heard = append(heard, r.URL.Path+": "+h)
			}
			switch {
			case r.URL.Path == "/token":
				json.NewEncoder(w).Encode(map[string]string{"token": "x"})
			case challenge != "":
				w.Header().Set("Www-Authenticate", challenge)
				w.WriteHeader(http.StatusUnauthorized)
			default:
				w.Write(file)
			}
		}))
		g.instead(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			http.Redirect(w, r, elsewhere.URL+"/storage", http.StatusTemporaryRedirect)
			return true
		})
		if _, err := Fetch(ctx, g.ref("1.0.0"), o); err != nil {
			t.Errorf("%s: a blob elsewhere: %v", asks, err)
		}
		for _, challenge = range []string{`Basic realm="x"`, fmt.Sprintf(`Bearer realm="%s/token",service="x"`, elsewhere.URL)} {
			if _, err := Fetch(ctx, g.ref("1.0.0"), o); err == nil {
				t.Errorf("%s: it asked for a login, and gave the blob", asks)
			}
		}
		// The same holds for a plain file.
		challenge = ""
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != theUser || password != thePassword {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			http.Redirect(w, r, elsewhere.URL+"/file", http.StatusFound)
		}))
		o = logins(t, "machine "+strings.TrimPrefix(front.URL, "http://")+" login "+theUser+" password "+thePassword)
		if _, err := Fetch(ctx, front.URL+"/p", o); err != nil {
			t.Errorf("a file elsewhere: %v", err)
		}
		if _, err := Fetch(ctx, front.URL+"/p", Options{Insecure: true}); !errors.Is(err, ErrLogin) {
			t.Errorf("with no login: %v", err)
		}
		if len(heard) > 0 {
			t.Errorf("%s: the other host was told %q", asks, heard)
		}
		front.Close()
		elsewhere.Close()
	}
}

// TestIndexLogin: an index behind a login, by name and by token.
func TestIndexLogin(t *testing.T) {
	text, err := SignIndex(Index{Name: "test", Serial: 1, Expires: farAway}, key(9))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Header.Get("Authorization") != "Bearer "+theToken && (user != theUser || password != thePassword) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Write(text)
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	for login, good := range map[string]bool{
		"login " + theUser + " password " + thePassword: true, "password " + theToken: true,
		"login " + theUser + " password " + theToken: false, "password " + thePassword: false,
	} {
		x, _, err := FetchIndex(context.Background(), s.URL, logins(t, "machine "+host+" "+login))
		if (err == nil) != good || good && x.Name != "test" {
			t.Errorf("%s: %+v, %v", login, x, err)
		}
	}
}

// TestLogins: an invalid file of logins gives an error with the place.
func TestLogins(t *testing.T) {
	for text, says := range map[string]string{
		"machine":                                  "last word has no value",
		"machine a password open sesame":           "last word has no value",
		"login ann password x":                     "does not begin with a machine",
		"machine a login ann":                      "a has no password",
		"machine a password x machine A":           "machine a twice",
		"machine a password open sesame machine b": "word 5: want",
		"default login ann":                        "word 1: want",
		strings.Repeat("machine a ", 10_000):       "bytes",
	} {
		if _, err := readLogins(logins(t, text).Logins); !errors.Is(err, ErrLogins) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "ann ") || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%.30q: %v, want one that says %q", text, err, says)
		}
	}
	path := logins(t, "machine a password x").Logins
	if all, err := readLogins(path); err != nil || all["a"] != (login{password: "x"}) {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readLogins(path); !errors.Is(err, ErrLogins) || !strings.Contains(err.Error(), "0600") {
		t.Errorf("one that others read: %v", err)
	}
	if _, err := readLogins(path + "x"); !errors.Is(err, ErrLogins) {
		t.Errorf("none: %v", err)
	}
}
