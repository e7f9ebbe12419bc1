package apps_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// A key that was right is not delayed by the wrong ones of others. Once it is revoked, it counts as
// a wrong one, so that its holder can't ask without end.
func TestThreatRevokedKeyTriedWithoutEnd(t *testing.T) {
	h := newHome(t)
	n, err := h.AddApp(t.Context(), reads("reader", "semantic"))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(key serve.Secret) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/v1/self", nil)
		r.RemoteAddr = "192.0.2.1:1"
		r.Header.Set("Authorization", "Bearer "+string(key))
		w := httptest.NewRecorder()
		h.api.ServeHTTP(w, r)
		return w.Code
	}
	ask(n.Key)
	for range 20 {
		ask("lka_of-another")
	}
	for range 20 {
		if c := ask(n.Key); c != http.StatusOK {
			t.Fatalf("a right key: %d", c)
		}
	}
	if _, err := h.RevokeApp(t.Context(), "reader"); err != nil {
		t.Fatal(err)
	}
	last := 0
	for range 20 {
		last = ask(n.Key)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("a revoked key, the 20th time: %d", last)
	}
}
