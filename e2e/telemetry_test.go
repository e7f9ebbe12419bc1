package e2e

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/collector"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// A collector learns what a node does and how long it takes, and nothing else: no sentence, no
// name, no id of the home, and not where the home and its relay are.
func TestTelemetryHasNoContent(t *testing.T) {
	to, r := collector.New(t), newRelay(t)
	h := newHome(t, "--set", "telemetry.url="+to.URL, "--set", "telemetry.every=1s", "--set", "sync.relay="+r.url)
	h.must("engine", "add", "ears", "pocketsphinx")
	d := h.start()
	c := h.addDevice("graces-pendant")
	w := wearable(t, c.Broker, "graces-pendant", c.Password)
	heard, err := w.Publish(t.Context(), &wire.Audio{Header: wire.Header{At: time.Now().Add(-time.Hour)}, Codec: "wav", Data: audio.Speech(), Last: true})
	if err == nil {
		err = heard.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	h.must("replay", "../testdata/short.txt")
	h.must("add", "--speaker", "Ana", "The Wi-Fi password is maple-TREE-9921.")
	h.eventually("the words", func(s string) bool { return strings.Contains(s, "country") }, "search", "what your country can do for you")
	h.must("ask", "where does Ana live")
	h.must("context", "I am going home to Lisbon")
	h.must("sync")
	var listed []memory.Memory
	for line := range strings.Lines(h.must("--json", "list")) {
		var m memory.Memory
		mustParse(t, line, &m)
		listed = append(listed, m)
	}
	h.must("why", listed[0].ID.String())
	book := h.must("export")
	until(t, "metrics", func() bool {
		return to.Metric("locket_memories") != nil && to.Metric("locket_plugin_calls_total") != nil
	})
	if err := d.stop(t); err != nil { // this sends the rest
		t.Fatal(err)
	}

	var names []string
	for _, s := range to.Spans() {
		names = append(names, s.Name)
	}
	for _, want := range []string{"recall", "commit", "extract", "sync", "engine", "POST /v1/search", "GET /v1/memories/{id}/why", "POST /v1/context"} {
		if !slices.Contains(names, want) {
			t.Errorf("no span %q in %q", want, slices.Compact(slices.Sorted(slices.Values(names))))
		}
	}
	if got := to.Metric("locket_api_request_seconds").GetHistogram().GetDataPoints(); len(got) == 0 {
		t.Error("no histogram of requests")
	}
	host, _ := os.Hostname()
	secrets := []string{"Ana", "Lisbon", "maple", "graces-pendant", "pocketsphinx", h.dir, strings.TrimPrefix(r.url, "http://"), c.Password}
	if len(host) > 6 {
		secrets = append(secrets, host)
	}
	sentences := 0
	for line := range strings.Lines(book) {
		var v any
		mustParse(t, line, &v)
		each(v, func(s string) {
			var id memory.ID
			if words := len(strings.Fields(s)); words > 2 || id.UnmarshalText([]byte(s)) == nil {
				secrets = append(secrets, s)
				sentences++
			}
		})
	}
	if sentences < 40 || !strings.Contains(strings.Join(secrets, "\n"), "country") {
		t.Fatalf("%d sentences and ids are looked for: the home has more", sentences)
	}
	told := to.Raw()
	for _, s := range secrets {
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(told, s) || strings.Contains(told, strings.Trim(string(quoted), `"`)) {
			t.Errorf("the collector was told %q", s)
		}
	}
}

// each calls f with each string in a JSON value.
func each(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, one := range v {
			each(one, f)
		}
	case map[string]any:
		for _, one := range v {
			each(one, f)
		}
	}
}
