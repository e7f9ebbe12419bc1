package omi_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// A pendant's storage, as ring and as file, over a link that loses packets and breaks: what the
// device deletes is in the node, once, and with its time.
func TestSimulatedStorage(t *testing.T) {
	for _, c := range []struct {
		name   string
		legacy bool
		loss   float64
	}{{"ring", false, 0}, {"ring over a bad link", false, .02}, {"file", true, 0}, {"file over a bad link", true, .005}} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			n := carrytest.NewNode(t)
			p := omi.NewPendant(carry.Play{Amount: 150, Reboot: 2})
			p.Legacy = c.legacy
			all := p.Records()
			heard := func() map[string]int {
				seen := map[string]int{}
				for _, e := range n.Disk.OfKind(memory.KindAudio) {
					list, err := wire.Packets(e.Data)
					if err != nil {
						t.Error(err)
					}
					for _, f := range list {
						seen[string(f)]++
					}
				}
				return seen
			}
			var mu sync.Mutex
			var early []string
			p.OnDeleted = func(records [][]byte) {
				seen := heard()
				mu.Lock()
				defer mu.Unlock()
				for _, r := range records {
					for _, f := range frame.LegacyFrames(r[4:]) {
						if seen[string(f)] != 1 {
							early = append(early, fmt.Sprintf("%x was given up and is there %d times", f, seen[string(f)]))
						}
					}
				}
			}
			b := n.Bridge(t, carrytest.StatePath(t), omi.Family, &link.Faulty{Dialer: p, Loss: c.loss, Rand: rand.New(rand.NewPCG(3, 4))})
			b.Cfg.Options.Storage = true
			rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
			if err != nil || rep.Refused+rep.Dropped+rep.Waiting > 0 || rep.Connections < 3 {
				t.Errorf("%+v, %v", rep, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, e := range early {
				t.Error(e)
			}
			if len(p.Records()) != 0 {
				t.Errorf("%d records are left", len(p.Records()))
			}
			if got := len(heard()); got != 5*len(all) {
				t.Errorf("%d frames of %d", got, 5*len(all))
			}
			for _, e := range n.Disk.OfKind(memory.KindAudio) {
				list, _ := wire.Packets(e.Data)
				i := int64(list[0][9])<<8 | int64(list[0][10])
				want := time.Duration(150-i/10) * 100 * time.Millisecond // distance to the end
				if off := time.Since(e.At) - want; off < -2*time.Second || off > time.Since(began)+2*time.Second {
					t.Errorf("record %d is %s old", i/10, time.Since(e.At))
				}
			}
		})
	}
}

// While the node takes nothing, a file is not read on. Its rest stays in the pendant and is fetched
// later, and the session still hears what it is told.
func TestFileWaitsWhileTheNodeIsAway(t *testing.T) {
	n := carrytest.NewNode(t)
	p := omi.NewPendant(carry.Play{Amount: 5000})
	p.Legacy = true
	goOn := n.Disk.Stop(t)
	b := n.Bridge(t, carrytest.StatePath(t), omi.Family, p)
	b.Cfg.Options.Storage = true
	var first sync.Once
	p.Sent = func() {
		first.Do(func() {
			if waits := b.Cfg.Client.Pending(); waits > carry.Window/2+100 {
				t.Errorf("%d messages wait for the node", waits)
			}
			goOn()
		})
	}
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	if err != nil || rep.Records != 5000 || rep.Waiting+rep.Refused+rep.Dropped != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
}
