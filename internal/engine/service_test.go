package engine

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestServiceFaults(t *testing.T) {
	stop := make(chan struct{})
	for _, c := range []struct {
		name      string
		handle    http.HandlerFunc
		kind      Kind
		words     string
		after     time.Duration
		temporary bool
	}{
		{"slow", func(w http.ResponseWriter, r *http.Request) { <-stop }, Slow, "no answer within", 0, true},
		{"busy", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "17")
			w.WriteHeader(http.StatusTooManyRequests)
		}, Busy, "429", 17 * time.Second, true},
		{"busy for a year", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "31536000")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, Busy, "503", MaxAfter, true},
		{"cut off", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte(`{"text":"and so my`))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, Gone, "the connection broke", 0, true},
		{"not JSON", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("rubbish")) }, Babbled, "JSON", 0, true},
		{"a proxy's page", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("\n<!doctype html>")) }, Gone, "200 OK: a page of HTML", 0, true},
		{"a proxy's text", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write([]byte("back soon"))
		}, Gone, "a page of HTML", 0, true},
		{"half of JSON", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(`{"text":"and so my`)) }, Babbled, "JSON", 0, true},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			for _, err := w.Write([]byte(`"`)); err == nil; {
				_, err = w.Write([]byte(strings.Repeat("a", 1<<16)))
			}
		}, Babbled, "more than", 0, true},
		{"broken", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "CUDA out of memory", 500) }, Gone, "CUDA out of memory", 0, true},
		{"bad input", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "unknown format", 400) }, Refused, "unknown format", 0, false},
		{"no key", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "who are you?", http.StatusUnauthorized) }, Barred, "test: it wants a key: 401 Unauthorized: who are you?", 0, false},
		{"a page for the key", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			w.Write([]byte("<html><body>no"))
		}, Barred, "test: it wants a key: 403 Forbidden: a page of HTML", 0, false},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://me:secret@elsewhere.invalid/v2?token=secret", http.StatusTemporaryRedirect)
		}, Moved, "test: it sends us to http://elsewhere.invalid/v2, where nothing was sent: 307 Temporary Redirect", 0, false},
		{"to another path", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/login", http.StatusFound)
		}, Moved, "/login, where nothing was sent: 302 Found", 0, false},
		{"elsewhere, but not where", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusFound) }, Moved, "test: it sends us elsewhere, but does not say where: 302 Found", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(c.handle)
			defer srv.Close()
			s := Service{Engine: "test", URL: srv.URL}
			if c.name == "slow" {
				s.Timeout = 50 * time.Millisecond
				defer close(stop)
			}
			var out struct{ Text string }
			err := s.PostForm(t.Context(), []Field{{Key: "a", Value: "b"}}, &out)
			var f *Fault
			if strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
			if !errors.As(err, &f) || f.Kind != c.kind || f.After != c.after || f.Temporary() != c.temporary || !strings.Contains(f.Error(), c.words) {
				t.Fatalf("%+v", err)
			}
		})
	}
	s := Service{Engine: "test", URL: "http://127.0.0.1:1"}
	var f *Fault
	if err := s.PostForm(t.Context(), nil, &f); !errors.As(err, &f) || f.Kind != Gone {
		t.Fatalf("nobody there: %v", err)
	}
}

func TestKeyIsSent(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"Text":"` + r.Header.Get("Authorization") + `"}`))
	}))
	defer srv.Close()
	s := Service{URL: srv.URL, Key: "k"}
	var out struct{ Text string }
	if err := s.PostForm(t.Context(), nil, &out); err != nil || out.Text != "Bearer k" {
		t.Fatalf("%q, %v", out.Text, err)
	}
}

// A service that refuses the key may repeat it; the fault does not.
func TestRefusedKeyIsNotRepeated(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "wrong: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	defer srv.Close()
	s := Service{Engine: "test", URL: srv.URL, Key: "sesame"}
	if err := s.PostForm(t.Context(), nil, new(any)); err == nil || err.Error() != "test: it refuses the key: 401 Unauthorized: wrong: Bearer [key]" {
		t.Error(err)
	}
}

func TestClip(t *testing.T) {
	long := Clip(strings.Repeat("报", 200))
	if len(long) > MaxDetail || strings.Contains(long, "\ufffd") {
		t.Errorf("%d bytes: %q", len(long), long)
	}
	if s := Clip(" a\x1b[31m\n\tb\xff "); s != "a[31m b" {
		t.Errorf("%q", s)
	}
}
