package e2e

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// A MIRIX vault goes to the vault, and its secrets are nowhere else. Importing it twice changes
// nothing.
func TestImportSecrets(t *testing.T) {
	h := newHome(t)
	file := filepath.Join(t.TempDir(), "mirix.json")
	items := []string{`{"id": "v1", "caption": "office Wi-Fi", "secret_value": "tulip-42-harbor"}`, `{"id": "v2", "caption": "Bank PIN", "secret_value": "48153"}`,
		`{"id": "v3", "caption": "GitHub API key (work)", "secret_value": "ghp_16C7e42F292c6912E7710c838347Ae178B4a"}`, `{"id": "v4", "caption": "e-mail", "secret_value": "Hj8!kL2#pQ"}`}
	text := `{"memories": {"semantic": {"items": [{"id": "s1", "name": "", "summary": "The kettle is blue"}]}, "knowledge_vault": {"items": [` + strings.Join(items, ", ") + `]}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := h.must("import", "--from", "mirix", "--dry-run", file); !strings.Contains(out, "office Wi-Fi: goes to the vault") || strings.Contains(out, "tulip-42") || strings.Contains(out, "48153") {
		t.Error(out)
	}
	if out := h.must("import", "--from", "mirix", file); !strings.Contains(out, "Added 5;") {
		t.Error(out)
	}
	for _, secret := range []string{"tulip-42-harbor", "48153", "ghp_16C7", "Hj8!kL2#pQ"} {
		for _, args := range [][]string{{"list", "--json"}, {"talk", "--since", "10d", "--json"}, {"export"}} {
			if shown := h.must(args...); strings.Contains(shown, secret) {
				t.Errorf("%s in what %v shows", secret, args)
			}
		}
	}
	if vault := h.must("vault", "--json"); strings.Count(vault, `"entry_type"`) != 4 || !strings.Contains(vault, "office Wi-Fi") {
		t.Error(vault)
	}
	if again := h.must("import", "--from", "mirix", file); !strings.Contains(again, "Added 0; 5 already there") {
		t.Error(again)
	}
}

// An import that ends after its first request leaves no readable secret, not even one that the
// extractors do not recognise.
func TestImportSecretsInterrupted(t *testing.T) {
	h := newHome(t)
	address := h.overTCP()
	h.start()
	file := filepath.Join(t.TempDir(), "mirix.json")
	text := `{"memories": {"knowledge_vault": {"items": [{"id": "v1", "caption": "bike lock", "secret_value": "forgotten"}, {"id": "v2", "caption": "office Wi-Fi", "secret_value": "tulip-42-harbor"}]}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	through := freeport.Addr(t)
	batches := 0
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	cut := &http.Server{Addr: through, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/memories/batch" {
			batches++
		} else if batches > 0 {
			panic(http.ErrAbortHandler)
		}
		pass.ServeHTTP(w, r)
	})}
	served := make(chan error, 1)
	go func() { served <- cut.ListenAndServe() }()
	defer func() {
		cut.Close()
		<-served
	}()
	_, errs, code := h.try("--set", "api.listen="+through, "import", "--from", "mirix", file)
	if code == 0 || batches != 1 || strings.Contains(errs, "forgotten") || !strings.Contains(errs, "bike lock") {
		t.Errorf("%d, %d batches: %s", code, batches, errs)
	}
	for _, args := range [][]string{{"list", "--json"}, {"talk", "--since", "10d", "--json"}, {"export"}} {
		if shown := h.must(args...); strings.Contains(shown, "forgotten") || strings.Contains(shown, "tulip-42") {
			t.Errorf("a secret in what %v shows", args)
		}
	}
	if vault := h.must("vault", "--json"); strings.Count(vault, `"entry_type"`) != 1 || !strings.Contains(vault, "office Wi-Fi") {
		t.Error(vault)
	}
}
