package node

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/replica"
)

// eachBlob calls do with the file of each photo that a relay keeps.
func (w *world) eachBlob(do func(path string) error) {
	w.t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(w.dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		n++
		return do(path)
	})
	if err != nil || n == 0 {
		w.t.Fatalf("%d blobs, %v", n, err)
	}
}

// lose has the relay forget every photo.
func (w *world) lose() {
	w.t.Helper()
	w.eachBlob(func(path string) error {
		var space memory.SpaceID
		if err := space.UnmarshalText([]byte(filepath.Base(filepath.Dir(path)))); err != nil {
			return err
		}
		id, err := relay.ParseBlobID(filepath.Base(path))
		if err != nil {
			return err
		}
		return w.kept.DeleteBlob(w.t.Context(), space, id, nil)
	})
}

// spoil makes the relay believe that it has every photo, while its disk has other bytes.
func (w *world) spoil() {
	w.t.Helper()
	w.eachBlob(func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.Repeat([]byte{1}, len(b)), 0o600)
	})
}

// deny returns the address of a proxy in front of the relay that claims of each blob to
// have it, and returns none.
func (w *world) deny() string {
	to, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	// The relay answers for the names of this machine, so Host may stay that of the proxy.
	honest := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }, FlushInterval: -1}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/blobs/") {
			honest.ServeHTTP(rw, r)
			return
		}
		switch _, size, _ := strings.Cut(r.Header.Get("Content-Range"), "/"); r.Method {
		case http.MethodPut:
			rw.Header().Set("Upload-Offset", size)
			rw.Header().Set("Upload-Length", size)
			rw.WriteHeader(http.StatusCreated)
		case http.MethodDelete:
			rw.WriteHeader(http.StatusNoContent)
		default:
			rw.Header().Set("Locket-Problem", "not-found")
			rw.WriteHeader(http.StatusNotFound)
		}
	}))
	w.t.Cleanup(srv.Close)
	return srv.URL
}

// photos returns the files in which a home has photos of 400,000 bytes of plain text.
func photos(t *testing.T, cfg config.Config) (paths []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cfg.Home, "store", "blobs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if info, err := os.Stat(path); err != nil {
			t.Fatal(err)
		} else if info.Size() >= 400_000 {
			paths = append(paths, path)
		}
	}
	return paths
}

