package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// A busy daemon does not keep a shell waiting: after a while nothing is completed. The daemon in
// this test answers only the first request, or not even that.
func TestCompletionTimesOut(t *testing.T) {
	for _, first := range []bool{false, true} {
		var kept atomic.Int32 // requests that got no answer
		busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if first && r.URL.Path == "/healthz" {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"status":"ok"}`)
				return
			}
			kept.Add(1)
			<-r.Context().Done() // until the caller is gone
		}))
		defer busy.Close()
		cfg := config.Config{API: config.API{Listen: busy.Listener.Addr().String(), TokenFile: filepath.Join(t.TempDir(), "token")}}
		if _, err := serve.EnsureToken(cfg.API.TokenFile); err != nil {
			t.Fatal(err)
		}
		a, c := &App{Settings: &config.Loaded{Config: cfg}}, &cobra.Command{}
		c.SetContext(t.Context())
		got, how := a.completing(memoryIDs(""))(c, nil, "")
		if len(got) != 0 || how != cobra.ShellCompDirectiveNoFileComp || kept.Load() == 0 {
			t.Errorf("it answers first %v: %q, %d, of %d requests", first, got, how, kept.Load())
		}
	}
}
