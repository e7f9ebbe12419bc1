package worker

import (
	"os"
	"path/filepath"
	"testing"
)

// A space that can't be opened stops no other space of the worker.
func TestBrokenSpaceStopsNoOther(t *testing.T) {
	relay := serveRelay(t)
	o, other := newOwner(t, relay), newOwner(t, relay)
	for _, file := range []string{identityFile, spaceFile} {
		home := joined(t, o, relay, granted)
		dirs, err := places(home)
		o.ok(err)
		o.ok(os.WriteFile(filepath.Join(dirs[0], file), []byte("damaged"), 0o600))
		c := Config{Home: home, Cache: cache, Engines: Engines{Speech: "none", Sight: "none"}}
		if w, err := Open(t.Context(), c); err == nil {
			t.Error(file, ": a worker without any space that can be opened", w.Close())
		}
		request, err := InviteKey(home)
		o.ok(err)
		_, err = Join(t.Context(), home, relay, other.let(request, granted))
		o.ok(err)
		w, err := Open(t.Context(), c)
		if err != nil {
			t.Error(file, ":", err)
			continue
		}
		if list := w.Spaces(); len(list) != 1 || list[0].Space != other.space {
			t.Errorf("%s: %+v", file, list)
		}
		o.ok(w.Close())
	}
}