// cooled has a node turn its photos cold, and returns how many stay, and why.
func cooled(t *testing.T, n *Node, cfg config.Config) (int, error) {
	t.Helper()
	old := time.Now().Add(-25 * time.Hour)
	for _, path := range photos(t, cfg) {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	_, err := n.MoveTiers(t.Context(), serve.MoveRequest{Cool: true})
	return len(photos(t, cfg)), err
}

// twoRelays returns a home with two photos, which were sent to two relays.
func twoRelays(t *testing.T, old *world, at string) (n *Node, cfg config.Config, phrase string, ids []memory.ID) {
	t.Helper()
	cfg = old.settings("one")
	phrase, err := Init(cfg, InitOptions{KeyFile: true})
	if err != nil {
		t.Fatal(err)
	}
	n = old.open(cfg, -72*time.Hour)
	old.sync(n)
	if list, err := n.AddRelay(t.Context(), at); err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, of := range []string{"plum", "pear"} {
		ids = append(ids, photograph(t, n, strings.Repeat(of, 100_000)))
	}
	for range 2 {
		old.sync(n)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Hot.Bytes = 300_000
	return old.open(cfg, 0), cfg, phrase, ids
}

func hasPhoto(t *testing.T, n *Node, id memory.ID, of string) error {
	t.Helper()
	m, err := n.Media(t.Context(), id)
	if err != nil {
		return err
	}
	defer m.Body.Close()
	var got bytes.Buffer
	if _, err := got.ReadFrom(m.Body); err != nil {
		return err
	}
	if got.String() != strings.Repeat(of, 100_000) {
		t.Errorf("%s: %d other bytes", id, got.Len())
	}
	return nil
}

// A device believes that two relays have its photos, but one of them has lost them, or has
// other bytes. The device drops its own copy only if the primary relay shows the photo. A
// device that moves to the other relay finds the photos there afterwards.
func TestPhotosLostByOneOfTwoRelays(t *testing.T) {
	faults := map[string]func(*world){"lost": (*world).lose, "spoilt": (*world).spoil}
	leave := map[string]func(*testing.T, *Node, string, string) error{
		"moved": func(t *testing.T, n *Node, from, to string) error {
			_, err := n.MoveRelay(t.Context(), to)
			if err == nil {
				_, err = n.RemoveRelay(t.Context(), from)
			}
			return err
		},
		"removed": func(t *testing.T, n *Node, from, _ string) error {
			_, err := n.RemoveRelay(t.Context(), from)
			return err
		},
	}
	for fault, spoil := range faults {
		for how, leave := range leave {
			t.Run("the mirror has "+fault+" them, and the primary is "+how, func(t *testing.T) {
				t.Parallel()
				old, mirror := newWorld(t), newWorld(t)
				n, cfg, phrase, ids := twoRelays(t, old, mirror.url)
				if left, err := cooled(t, n, cfg); left != 0 || err != nil {
					t.Fatalf("%d photos stay: %v", left, err)
				}
				spoil(mirror)
				if err := leave(t, n, old.url, mirror.url); err != nil {
					t.Fatal(err)
				}
				old.down()
				two := mirror.settings("two")
				if _, err := Recover(t.Context(), two, JoinOptions{InitOptions: InitOptions{KeyFile: true}, Relay: mirror.url}, phrase); err != nil {
					t.Fatal(err)
				}
				b := mirror.open(two, 0)
				mirror.sync(b)
				for i, of := range []string{"plum", "pear"} {
					if err := errors.Join(hasPhoto(t, b, ids[i], of), hasPhoto(t, n, ids[i], of)); err != nil {
						t.Error(of, err)
					}
				}
			})
		}
		t.Run("the primary has "+fault+" them", func(t *testing.T) {
			t.Parallel()
			old, mirror := newWorld(t), newWorld(t)
			n, cfg, _, ids := twoRelays(t, old, mirror.url)
			spoil(old)
			left, err := cooled(t, n, cfg)
			if fault == "lost" && (left != 0 || err != nil) { // it was sent again
				t.Errorf("%d photos stay: %v", left, err)
			}
			if fault == "spoilt" && (left != 2 || !errors.Is(err, replica.ErrBlob)) {
				t.Errorf("%d photos stay, and what is wrong is not said: %v", left, err)
			}
			mirror.down()
			for i, of := range []string{"plum", "pear"} {
				if err := hasPhoto(t, n, ids[i], of); err != nil {
					t.Error(of, err)
				}
			}
		})
	}
}

// A mirror that claims of each photo to have it, but returns none, is not moved to, and the
// photos can be had from the device and from the primary.
func TestThreatMirrorThatOnlySaysSo(t *testing.T) {
	t.Parallel()
	old, mirror := newWorld(t), newWorld(t)
	at := mirror.deny()
	n, cfg, _, ids := twoRelays(t, old, at)
	if left, err := cooled(t, n, cfg); left != 0 || err != nil {
		t.Fatalf("%d photos stay: %v", left, err)
	}
	if _, err := n.MoveRelay(t.Context(), at); !errors.Is(err, serve.ErrRelay) {
		t.Errorf("moved to a relay that shows nothing: %v", err)
	}
	if _, err := n.RemoveRelay(t.Context(), old.url); !errors.Is(err, serve.ErrRelay) {
		t.Errorf("left the relay that has the photos: %v", err)
	}
	list, err := n.Relays(t.Context())
	if err != nil || !slices.ContainsFunc(list, func(r serve.Relay) bool { return r.URL == old.url && r.Kind == serve.RelayPrimary }) {
		t.Errorf("%+v, %v", list, err)
	}
	for i, of := range []string{"plum", "pear"} {
		if err := hasPhoto(t, n, ids[i], of); err != nil {
			t.Error(of, err)
		}
	}
}
