package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The exit code reports whether a relay is ready.
func TestReady(t *testing.T) {
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("%s was asked", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	defer s.Close()
	ask := func(url string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"ready", "--json", "--url", url}, strings.NewReader(""), &out, &errs)
		return code, out.String() + errs.String()
	}
	if code, text := ask(s.URL); code != exitDone || text != `{"ready":true}`+"\n" {
		t.Error(code, text)
	}
	status = http.StatusServiceUnavailable
	if code, text := ask(s.URL); code != exitFailed || !strings.Contains(text, "503") {
		t.Error(code, text)
	}
	s.Close()
	if code, text := ask(s.URL); code != exitFailed {
		t.Error(code, text)
	}
	if code, text := ask("://"); code != exitUsage {
		t.Error(code, text)
	}
}
