package meaning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
)

func id(n int) memory.ID { return memory.ID{0xd0, byte(n >> 8), byte(n), 0x77, 0x13} }

// shelf keeps segments in memory, and fails where it is told to.
type shelf struct {
	mu    sync.Mutex
	m     map[string][]byte
	fails int // after so many writes; 0: never
}

func (s *shelf) Put(_ context.Context, name string, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		if s.fails--; s.fails == 0 {
			return errors.New("the disk is full")
		}
	}
	s.m[name] = bytes.Clone(b)
	return nil
}

func (s *shelf) Get(_ context.Context, name string) ([]byte, error) {
	b, ok := s.m[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, memory.ErrNotFound)
	}
	return b, nil
}

func (s *shelf) List(context.Context) ([]string, error) { return slices.Sorted(maps.Keys(s.m)), nil }

func (s *shelf) Delete(_ context.Context, name string) error {
	delete(s.m, name)
	return nil
}

// house is a keeper, the shelf that it stores in, and the texts that exist.
type house struct {
	*Keeper
	t     *testing.T
	shelf *shelf
	texts map[memory.ID]string
	url   string
}

func newHouse(t *testing.T, models ...string) *house {
	s := llmtest.New(t, llmtest.Options{Models: models, Key: "key"})
	h := &house{t: t, shelf: &shelf{m: map[string][]byte{}}, texts: map[memory.ID]string{}, url: s.URL}
	for i, text := range []string{"Ann likes tea", "The bike is blue", "Rain all day in Ghent", "Tomatoes want water"} {
		h.texts[id(i)] = text
	}
	h.open(models[0])
	return h
}

func (h *house) open(model string) {
	h.t.Helper()
	v, err := llm.NewVectors(llm.VectorsConfig{URL: h.url, Key: "key"})
	if err != nil {
		h.t.Fatal(err)
	}
	texts := func(_ context.Context, ids []memory.ID) (map[memory.ID]string, error) {
		out := map[memory.ID]string{}
		for _, id := range ids {
			if t, ok := h.texts[id]; ok {
				out[id] = t
			}
		}
		return out, nil
	}
	h.Keeper, err = Open(h.t.Context(), Config{Model: model, Embedder: v, Segments: h.shelf, Texts: texts})
	if err != nil {
		h.t.Fatal(err)
	}
	h.Match(slices.Collect(maps.Keys(h.texts)))
}

