//go:build !386 && !arm

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// started runs the command until the test ends, and returns its address.
func started(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan int, 1)
	var errs strings.Builder
	go func() {
		done <- run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), w, &errs)
		w.Close()
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("exit %d: %s", code, errs.String())
		}
	})
	for sc := bufio.NewScanner(r); sc.Scan(); {
		if url, ok := strings.CutPrefix(sc.Text(), "Listening on "); ok {
			go io.Copy(io.Discard, r)
			return url
		}
	}
	t.Fatalf("it does not listen: %s", errs.String())
	return ""
}

// The node's own client gets vectors and scores from weights that the test made.
func TestServe(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("k-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := started(t, "--embed", folder(t, "tiny", embedder()), "--rerank", folder(t, "judge", judge()), "--key-file", key)
	v, err := llm.NewVectors(llm.VectorsConfig{URL: url, RerankURL: url, RerankModel: "judge", Key: "k-1"})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"Ann likes tea", "The bike is blue", "Rain in Ghent", "tea likes Ann " + strings.Repeat("and much that nobody knows ", 400)}
	got, err := v.Embed(t.Context(), "tiny", texts)
	if err != nil || len(got) != 4 || len(got[0]) != dim {
		t.Fatalf("%d vectors, %v", len(got), err)
	}
	ask, err := v.Embed(t.Context(), "tiny", []string{"what colour is the bike"})
	if err != nil {
		t.Fatal(err)
	}
	if dot(ask[0], got[1]) <= dot(ask[0], got[0]) || dot(ask[0], got[1]) <= dot(ask[0], got[2]) || dot(got[0], got[0]) < .99 {
		t.Errorf("the nearest is another: %v", got)
	}
	scores, err := v.Rerank(t.Context(), "what colour is the bike", texts[:3])
	if err != nil || scores[1] <= scores[0] || scores[1] <= scores[2] {
		t.Errorf("scores %v, %v", scores, err)
	}
	for _, f := range []func() error{
		func() error { _, err := v.Embed(t.Context(), "another", texts); return err },
		func() error { _, err := v.Embed(t.Context(), "tiny", []string{" "}); return err },
		func() error { _, err := v.Rerank(t.Context(), "", texts); return err },
		func() error {
			_, err := v.Embed(t.Context(), "tiny", []string{strings.Repeat("x", maxBody)})
			return err
		},
		func() error {
			wrong, _ := llm.NewVectors(llm.VectorsConfig{URL: url, Key: "k-2"})
			_, err := wrong.Embed(t.Context(), "tiny", texts)
			return err
		},
	} {
		if _, ok := errors.AsType[*llm.Fault](f()); !ok {
			t.Error("something wrong is taken")
		}
	}
	res, err := http.Post(url+"/embeddings", "application/json", strings.NewReader("{"))
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %v, %v", res, err)
	}
}

func dot(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// Through the index: the reranker sorts the first hundred. If it is late, the answer comes without
// it and says so.
func TestRerankFirstHundred(t *testing.T) {
	url := started(t, "--rerank", folder(t, "judge", judge()))
	v, err := llm.NewVectors(llm.VectorsConfig{RerankURL: url})
	if err != nil {
		t.Fatal(err)
	}
	x, err := recall.Open(t.Context(), shelf{}, recall.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	texts := map[memory.ID]string{}
	for i := range 120 {
		id := memory.ID{1, byte(i)}
		texts[id] = fmt.Sprintf("Rain in Ghent number %d", i)
		if i == 77 {
			texts[id] = "Rain in Ghent, rain in Ghent"
		}
		if err := x.Add(recall.Doc{ID: id, Kind: recall.Utterance, Text: texts[id], Session: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	q := recall.Query{Text: "rain in Ghent", K: 100, Models: recall.Models{Reranker: v, Within: 1 << 36,
		Texts: func(_ context.Context, hits []recall.Hit) ([]string, error) {
			out := make([]string, len(hits))
			for i := range hits {
				out[i] = texts[hits[i].ID]
			}
			if len(out) != recall.DefaultFirst {
				t.Errorf("%d texts are judged", len(out))
			}
			return out, nil
		}}}
	res, err := x.Search(t.Context(), q)
	if err != nil || len(res.Skipped) > 0 || len(res.Hits) != 100 || res.Hits[0].ID != (memory.ID{1, 77}) {
		t.Fatalf("first %v of %d, skipped %v, %v", res.Hits[0].ID, len(res.Hits), res.Skipped, err)
	}
	q.Models.Within = 1 // ns
	if res, err = x.Search(t.Context(), q); err != nil || len(res.Hits) != 100 || len(res.Skipped) != 1 || res.Skipped[0].Reason != recall.SkippedLate {
		t.Fatalf("late: %d hits, %v, %v", len(res.Hits), res.Skipped, err)
	}
}

// shelf keeps no segments.
type shelf struct{}

func (shelf) Put(context.Context, string, []byte) error { return nil }
func (shelf) Get(context.Context, string) ([]byte, error) {
	return nil, memory.ErrNotFound
}
func (shelf) List(context.Context) ([]string, error) { return nil, nil }
func (shelf) Delete(context.Context, string) error   { return nil }

func TestWrongFolders(t *testing.T) {
	noTokens := folder(t, "x", embedder())
	if err := os.Remove(filepath.Join(noTokens, "tokenizer.json")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"serve", "--embed", t.TempDir()}, {"serve", "--embed", noTokens}, {"serve", "--embed", folder(t, "y", message("no onnx"))},
		{"serve", "--rerank", folder(t, "z", embedder())}, // of another shape
		{"serve", "--embed", "missing"}, {"serve", "--embed", folder(t, "w", embedder()), "--key-file", "missing"},
	} {
		var errs strings.Builder
		if code := run(t.Context(), append(args, "--listen", "127.0.0.1:0"), io.Discard, &errs); code != 1 || errs.Len() == 0 {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
	}
	for args, want := range map[string]int{"": 2, "help": 0, "serve": 2, "serve --nope": 2, "serve -h": 0} {
		if code := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); code != want {
			t.Errorf("%q: exit %d", args, code)
		}
	}
}
