package node

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// doctorSync tells how the last round of sync went. It asks nobody: what a
// process has not tried, it does not know.
func (n *Node) doctorSync(ctx context.Context, add adder) error {
	s, err := n.SyncStatus(ctx)
	if errors.Is(err, memory.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case s.Relay == "" && !s.Apart:
		return nil
	case s.Removed:
		add("sync", serve.LevelWarning, "it keeps what it has; to have it back, make a new home by 'locket pair --join'", "this device was removed from the space")
	case s.Error != "":
		add("sync", serve.LevelWarning, "see 'locket sync status'; it is tried again by itself while the daemon runs", "the last round failed: %s", s.Error)
	case s.Synced.IsZero():
		add("sync", serve.LevelOK, "", "nothing was exchanged yet: 'locket sync --now'")
	default:
		add("sync", serve.LevelOK, "", "the last round that went well was at %s", s.Synced.UTC().Format("2006-01-02 15:04 MST"))
	}
	if k := len(s.Problems); k > 0 {
		add("sync", serve.LevelWarning, "see 'locket sync'", "%d times something was set aside, and not applied", k)
	}
	return nil
}
