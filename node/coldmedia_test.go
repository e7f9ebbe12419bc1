package node

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// Photos that came days ago turn cold once they and the memories exceed the
// budget. They are then gone here, fetched again when they are requested,
// exported, and not lost if another one that was sent to the relay with them is
// forgotten.
func TestColdPhotos(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	one, two := w.settings("one"), w.settings("two")
	phrase, err := Init(one, InitOptions{KeyFile: true})
	if err != nil {
		t.Fatal(err)
	}
	a := w.open(one, -72*time.Hour)
	var ids []memory.ID
	pictures := map[memory.ID]string{}
	for _, of := range []string{"plum", "pear", "wren", "newt"} {
		id := photograph(t, a, strings.Repeat(of, 100_000))
		ids, pictures[id] = append(ids, id), strings.Repeat(of, 100_000)
	}
	if _, err := a.Pin(ctx, ids[0], true); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	one.Hot.Bytes = 500_000
	a = w.open(one, 0)
	files := func() []string {
		t.Helper()
		return photos(t, one)
	}
	cool := func() serve.Tiers {
		t.Helper()
		old := time.Now().Add(-25 * time.Hour)
		for _, path := range files() {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
		moved, err := a.MoveTiers(ctx, serve.MoveRequest{Cool: true})
		if err != nil || moved.Blocked != "" && moved.ColdMedia > 0 && !strings.Contains(moved.Blocked, "stay") {
			t.Fatalf("%+v, %v", moved, err)
		}
		return moved.Tiers
	}
	if s := cool(); s.ColdMedia != 0 || len(files()) != 4 {
		t.Errorf("not at the relay yet: %+v, %d files", s, len(files()))
	}
	w.sync(a)
	if s, err := a.Tiers(ctx); err != nil || s.ColdMedia != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	// The budget is checked again only after some time, so the node is
	// reopened.
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = w.open(one, 0)
	if s := cool(); s.ColdMedia != 3 || s.Media != 1 || s.MediaBytes != 400_000 || s.ColdMediaBytes < 1_200_000 || len(files()) != 1 {
		t.Fatalf("%+v, %d files", s, len(files()))
	}
	has := func(n *Node, id memory.ID) error {
		t.Helper()
		m, err := n.Media(ctx, id)
		if err != nil {
			return err
		}
		defer m.Body.Close()
		var got bytes.Buffer
		if _, err := got.ReadFrom(m.Body); err != nil {
			return err
		}
		if got.String() != pictures[id] {
			t.Errorf("%s: %d other bytes", id, got.Len())
		}
		return nil
	}
	if err := has(a, ids[1]); err != nil || len(files()) != 2 {
		t.Errorf("%d files, %v", len(files()), err)
	}

	exported := map[memory.ID]bool{}
	for r, err := range a.Export(ctx, serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == archive.KindBlob {
			for id := range pictures {
				exported[id] = exported[id] || bytes.Contains(r.Data, []byte(id.String()))
			}
		}
	}
	if len(exported) != 4 || !exported[ids[0]] || !exported[ids[1]] || !exported[ids[2]] || !exported[ids[3]] || len(files()) != 2 {
		t.Errorf("exported %v, %d files", exported, len(files()))
	}

	if err := a.Delete(ctx, ids[3]); err != nil { // it is cold, and in the same delta as the others
		t.Fatal(err)
	}
	for range 2 {
		w.sync(a)
	}
	if err := has(a, ids[2]); err != nil { // it is cold, and was sent once more
		t.Error(err)
	}
	if _, err := Recover(ctx, two, JoinOptions{InitOptions: InitOptions{KeyFile: true}, Relay: two.Sync.Relay}, phrase); err != nil {
		t.Fatal(err)
	}
	b := w.open(two, 0)
	w.sync(b)
	for _, id := range ids[:3] {
		if err := has(b, id); err != nil {
			t.Errorf("on another device: %s, %v", id, err)
		}
	}
	if err := has(b, ids[3]); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("forgotten: %v", err)
	}

	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = w.open(one, 0)
	if s := cool(); s.ColdMedia != 2 {
		t.Fatalf("%+v", s)
	}
	if s, err := a.MoveTiers(ctx, serve.MoveRequest{All: true}); err != nil || s.ColdMedia != 0 || len(files()) != 3 {
		t.Errorf("everything is fetched: %+v, %v, %d files", s, err, len(files()))
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = w.open(one, 0)
	cool()
	w.down()
	if err := has(a, ids[2]); !errors.Is(err, serve.ErrRelay) {
		t.Errorf("without the relay: %v", err)
	}
	last := error(nil)
	for _, err := range a.Export(ctx, serve.ExportOptions{}) {
		last = err
	}
	if !errors.Is(last, serve.ErrCold) {
		t.Errorf("exported without the relay: %v", last)
	}
}
