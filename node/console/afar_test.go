package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Somebody who has stolen a key of the console can't make the node send requests to any
// address, which could reach into the node's network.
func TestThreatStrangeMarketFromElsewhere(t *testing.T) {
	f := newFar(t)
	asked := atomic.Bool{}
	strange := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer strange.Close()
	b, _ := f.open(f.key("laptop"))
	of := "?market=" + url.QueryEscape(strange.URL)
	for _, path := range []string{"/v1/market/offers" + of + "&q=diary", "/v1/market/offers/" + strings.Repeat("ab", 32) + of, "/v1/market/disputes" + of} {
		if res, text := b.ask("GET", path, "", nil); res.StatusCode != http.StatusForbidden || !strings.Contains(text, "dealt with") {
			t.Errorf("%s: %s %s", path, res.Status, text)
		}
	}
	if asked.Load() {
		t.Error("the node asked it")
	}
	b.want(http.StatusOK, "GET", "/v1/market/known"+of, nil) // this asks nobody
	if uses, err := f.owner().AppLog(t.Context(), "laptop", 0); err != nil || !slices.ContainsFunc(uses.Entries, func(u serve.AppUse) bool { return u.Refused != "" }) {
		t.Errorf("the account of the key has %+v, %v", uses, err)
	}
	// On the node's own machine the wearer may decide that.
	if _, err := f.node.Services().Shopper.Offers(t.Context(), serve.OfferQuery{Market: strange.URL}); !asked.Load() {
		t.Errorf("the wearer's own question did not go out: %v", err)
	}
}

// Something private can be made less private only on the node's own machine: rules, shares and
// apps would pass it on to others, who keep it.
func TestThreatLessPrivateFromElsewhere(t *testing.T) {
	f := newFar(t)
	private, no := memory.Private, false
	got, err := f.owner().Add(t.Context(), serve.AddRequest{Text: "The clinic is on Elm Street.", Infer: &no, Sensitivity: &private})
	if err != nil || len(got.Changes) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	id := got.Changes[0].Memory
	b, _ := f.open(f.key("laptop"))
	for _, r := range []struct{ method, path, body string }{
		{"PATCH", "/v1/memories/" + id.String(), `{"sensitivity": "public"}`},
		{"PATCH", "/v1/memories/" + id.String(), `{"tag": ["garden"]}`},
		{"PATCH", "/v1/memories/" + id.String(), `{"untag": ["home"]}`},
		{"POST", "/v1/memories", `{"text": "The clinic is on Elm Street.", "infer": false, "sensitivity": "public"}`},
		{"POST", "/v1/memories", `{"text": "The clinic is on Elm Street.", "infer": false, "tags": ["garden"]}`},
	} {
		if res, text := b.ask(r.method, r.path, r.body, nil); res.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %s %s", r.method, r.body, res.Status, text)
		}
	}
	if m, err := f.owner().Get(t.Context(), id.String()); err != nil || m.Sensitivity != memory.Private {
		t.Errorf("it is %v, %v", m.Sensitivity, err)
	}
	if res, text := b.ask("PATCH", "/v1/memories/"+id.String(), `{"text": "The clinic is on Oak Street."}`, nil); res.StatusCode != http.StatusOK {
		t.Errorf("a correction: %s %s", res.Status, text)
	}
}
