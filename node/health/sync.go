package health

import (
	"context"
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// doctorSync reports the result of the last round of sync. It starts no round: if
// this process has not tried yet, nothing is known.
func (ch Checks) doctorSync(ctx context.Context, add adder) error {
	s, err := ch.sync.SyncStatus(ctx)
	if errors.Is(err, memory.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	failing, err := ch.failingRelays(ctx)
	if err != nil {
		return err
	}
	again := func(f *serve.Finding) { f.Remedy("locket sync --now", "syncNow", "") }
	if slices.ContainsFunc(failing, func(r serve.Relay) bool { return len(r.Trouble) > 0 }) { // another round does not fix a fork
		again = func(f *serve.Finding) { f.Remedy("locket relay list", "", "") }
	}
	for _, r := range failing {
		if r.Error != "" {
			again(add("sync", serve.LevelWarning, "see 'locket relay list'; it is tried again by itself while the daemon runs", "the last round with %s failed: %s", r.URL, r.Error))
		}
		for _, what := range r.Trouble {
			add("sync", serve.LevelWarning, "see 'locket relay list'", "%s: %s", r.URL, what).Remedy("locket relay list", "", "")
		}
	}
	switch {
	case s.Relay == "" && !s.Apart:
		return nil
	case s.Removed:
		add("sync", serve.LevelWarning, "it keeps what it has; to add it again, make a new home with 'locket pair --join'", "this device was removed from the space").Remedy("locket pair --join", "", "")
	case s.Error != "":
		again(add("sync", serve.LevelWarning, "see 'locket sync status'; it is tried again by itself while the daemon runs", "the last round failed: %s", s.Error))
	case s.Synced.IsZero():
		add("sync", serve.LevelOK, "", "nothing was exchanged yet: 'locket sync --now'")
	case len(failing) > 0: // reported already
	default:
		add("sync", serve.LevelOK, "", "the last successful round was at %s", s.Synced.UTC().Format("2006-01-02 15:04 MST"))
	}
	if k := len(s.Problems); k > 0 {
		add("sync", serve.LevelWarning, "see 'locket sync'", "%d items were set aside and not applied", k).Remedy("locket sync", "", "")
	}
	return nil
}

// failingRelays returns the remotes that fail. Devices in the same network come
// and go, and do not count.
func (ch Checks) failingRelays(ctx context.Context) ([]serve.Relay, error) {
	list, err := ch.sync.Relays(ctx)
	return slices.DeleteFunc(list, func(r serve.Relay) bool {
		return r.Kind == serve.RelayPeer || !r.Fails()
	}), err
}
