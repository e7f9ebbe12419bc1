package apps_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locket-dev/locket/node/serve"
)

var parameter = regexp.MustCompile(`\{\w+\}`)

// status calls a route with an empty body, and returns the answer's status and the
// kind of its problem.
func status(h http.Handler, e *serve.Endpoint, authorization string) (int, string) {
	r := httptest.NewRequest(e.Method, "http://localhost"+parameter.ReplaceAllString(e.Path, "0000"), strings.NewReader("{}"))
	r.RemoteAddr = "127.0.0.1:1" // wrong keys would be slowed from elsewhere
	r.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var p serve.Problem
	_ = json.Unmarshal(w.Body.Bytes(), &p) // an answer that is not a problem has no type
	return w.Code, strings.TrimPrefix(p.Type, "urn:locket:problem:")
}

// Each route names a right. An app with all rights that can be given reaches none
// of the owner's routes, one with a single right only the routes for that, and the
// metrics token only the metrics.
func TestRightsOfRoutes(t *testing.T) {
	h := newHome(t)
	const owner, metrics = "the token of the owner", "the token of metrics"
	api := serve.New(serve.Options{Services: h.node.Services(), Token: owner, MetricsToken: metrics, Registry: prometheus.NewRegistry()})
	keys := map[serve.Right]string{}
	for _, right := range append(serve.Rights[:], "all") {
		r := serve.AppRequest{Name: string(right), Can: []serve.Right{right}, Types: []string{"semantic"}, Requests: 10_000}
		if right == "all" {
			r.Can = serve.Rights[:]
		}
		if right == serve.RightShare { // for what it reads
			r.Can = []serve.Right{serve.RightRead, serve.RightShare}
		}
		if slices.Contains(r.Can, serve.RightBuy) {
			r.Buying = budget()
		}
		n, err := h.AddApp(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		keys[right] = "Bearer " + string(n.Key)
	}
	given := append(serve.Rights[:], serve.RightOwner, serve.RightCommand, serve.RightApp, serve.RightWrite, serve.RightMetrics, serve.RightAnyone)
	for _, e := range serve.Endpoints() {
		if !slices.Contains(given, e.Needs) {
			t.Errorf("%s needs right %q, which is none", e.ID, e.Needs)
		}
		for right, key := range keys {
			may := e.Needs == serve.RightApp || e.Needs == serve.RightAnyone || e.Needs == right || right == serve.RightShare && e.Needs == serve.RightRead || right == "all" && slices.Contains(serve.Rights[:], e.Needs) ||
				e.Needs == serve.RightWrite && (right == "all" || right == serve.RightAdd || right == serve.RightUpdate || right == serve.RightForget)
			if !may {
				if code, kind := status(api, &e, key); code != 403 || kind != "forbidden" {
					t.Errorf("%s for an app that may %s: %d %s", e.ID, right, code, kind)
				}
				continue
			}
			if e.ID == "context" {
				continue // what is being said is refused for its own reason; see TestHiddenMemoriesLookAbsent
			}
			if _, kind := status(api, &e, key); kind == "forbidden" || kind == "unauthorized" || kind == "app-key" {
				t.Errorf("%s for an app that may %s: %s", e.ID, right, kind)
			}
		}
		if e.Needs == serve.RightAnyone && e.Path == "/healthz" {
			continue
		}
		for _, wrong := range []string{"", "Bearer x", "Bearer lka_x", "Token lka_x"} {
			if code, _ := status(api, &e, wrong); code != 401 {
				t.Errorf("%s with %q: %d", e.ID, wrong, code)
			}
		}
		code, _ := status(api, &e, "Bearer "+metrics)
		if reads := e.Needs == serve.RightMetrics || e.Needs == serve.RightAnyone; reads != (code == 200) || !reads && code != 403 {
			t.Errorf("%s with the token of the metrics: %d", e.ID, code)
		}
	}
}
