package friend

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/friend"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// simulate makes a pendant that hears Amount notifications of silence, and as many again after each
// reboot, or the sound of a day. It sends all of it once it is connected.
func simulate(p carry.Play) link.Dialer {
	n := cmp.Or(p.Amount, 100)
	return link.NewSimulator(p.Reboot+1, func(i int) link.Device {
		frames := p.Sound(i)
		if len(p.Day) == 0 {
			frames = slices.Repeat([][]byte{lc3.Silence(frame.FrameSize)}, n*frame.Frames)
		}
		d := &worn{Simulated: link.NewSimulated(0, frame.SoundChar), heard: make(chan struct{}, 1)}
		go d.run(frames)
		return d
	})
}

// worn is one connection.
type worn struct {
	*link.Simulated
	heard chan struct{} // holds one element once somebody has subscribed
}

func (d *worn) run(frames [][]byte) {
	defer d.End()
	select {
	case <-d.heard:
	case <-d.Stop:
		return
	}
	for len(frames) > 0 {
		n := min(frame.Frames, len(frames))
		if !d.Say(frame.SoundChar, frame.Notification(frames[:n]...)) {
			return
		}
		frames = frames[n:]
	}
}

func (d *worn) Subscribe(ctx context.Context, char string) error {
	if err := d.Simulated.Subscribe(ctx, char); err != nil {
		return err
	}
	select {
	case d.heard <- struct{}{}:
	default:
	}
	return nil
}

func (d *worn) MTU() int { return 247 }

func (d *worn) Write(_ context.Context, char string, _ []byte) error {
	return fmt.Errorf("%w: %s", link.ErrAbsent, char)
}
