package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/statefile"
	"github.com/locket-dev/locket/node/zones"
)

// zonesFile has the private zones. A locked node obeys them, so the file is signed
// and not sealed: whoever has the disk can read where the zones are.
const zonesFile = "zones.json"

// private keeps intake from recording in the wearer's private zones, and tells the
// devices when one begins or ends.
type private struct {
	gate   *zones.Gate
	now    func() time.Time
	mu     sync.Mutex // guards the fields below
	zones  []zones.Zone
	signed bool           // this device has signed the file; otherwise a locked node takes nothing in
	intake *intake.Intake // nil: the node does not run
	timer  *time.Timer    // fires at the next full minute, because windows begin and end on one
}

// openZones reads the zones. A file that can't be read is an error, because
// without it the node would record private moments.
func (n *Node) openZones() error {
	p := &n.private
	p.now = n.now
	p.gate = zones.New(zones.Config{Zone: n.zone, Age: time.Duration(n.cfg.Zones.Age), AssumeEntered: n.cfg.Zones.Unknown == "drop"}, nil)
	return p.read(n.path(zonesFile), n.public.Public().Device)
}

func (p *private) read(path string, device ed25519.PublicKey) error {
	b, signed, err := statefile.Read(path, device)
	var list []zones.Zone
	if err == nil && len(b) > 0 {
		err = json.Unmarshal(b, &list)
	}
	for i := range list {
		err = errors.Join(err, list[i].Check())
	}
	if err != nil {
		return fmt.Errorf("private zones: %s: %w", path, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.zones, p.signed = list, signed
	p.gate.Set(list)
	return nil
}

// start starts to tell the devices about zones.
func (p *private) start(in *intake.Intake) {
	p.mu.Lock()
	p.intake = in
	p.mu.Unlock()
	p.schedule()
}

func (p *private) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.intake = nil
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *private) schedule() {
	p.notify()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.intake == nil {
		return
	}
	now := p.now()
	p.timer = time.AfterFunc(now.Truncate(time.Minute).Add(time.Minute).Sub(now), p.schedule)
}

// notify tells the devices whether the wearer is in a zone.
func (p *private) notify() {
	active := len(p.gate.Active(p.now())) > 0
	p.mu.Lock()
	in := p.intake
	p.mu.Unlock()
	if in != nil {
		in.SetPrivate(active)
	}
}

func (p *private) set(path string, list []zones.Zone, ring *keyring.Ring) error {
	b, err := json.MarshalIndent(serve.NonNil(list), "", "  ")
	if err != nil {
		return fmt.Errorf("private zones: %w", err)
	}
	if err := statefile.Write(path, b, ring); err != nil {
		return fmt.Errorf("private zones: %w", err)
	}
	p.zones, p.signed = list, true
	p.gate.Set(list)
	return nil
}

// Zones implements serve.Zoner.
func (n *Node) Zones(context.Context) ([]zones.Zone, error) {
	n.private.mu.Lock()
	defer n.private.mu.Unlock()
	return slices.Clone(n.private.zones), nil
}

// AddZone implements serve.Zoner.
func (n *Node) AddZone(_ context.Context, z zones.Zone) (zones.Zone, error) {
	if err := z.Check(); err != nil {
		return z, err
	}
	o, release, err := n.use()
	if err != nil {
		return z, err
	}
	defer release()
	p := &n.private
	p.mu.Lock()
	err = func() error {
		if len(p.zones) >= zones.MaxZones {
			return fmt.Errorf("%w: there are %d zones already, which is the most", serve.ErrConflict, len(p.zones))
		}
		if slices.ContainsFunc(p.zones, func(o zones.Zone) bool { return memory.Normal(o.Name) == memory.Normal(z.Name) }) {
			return fmt.Errorf("%w: there is a zone %q already", serve.ErrConflict, z.Name)
		}
		return p.set(n.path(zonesFile), append(slices.Clone(p.zones), z), o.ring)
	}()
	p.mu.Unlock()
	if err == nil {
		p.notify()
	}
	return z, err
}

// RemoveZone implements serve.Zoner.
func (n *Node) RemoveZone(_ context.Context, name string) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	p := &n.private
	p.mu.Lock()
	left := slices.DeleteFunc(slices.Clone(p.zones), func(o zones.Zone) bool { return memory.Normal(o.Name) == memory.Normal(name) })
	err = fmt.Errorf("zone %q: %w", name, memory.ErrNotFound)
	if len(left) < len(p.zones) {
		err = p.set(n.path(zonesFile), left, o.ring)
	}
	p.mu.Unlock()
	if err == nil {
		p.notify()
	}
	return err
}

// status returns the state of the zones. The caller holds the node's lock.
func (p *private) status() serve.PrivateStatus {
	s := serve.PrivateStatus{Active: serve.NonNil(p.gate.Active(p.now())), Dropped: map[string]uint64{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Zones = len(p.zones)
	if p.intake != nil {
		st := p.intake.Stats()
		s.Dropped = maps.Clone(st.Private)
		if st.Paused > 0 {
			s.Dropped["paused"] = st.Paused
		}
	}
	return s
}
