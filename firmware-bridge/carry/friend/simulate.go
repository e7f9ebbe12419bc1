package friend

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/friend"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// simulate makes a pendant that hears Amount notifications of silence, and as many again after each
// reboot; or the sound of a day. It says all of it when it is connected to.
func simulate(p carry.Play) link.Dialer { return &pendant{play: p, left: p.Reboot + 1} }

type pendant struct {
	play carry.Play

	mu   sync.Mutex
	left int // connections
}

// Connect is that of a Dialer.
func (p *pendant) Connect(ctx context.Context) (link.Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.left == 0 {
		return nil, io.EOF
	}
	p.left--
	var frames [][]byte
	for _, s := range p.play.Part(p.play.Reboot-p.left, p.play.Reboot+1) {
		frames = append(frames, s.Frames...)
	}
	if len(p.play.Day) == 0 {
		n := p.play.Amount
		if n <= 0 {
			n = 100
		}
		for range n * frame.Frames {
			frames = append(frames, lc3.Silence(frame.FrameSize))
		}
	}
	d := &worn{Simulated: link.NewSimulated(0, frame.SoundChar), heard: make(chan struct{}, 1)}
	go d.run(frames)
	return d, nil
}

// worn is one connection.
type worn struct {
	*link.Simulated
	heard chan struct{} // holds one: somebody subscribed
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
		select {
		case d.Out <- link.Notification{At: time.Now(), Char: frame.SoundChar, Data: frame.Notification(frames[:n]...)}:
		case <-d.Stop:
			return
		}
		frames = frames[n:]
	}
}

// Subscribe is that of a Device.
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

func (d *worn) Read(_ context.Context, char string) ([]byte, error) {
	return nil, fmt.Errorf("%w: %s", link.ErrAbsent, char)
}

func (d *worn) Write(_ context.Context, char string, _ []byte) error {
	return fmt.Errorf("%w: %s", link.ErrAbsent, char)
}
