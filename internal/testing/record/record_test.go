package record_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/internal/testing/record"
)

func client(t *testing.T, url, model string, p *record.Player) *llm.Client {
	t.Helper()
	c, err := llm.New(llm.Config{URL: url, Model: model, Key: "sk-secret", Tries: 1, Transport: p})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Recorded answers are repeated without a server, and there are no others.
func TestRecordedAndPlayed(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Key: "sk-secret"})
	s.Otherwise(llmtest.Say("the answer"))
	dir := t.TempDir()
	ask := func(c *llm.Client, what string) (string, error) {
		a, err := c.Ask(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: what}}})
		return a.Text, err
	}
	if _, err := ask(client(t, s.URL, s.Model(), &record.Player{Dir: dir, Next: http.DefaultTransport, Model: "a counterpart"}), "one"); err != nil {
		t.Fatal(err)
	}
	s.Otherwise(llmtest.Say("another"))
	play := client(t, s.URL, s.Model(), &record.Player{Dir: dir})
	if got, err := ask(play, "one"); err != nil || got != "the answer" {
		t.Fatalf("%q, %v", got, err)
	}
	_, err := ask(play, "two")
	if err == nil || !strings.Contains(err.Error(), "no record of this request") || !strings.Contains(err.Error(), ".json") {
		t.Fatalf("what was never asked: %v", err)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("the server was asked %d times", n)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil || strings.Contains(string(b), "sk-secret") {
		t.Errorf("the key is in the record, %v", err)
	}
	// A record under the name of another request is not used.
	changed := strings.Replace(string(b), `"one"`, `"three"`, 1)
	if changed == string(b) {
		t.Fatal("the request is not in its record")
	}
	if err := os.WriteFile(files[0], []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(play, "one"); err == nil || !strings.Contains(err.Error(), "another request") {
		t.Errorf("a record that was changed: %v", err)
	}
}

func TestFailuresAreNotRecorded(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{Key: "sk-secret"})
	s.Otherwise(llmtest.Fails(500, "", "no"))
	dir := t.TempDir()
	c := client(t, s.URL, s.Model(), &record.Player{Dir: dir, Next: http.DefaultTransport})
	if _, err := c.Ask(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "x"}}}); err == nil {
		t.Fatal("no error")
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
		t.Errorf("kept: %v", files)
	}
}

func TestKeyDependsOnTheRequest(t *testing.T) {
	key := func(method, path, body string) string {
		k, err := record.Key(method, path, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	one := key("POST", "/v1/chat/completions", `{"a":1,"b":[2.50,"x"]}`)
	if key("POST", "/v1/chat/completions", "{ \"b\": [2.50, \"x\"],\n \"a\": 1 }") != one {
		t.Error("the order of members and space make another request")
	}
	for _, other := range []string{key("POST", "/v1/embeddings", `{"a":1,"b":[2.50,"x"]}`), key("POST", "/v1/chat/completions", `{"a":2,"b":[2.50,"x"]}`), key("POST", "/v1/chat/completions", `{"a":1,"b":["x",2.50]}`)} {
		if other == one {
			t.Error("two requests have one key")
		}
	}
	if _, err := record.Key("POST", "/", []byte("no")); err == nil {
		t.Error("what is not JSON has a key")
	}
}
