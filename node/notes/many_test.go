package notes_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/notes"
	"github.com/locket-dev/locket/node/serve"
)

func TestMain(m *testing.M) { nodetest.Main(m) }

// files returns the files of a folder, with a value that changes when one is written again.
func files(t *testing.T, root *os.Root) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out[name] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Of 10,000 notes, none is rewritten that has not changed: none where nothing is new, and
// where one memory is new, only its note and its day.
func TestManyNotes(t *testing.T) {
	const many, perDay = 10_000, 100
	node := serve.InProcess(serve.New(serve.Options{Services: nodetest.New(t, nodetest.Cheap).Services()}))
	t.Cleanup(node.Close)
	no, begin := false, time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
	add := func(from, to int) {
		t.Helper()
		for part := range slices.Chunk(slices.Collect(func(yield func(int) bool) {
			for i := from; i < to && yield(i); i++ {
			}
		}), serve.MaxBatch) {
			ops := make([]serve.Operation, len(part))
			for i, n := range part {
				ops[i].Add = &serve.AddRequest{Text: fmt.Sprintf("Boat number %d lies at pier %d", n, n%37), Infer: &no, At: begin.AddDate(0, 0, n/perDay)}
			}
			if res, err := node.Batch(t.Context(), ops); err != nil || res.Failed > 0 {
				t.Fatal(res.Failed, err)
			}
		}
	}
	add(0, many)
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	sync := func() notes.Report {
		t.Helper()
		rep, err := notes.Sync(t.Context(), root, node, notes.Options{Sensitivity: memory.Personal})
		if err != nil || len(rep.Failed) > 0 {
			t.Fatalf("%+v, %v", rep, err)
		}
		return rep
	}
	if rep := sync(); rep.Notes != many || rep.Written < many {
		t.Fatalf("%+v", rep)
	}
	first := files(t, root)
	if rep := sync(); rep.Changed() {
		t.Errorf("where nothing is new: %+v", rep)
	}
	changed := func(was map[string]string) (out []string) {
		for name, is := range files(t, root) {
			if is != was[name] {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	if got := changed(first); len(got) > 0 && !slices.Equal(got, []string{notes.StateFile}) {
		t.Errorf("where nothing is new, %d files are written again, such as %s", len(got), got[0])
	}
	second := files(t, root)
	add(many, many+1)
	sync()
	if got := changed(second); len(got) != 3 || got[0] != notes.StateFile || !strings.HasPrefix(got[1], "Days/") || !strings.Contains(got[2], "Boat number 10000 ") {
		t.Errorf("with one memory more, %d files are written: %.10q", len(got), got)
	}
}
