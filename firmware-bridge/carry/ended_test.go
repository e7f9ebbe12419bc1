package carry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/files"
	"github.com/locket-dev/locket/firmware-bridge/carry/friend"
	"github.com/locket-dev/locket/firmware-bridge/carry/frigate"
	"github.com/locket-dev/locket/firmware-bridge/carry/g1"
	"github.com/locket-dev/locket/firmware-bridge/carry/halo"
	"github.com/locket-dev/locket/firmware-bridge/carry/limitless"
	"github.com/locket-dev/locket/firmware-bridge/carry/omi"
	"github.com/locket-dev/locket/firmware-bridge/carry/owntracks"
	"github.com/locket-dev/locket/firmware-bridge/carry/screen"
	"github.com/locket-dev/locket/firmware-bridge/carry/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/carry/xiaozhi"
	"github.com/locket-dev/locket/memory"
)

// After a kill, the wearer's day shows missing sound if the family has sound. For a folder, a
// screen, places or cameras it shows nothing.
func TestGapAfterAKill(t *testing.T) {
	t.Parallel()
	for want, list := range [][]carry.Family{
		{files.Family, screen.Family, owntracks.Family, frigate.Family},
		{omi.Family, friend.Family, limitless.Family, brilliant.Family, halo.Family, g1.Family, xiaozhi.Family, wyoming.Family},
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
				told := strings.Join(b.Notes("warning"), "\n")
				if gaps := n.Disk.OfKind(memory.KindGap); len(gaps) != want || !strings.Contains(told, "ended before it could report") || strings.Contains(told, "sound") != (want == 1) {
					t.Errorf("%+v, want %d; a person is told %q", gaps, want, told)
				}
			})
		}
	}
}

// If a bridge ends before it could report how the last one ended, the next one reports it.
func TestGapAfterTwoKills(t *testing.T) {
	t.Parallel()
	n, path := carrytest.NewNode(t), carrytest.StatePath(t)
	b := n.Bridge(t, path, limitless.Family, over{})
	if err := errors.Join(b.Cfg.State.Keep("runs", true), b.Cfg.State.Keep("owed", []map[string]any{ // as a kill leaves it
		{"boot": 7, "seq": 12, "at": "2026-03-14T12:00:00Z", "reason": "audio packets lost"}}), b.Cfg.Client.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := carry.Run(carrytest.Deadline(t), b.Cfg); err == nil {
		t.Fatal("it told by a client that is closed")
	}
	b = n.Bridge(t, path, limitless.Family, over{})
	if rep, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil || rep.Waiting != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if gaps := n.Disk.OfKind(memory.KindGap); len(gaps) != 2 || !strings.Contains(gaps[1].Reason, "ended before it could report") {
		t.Errorf("%+v", gaps)
	}
}

// If the node had not acknowledged a gap when the bridge was killed, the next start sends it again,
// once.
func TestUnacknowledgedGapIsSentAgain(t *testing.T) {
	t.Parallel()
	n, path := carrytest.NewNode(t), carrytest.StatePath(t)
	b := n.Bridge(t, path, limitless.Family, over{})
	if err := errors.Join(b.Cfg.State.Keep("runs", true), b.Cfg.State.Keep("owed", []map[string]any{ // as two kills leave it
		{"boot": 7, "seq": 12, "at": "2026-03-14T12:00:00Z", "reason": "audio packets lost"}})); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if rep, err := carry.Run(carrytest.Deadline(t), b.Cfg); err != nil || rep.Waiting != 0 {
			t.Fatalf("%+v, %v", rep, err)
		}
		gaps := n.Disk.OfKind(memory.KindGap)
		if len(gaps) != 2 || gaps[0].ID.Boot != 7 || gaps[0].ID.Seq != 12 || gaps[0].Reason != "audio packets lost" || !strings.Contains(gaps[1].Reason, "ended before it could report") {
			t.Errorf("%+v", gaps)
		}
	}
	var left []any
	if err := b.Cfg.State.Part("owed", &left); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
