package node

import (
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/statefile"
	"github.com/locket-dev/locket/node/wearables"
)

// keys are the open keys, or nil if the node is locked. The caller holds the node's
// lock.
func (n *Node) keys() *keyring.Ring {
	if n.open == nil {
		return nil
	}
	return n.open.ring
}

// stateUncertain reports whether something else may have written a file that a locked node
// obeys. If so, no wearable may connect, and nothing is taken in until the home is
// opened.
func (n *Node) stateUncertain() bool {
	doubt := !n.devices.Signed()
	n.private.mu.Lock()
	defer n.private.mu.Unlock()
	return doubt || !n.private.signed || n.paused.isUncertain()
}

// reconcileState signs the state files when the home is opened. If something else
// changed one, intake pauses until the wearer ends the pause. The caller holds the
// node's lock.
func (n *Node) reconcileState(ring *keyring.Ring) error {
	changed := false
	settle := func(name string) error {
		other, err := statefile.EnsureSigned(n.path(name), ring)
		if other {
			n.log.Error("a file was changed while the node was locked; nothing is taken in: check the wearables and the zones, then resume", "file", n.path(name))
		}
		changed = changed || other
		return err
	}
	if err := settle(wearables.File); err != nil {
		return err
	}
	if err := settle(zonesFile); err != nil {
		return err
	}
	if !n.running || n.paused.isUncertain() {
		if err := settle(pauseFile); err != nil {
			return err
		}
		if _, err := n.paused.load(n.path(pauseFile), ring.Public().Device); err != nil {
			return err
		}
	}
	if err := n.devices.ReadAgain(); err != nil {
		return err
	}
	if err := n.private.read(n.path(zonesFile), ring.Public().Device); err != nil {
		return err
	}
	now := n.paused.current()
	if changed {
		now = serve.PauseState{Paused: true}
	}
	_, signed, err := statefile.Read(n.path(pauseFile), ring.Public().Device)
	if err != nil || changed || !signed { // it was set while the node was locked
		if err := n.paused.set(n.path(pauseFile), now, ring); err != nil {
			return err
		}
	}
	if n.running {
		n.intake.SetPaused(now.Paused)
	}
	return nil
}