func (h *house) work() {
	h.t.Helper()
	for more := true; more; {
		var err error
		if more, err = h.Step(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *house) nearest(text string) memory.ID {
	h.t.Helper()
	got, err := h.Nearest(h.t.Context(), text, 10)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(got) == 0 {
		return memory.ID{}
	}
	return got[0].ID
}

// What was embedded is found, kept, and available again without asking the
// model; what is gone is in no segment.
func TestKeeper(t *testing.T) {
	h := newHouse(t, "small")
	if got := h.nearest("tea"); !got.IsZero() {
		t.Errorf("%v before anything was embedded", got)
	}
	h.work()
	if got := h.nearest("likes tea"); got != id(0) {
		t.Errorf("nearest %v", got)
	}
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.open("small")
	if s := h.Status(); s.Waiting != 0 || s.Documents != 4 || s.Next != "" {
		t.Errorf("opened again: %+v", s)
	}
	if got := h.nearest("blue bike"); got != id(1) {
		t.Errorf("nearest %v", got)
	}
	h.texts[id(1)] = "The bike is green"
	delete(h.texts, id(0))
	h.OnChange([]memory.ID{id(1)}, []memory.ID{id(0)})
	if err := h.Flush(t.Context()); err != nil { // as a crash would leave it that came before the queue was processed
		t.Fatal(err)
	}
	for name, b := range h.shelf.m {
		for _, gone := range []memory.ID{id(0), id(1)} {
			if bytes.Contains(b, gone[:]) {
				t.Errorf("%s holds %v", name, gone)
			}
		}
	}
	h.open("small")
	if s := h.Status(); s.Waiting != 1 {
		t.Errorf("the changed one does not wait: %+v", s)
	}
	h.work()
	if got := h.nearest("green"); got != id(1) {
		t.Errorf("nearest %v", got)
	}
	delete(h.texts, id(2)) // gone between the index and here
	h.OnChange([]memory.ID{id(2)}, nil)
	h.work()
	if s := h.Status(); s.Documents != 2 {
		t.Errorf("%+v", s)
	}
}

// Another model's vectors are made while the old ones still answer; a crash in
// the middle loses only what was not flushed.
func TestAnotherModel(t *testing.T) {
	h := newHouse(t, "small", "large")
	for i := 10; i < 10+2*llm.MaxInputs; i++ {
		h.texts[id(i)] = fmt.Sprintf("line %d of many", i)
	}
	h.Match(slices.Collect(maps.Keys(h.texts)))
	h.work()
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.open("large")
	if s := h.Status(); s.Model != "small" || s.Next != "large" || s.Waiting != len(h.texts) {
		t.Fatalf("%+v", s)
	}
	if got := h.nearest("likes tea"); got != id(0) {
		t.Errorf("nearest meanwhile %v", got)
	}
	if _, err := h.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.open("large")
	if s := h.Status(); s.Model != "small" || s.Waiting != len(h.texts)-llm.MaxInputs {
		t.Fatalf("opened in the middle: %+v", s)
	}
	h.work()
	if s := h.Status(); s.Model != "large" || s.Next != "" || s.Documents != len(h.texts) {
		t.Fatalf("%+v", s)
	}
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := 0
	for name := range h.shelf.m {
		if name != manifestName && !strings.HasPrefix(name, h.cur.name+"/") {
			old++
		}
	}
	if old > 0 {
		t.Errorf("%d segments of the old model are kept", old)
	}
	h.open("large")
	if s := h.Status(); s.Model != "large" || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
}

// A failed flush is made up for by the next one.
func TestFullDisk(t *testing.T) {
	h := newHouse(t, "small")
	h.work()
	for h.shelf.fails = 1; ; {
		err := h.Flush(t.Context())
		if err == nil {
			break
		}
	}
	h.open("small")
	if s := h.Status(); s.Waiting != 0 || s.Documents != 4 {
		t.Errorf("%+v", s)
	}
	for name := range h.shelf.m { // what can't be read is made again
		if name != manifestName {
			h.shelf.m[name][20] ^= 1
		}
	}
	h.open("small")
	if s := h.Status(); s.Waiting != 4 {
		t.Errorf("after a damage: %+v", s)
	}
	h.work()
	if got := h.nearest("likes tea"); got != id(0) {
		t.Errorf("nearest %v", got)
	}
}

// strict refuses texts that contain a word, and is unavailable at times.
type strict struct {
	*llm.Vectors
	away bool
}

func (s *strict) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	if s.away {
		return nil, &llm.Fault{Kind: llm.Gone}
	}
	for _, t := range texts {
		if strings.Contains(t, "Ghent") {
			return nil, &llm.Fault{Kind: llm.Refused, Status: 400}
		}
	}
	return s.Vectors.Embed(ctx, model, texts)
}

func TestFaults(t *testing.T) {
	h := newHouse(t, "small")
	s := &strict{Vectors: h.cfg.Embedder.(*llm.Vectors), away: true}
	h.cfg.Embedder = s
	if more, err := h.Step(t.Context()); err == nil || !more || h.Status().Waiting != 4 {
		t.Fatalf("away: %v, %v, %+v", more, err, h.Status())
	}
	if got, err := h.Nearest(t.Context(), "tea", 3); err != nil || got != nil {
		t.Fatalf("nothing to compare with: %v, %v", got, err)
	}
	s.away = false
	h.work()
	if st := h.Status(); st.Documents != 3 || st.Refused != 1 || st.Waiting != 0 {
		t.Errorf("one text is refused: %+v", st)
	}
	s.away = true
	if _, err := h.Nearest(t.Context(), "tea", 3); err == nil {
		t.Error("no error where the model is away")
	}
}

// Run processes what arrives until it is told to stop.
func TestRun(t *testing.T) {
	h := newHouse(t, "small")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { h.Run(ctx); close(done) }()
	for h.Status().Documents < 4 {
		if t.Context().Err() != nil {
			t.Fatal("nothing is embedded")
		}
	}
	stop()
	<-done
}
