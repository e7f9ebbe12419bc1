package node

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

const otter = "水獺 水獭 [shui3 ta3] /otter/\n"

// A node finds with the words of its dictionary, compressed or not, even after a
// lock.
func TestRecallDictionary(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(otter)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{[]byte(otter), packed.Bytes(), nil} {
		n := newNode(t, func(c *config.Config) {
			if text == nil {
				return
			}
			c.Recall.Dictionary = filepath.Join(t.TempDir(), "words")
			if err := os.WriteFile(c.Recall.Dictionary, text, 0o600); err != nil {
				t.Fatal(err)
			}
		})
		ctx := t.Context()
		if _, err := n.Add(ctx, serve.AddRequest{Text: "我在河边看见了水獭", Keep: true}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			res, err := n.Search(ctx, serve.SearchRequest{Query: "otter"})
			if err != nil {
				t.Fatal(err)
			}
			if found := len(res.Hits) > 0; found != (text != nil) {
				t.Errorf("dictionary of %d bytes: %d hits", len(text), len(res.Hits))
			}
			if err := n.Lock(ctx); err != nil {
				t.Fatal(err)
			}
			if err := n.Unlock(ctx, passphrase); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestMalformedDictionary(t *testing.T) {
	for text, says := range map[string]string{"otter: 水獭\n": "line 1", "": "no entry", "\x1f\x8brubbish, and more": "gzip", otter + "x\n": "line 2"} {
		home := t.TempDir()
		path := filepath.Join(home, "words")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := config.Config{Home: home, Recall: config.Recall{Dictionary: path}}
		if _, err := Open(cfg, Options{}); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "recall.dictionary") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Open(config.Config{Home: t.TempDir(), Recall: config.Recall{Dictionary: "/nowhere"}}, Options{}); err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("a file that is not there: %v", err)
	}
}
