package carry_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/files"
	"github.com/locket-dev/locket/firmware-bridge/carry/frigate"
	"github.com/locket-dev/locket/firmware-bridge/carry/g1"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	"github.com/locket-dev/locket/firmware-bridge/carry/owntracks"
	"github.com/locket-dev/locket/firmware-bridge/carry/screen"
	"github.com/locket-dev/locket/firmware-bridge/carry/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
	"github.com/locket-dev/locket/memory"
)

// After a kill the wearer's day tells of missing sound where there was any to miss, and nothing of a folder, a
// screen, places or cameras.
func TestEndedBefore(t *testing.T) {
	t.Parallel()
	for want, list := range [][]carry.Family{
		{files.Family, screen.Family, owntracks.Family, frigate.Family},
		{omi.Family, limitless.Family, brilliant.Family, g1.Family, xiaozhi.Family, wyoming.Family},
	} {
		for _, family := range list {
			t.Run(family.Name, func(t *testing.T) {
				n, path := carrytest.NewNode(t), carrytest.StatePath(t)
				b := n.Bridge(t, path, family, over{})
				if err := b.Cfg.State.Keep("runs", true); err != nil { // as a kill leaves it
					t.Fatal(err)
				}
				if rep, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil || rep.Waiting != 0 {
					t.Fatalf("%+v, %v", rep, err)
				}
				told := strings.Join(b.Told("warning"), "\n")
				if gaps := n.Disk.Of(memory.KindGap); len(gaps) != want || !strings.Contains(told, "ended before it could tell") || strings.Contains(told, "sound") != (want == 1) {
					t.Errorf("%+v, want %d; a person is told %q", gaps, want, told)
				}
			})
		}
	}
}
