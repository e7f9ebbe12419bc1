package e2e

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// The dashboard matches Grafana's own types. Every metric in it is exported by a node or a relay.
func TestGrafanaDashboard(t *testing.T) {
	npm(t, "@grafana/schema/package.json")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "grafana.cjs", "../../docs/grafana.json")
	cmd.Dir = "clients"
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, problem := range lines[:len(lines)-1] {
		t.Error(problem)
	}
	var queries []string
	mustParse(t, lines[len(lines)-1], &queries)

	h := newHome(t)
	address := h.overTCP()
	r := newRelay(t, "--open", "--metrics", freeport.Addr(t))
	h.start()
	h.must("add", "--plain", "The kayak is yellow")
	if res, err := http.Get(r.url + "/healthz"); err != nil || res.Body.Close() != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(h.dir + "/metrics.token")
	if err != nil {
		t.Fatal(err)
	}
	given := scrape(t, "http://"+address+"/metrics", strings.TrimSpace(string(token))) + scrape(t, "http://"+r.flags[2]+"/metrics", "")
	named, seen := regexp.MustCompile(`\b(?:locket|go|process)_[a-z_]+`), []string{}
	for _, q := range queries {
		for _, name := range named.FindAllString(q, -1) {
			seen = append(seen, name)
			// A fault is only counted once there was one, and connections only if the relay uses
			// PostgreSQL: TestMetrics of locket-cloud covers these.
			if name == "locket_plugin_faults_total" || strings.HasPrefix(name, "locket_relay_database_") {
				continue
			}
			if !regexp.MustCompile(`(?m)^` + name + `[ {]`).MatchString(given) {
				t.Errorf("nobody gives %s, which %s asks for", name, q)
			}
		}
	}
	// Each of our metrics is on it.
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (locket_\S+)`).FindAllStringSubmatch(given, -1) {
		if name := m[1]; !slices.Contains(seen, name) && !slices.Contains(seen, name+"_bucket") && name != "locket_plugin_runs" {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

func scrape(t *testing.T, url, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(url, res.Status, err)
	}
	return string(b)
}
