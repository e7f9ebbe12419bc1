package assist

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/applink"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		label, body string
		status      int
		want        Answer
		fails       string
	}{
		{"a model's", `{"known":true,"cited":true,"answer":"On Tuesday [0123456789ab].","evidence":[{"text":"x"}]}`, 200, Answer{"On Tuesday.", true}, ""},
		{"one that cites nothing", `{"known":true,"answer":"On Friday","evidence":[{"text":"Dentist on\nTuesday"},{"text":"b"},{"text":"c"}]}`, 200, Answer{"Dentist on Tuesday\nb", true}, ""},
		{"no model", `{"known":true,"evidence":[{"text":"Dentist on Tuesday"}]}`, 200, Answer{"Dentist on Tuesday", true}, ""},
		{"not known", `{"known":false,"evidence":[{"text":"near"}]}`, 200, Answer{"near", false}, ""},
		{"revoked", `{"title":"Unauthorized","detail":"this key opens nothing"}`, 401, Answer{}, "401: Unauthorized this key opens nothing"},
		{"another program", `<html>`, 200, Answer{}, "not Locket's API"},
		{"wrong types", `{"known":"yes"}`, 200, Answer{}, "not Locket's API"},
	} {
		got, err := read(c.status, []byte(c.body))
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && (!errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%s: %+v, %v", c.label, got, err)
		}
	}
}

func TestNewNode(t *testing.T) {
	for _, c := range []struct{ at, key, says string }{
		{"/s", "", "want the key of an app"},
		{"/s", "owners-token", "want the key of an app"},
		{"", "lka_x", "its address is missing"},
		{"http://192.0.2.1:7331", "lka_x", "by its link"},
		{"http://127.0.0.1", "lka_x", "by its link"},
		{"http://localhost:7331/x", "lka_x", "by its link"},
		{"/s", "https://192.0.2.1:7332/#app=a&key=lka_x", "so give none"},
		{"", "https://192.0.2.1:7332/#app=a&key=x", "key: want"},
	} {
		if n, err := NewNode(c.at, c.key); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v, %v", c.at, c.key, n, err)
		}
	}
}

// The node is asked as the app, on a socket, on loopback and through a link. It is not asked if
// another key has the link's pin.
func TestAsk(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Question string }
		if r.Method != "POST" || r.URL.Path != "/v1/ask" || r.Header.Get("Authorization") != "Bearer lka_x" || json.NewDecoder(r.Body).Decode(&q) != nil || q.Question != "when?" {
			http.Error(w, `{"title":"no"}`, http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(`{"known":true,"evidence":[{"text":"On Tuesday"}]}`)) // the client reports the error
	})
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	unix := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	unix.Start()
	defer unix.Close()
	plain, secure := httptest.NewServer(h), httptest.NewTLSServer(h)
	defer plain.Close()
	defer secure.Close()
	link := applink.Link{Address: secure.URL, App: "a", Key: "lka_x", Pin: applink.Pin(secure.Certificate().RawSubjectPublicKeyInfo)}
	other := link
	other.Pin = applink.Pin([]byte("another"))
	for _, c := range []struct {
		at, key string
		ok      bool
	}{{path, "lka_x\n", true}, {plain.URL, "lka_x", true}, {"", link.String() + "\n", true}, {"", other.String(), false}, {plain.URL, "lka_y", false}, {path + "none", "lka_x", false}} {
		n, err := NewNode(c.at, c.key)
		if err != nil {
			t.Fatal(err)
		}
		a, err := n.Ask(t.Context(), "when?")
		if n.Close(); (err == nil) != c.ok || c.ok && a != (Answer{"On Tuesday", true}) || err != nil && strings.Contains(err.Error(), "lka_") {
			t.Errorf("%s: %+v, %v", c.at, a, err)
		}
	}
}
